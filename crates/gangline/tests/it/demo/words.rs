//! What people say to an agent that is no prompt, and what they hear when nothing begins.

use gangline_testkit::IrcPeer;

use super::{Demo, GUIDE};

fn is_notice(line: &str, to: &str, part: &str) -> bool {
    line.contains(&format!(" NOTICE {to} ")) && line.contains(part)
}

/// Waits until the guide runs a command, and returns what it does by its status.
fn runs(demo: &Demo) -> String {
    demo.world.eventually_seeing("the tool to run", || {
        let status = demo.run(&["status", GUIDE, "--json"]).json();
        let what = status["tool"]["what"].as_str().unwrap_or_default();
        if what.contains("sleep") {
            Ok(status["description"].as_str().unwrap().to_owned())
        } else {
            Err(status.to_string())
        }
    })
}

/// What waits is listed and taken back; every surface says the same about the open turn.
#[test]
fn what_waits_is_listed_and_cancelled_and_every_status_is_the_same() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    let mut boss = demo.owner("boss");
    let say = |peer: &mut IrcPeer, text: &str| peer.say("#general", &format!("@demo-guide {text}"));
    say(&mut alice, "run sleep 300");
    alice.hears(GUIDE, "#general", "wants to run");
    let _ = demo.run(&["approve", "1"]).ok();
    runs(&demo);
    say(&mut alice, "say exactly never one");
    say(&mut alice, "say exactly never two");
    alice.hears(GUIDE, "#general", "m3 waits, number 2 of 2 in the queue");
    say(&mut alice, "queue");
    alice.hears(GUIDE, "#general", "2. m3 from alice in #general");
    let description = runs(&demo);
    say(&mut alice, "status");
    let told = alice.hears(GUIDE, "#general", "alice: runs ");
    assert_eq!(told, format!("alice: {description}"));
    assert!(told.contains("sleep 300") && told.contains("2 messages wait"), "{told}");
    let status = demo.run(&["status", GUIDE]).ok();
    assert!(status.contains(&description), "{status}");
    let waits = "  waiting   m3 from alice: @demo-guide say exactly never two\n";
    assert!(status.contains(waits), "{status}");
    alice.say("#general", "cancel m3");
    alice.wait("the server's answer", |line| {
        is_notice(
            line,
            "alice",
            "`cancel m3` names no agent, so none got it. Say `@demo-guide cancel m3`",
        )
        .then_some(())
    });

    say(&mut alice, "cancel m2");
    alice.hears(GUIDE, "#general", "m2 is cancelled");
    let _ = demo.run(&["cancel", "m3"]).ok();
    alice.hears(GUIDE, "#general", "alice: the owner cancelled your message m3");
    let refused = demo.run(&["cancel", "m1"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("m1 is in an open turn"), "{}", refused.stderr);
    say(&mut boss, "stop");
    alice.hears(GUIDE, "#general", "a person stopped the turn");
    let settled = demo.run(&["cancel", "m3"]);
    assert!(settled.stderr.contains("it was cancelled already"), "{}", settled.stderr);
    say(&mut alice, "say exactly still here");
    alice.hears(GUIDE, "#general", "still here");
    assert!(!alice.lines().iter().any(|line| line.contains(":never ")));
}
