//! What people say to an agent that is no prompt, and what they hear when nothing begins.

use gangline_testkit::IrcPeer;

use super::{Demo, GUIDE};

fn is_notice(line: &str, to: &str, part: &str) -> bool {
    line.contains(&format!(" NOTICE {to} ")) && line.contains(part)
}

/// Waits until the guide runs a command, by every status.
fn runs(demo: &Demo) -> String {
    demo.world.eventually("the tool to run", || {
        let status = demo.run(&["status", GUIDE, "--json"]).json();
        (status["tool"]["what"].as_str()?.contains("sleep")).then_some(())?;
        Some(status["description"].as_str()?.to_owned())
    })
}

/// A room word is answered and costs no turn, a mistyped one is answered with the list, a wrong name
/// by the server, and a new member is told how to begin.
#[test]
fn words_near_misses_and_wrong_names_are_answered() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    let begun = alice.lines();
    assert!(begun.iter().any(|line| line.contains(" 372 ") && line.contains("@NICK help")));
    assert!(begun.iter().any(|line| line.contains(" 332 ") && line.contains("@NICK status")));
    alice.say("#general", "@demo-guide help");
    alice.hears(GUIDE, "#general", "stand down");
    alice.say("#general", "guide: stauts");
    alice.hears(GUIDE, "#general", "I do not know `stauts`; did you mean `@guide status`?");
    alice.say("#general", "@demo-guid hello");
    alice.wait("the server's answer", |line| {
        is_notice(line, "alice", "No agent is called `demo-guid`").then_some(())
    });
    alice.say("#general", "@nosuch hello");
    alice.wait("the server's answer", |line| {
        is_notice(line, "alice", "Nobody here is called `nosuch`").then_some(())
    });
    alice.send("HELP");
    alice.wait("HELP", |line| line.contains(" 706 ").then_some(()));
    alice.say("#general", "@demo-guide say exactly the first turn");
    alice.hears(GUIDE, "#general", "the first turn");
    let trace = demo.run(&["trace", "m1"]).ok();
    assert!(trace.contains("the first turn"), "nothing before it was a prompt: {trace}");
}

/// What waits is listed and taken back; every surface says the same about the open turn.
#[test]
fn what_waits_is_listed_and_cancelled_and_every_status_is_the_same() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    let mut boss = demo.owner("boss");
    let say = |peer: &mut IrcPeer, text: &str| peer.say("#general", &format!("@demo-guide {text}"));
    say(&mut alice, "run sleep 300");
    let number = demo.world.eventually("the approval", || {
        demo.run(&["approvals", "--json"]).json()[0]["number"].as_i64()
    });
    let _ = demo.run(&["approve", &number.to_string()]).ok();
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

/// A line to an agent that is paused is stored, and its author hears why nothing begins.
#[test]
fn a_line_to_a_paused_agent_is_told_why_it_waits() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    let mut boss = demo.owner("boss");
    boss.say("#general", "@demo-guide pause");
    boss.hears(GUIDE, "#general", "paused");
    alice.say("#general", "@demo-guide say exactly later");
    alice.hears(GUIDE, "#general", "alice: m1 is stored and waits: I am paused");
    boss.say("#general", "@demo-guide resume");
    alice.hears(GUIDE, "#general", "later");
}
