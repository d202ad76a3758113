//! What outlives a daemon, a hub and both, and what their end leaves.

use gangline_testkit::{eventually, irc};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{Demo, GUIDE};

/// The hub's death touches no daemon; the next hub adopts it (R1-03, R1-49).
#[test]
fn a_killed_hub_is_replaced_and_its_daemons_are_adopted() {
    let mut demo = Demo::start();
    let before = demo.world.processes_like(&format!("daemon {GUIDE}"));
    assert_eq!(before.len(), 1);
    demo.hub.kill();
    assert_eq!(demo.world.processes_like(&format!("daemon {GUIDE}")), before);
    demo.hub = demo.world.start_ready(&["demo"]);
    assert_eq!(demo.world.processes_like(&format!("daemon {GUIDE}")), before, "adopted");
    let mut alice = demo.member("alice");
    alice.say("#general", "@demo-guide say exactly back");
    alice.hears(GUIDE, "#general", "back");
}

/// F4: the daemon dies in the middle of a turn; the message is answered once, by its successor,
/// and so is what was said while nobody listened (R0-21, C18).
#[test]
fn a_daemon_killed_in_the_middle_of_a_turn_answers_after_its_restart() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    demo.at_work(&mut alice, "at last");
    demo.kill_guide();
    alice.say("#general", "@demo-guide say exactly while you were away");
    demo.model_goes_on();
    alice.hears(GUIDE, "#general", "at last");
    alice.hears(GUIDE, "#general", "while you were away");
    let trace = demo.run(&["trace", "m1"]).ok();
    assert!(trace.contains("lost") && trace.contains("answered"), "{trace}");
}

/// An approval outlives the daemon that asked: the successor asks again under the same number,
/// and a decision made meanwhile counts for the next attempt.
#[test]
fn an_approval_survives_the_death_of_its_daemon() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    let mut boss = demo.owner("boss");
    alice.say("#general", "@demo-guide run echo once-$((1+1))");
    assert_eq!(irc::approval(&alice.hears(GUIDE, "#general", "wants to run")), Some(1));
    demo.kill_guide();
    assert_eq!(
        irc::approval(&alice.hears(GUIDE, "#general", "wants to run")),
        Some(1),
        "same number"
    );
    boss.hears(GUIDE, "#general", "wants to run");
    boss.say("#general", "@demo-guide yes 1");
    alice.hears(GUIDE, "#general", "once-2");

    alice.say("#general", "@demo-guide run echo twice-$((2+2))");
    assert_eq!(irc::approval(&alice.hears(GUIDE, "#general", "wants to run")), Some(2));
    demo.kill_guide();
    let _ = demo.run(&["approve", "2"]).ok();
    alice.hears(GUIDE, "#general", "twice-4");
    // Whoever was asked in which life: the record says once who allowed it.
    for number in ["approval 1", "approval 2"] {
        let logs = demo.run(&["logs", "-n", "500"]).ok();
        let said = |line: &&str| line.contains(number) && line.contains("allowed by ");
        assert_eq!(logs.lines().filter(said).count(), 1, "{logs}");
    }
    for answer in ["once-2", "twice-4"] {
        let count = alice.lines().iter().filter(|line| line.contains(answer)).count();
        // The answer quotes the command and its output on lines of their own.
        assert_eq!(count, 1, "{answer}");
    }
}

/// R0-21: a decision that was taken in is neither a prompt to the successor, which reads the room's
/// history again, nor answered by it.
#[test]
fn a_decision_is_taken_in_once_though_its_daemon_dies() {
    let demo = Demo::start();
    let mut alice = demo.member("alice");
    let mut boss = demo.owner("boss");
    for (decision, sum, result) in [("yes 1", "1+1", "is-2"), ("yes 2", "2+2", "is-4")] {
        alice.say("#general", &format!("@demo-guide run echo is-$(({sum}))"));
        boss.hears(GUIDE, "#general", "wants to run");
        boss.say("#general", &format!("@demo-guide {decision}"));
        alice.hears(GUIDE, "#general", result);
        demo.kill_guide();
        // The successor comes to this line last.
        alice.say("#general", &format!("@demo-guide say exactly after {result}"));
        alice.hears(GUIDE, "#general", &format!("after {result}"));
    }
    let database = std::path::Path::new(&demo.state()).join("gangline.db");
    let taken = gangline_testkit::database::query(
        &database,
        "SELECT sender FROM messages WHERE origin <> 'system'",
    );
    assert_eq!(taken, ["alice"; 4]);
    let lines = alice.lines();
    assert!(!lines.iter().any(|line| line.contains("no open approval")), "{lines:#?}");
}

/// A hub that was killed asks nobody to end: the stand-in sees that nobody needs it any more.
#[test]
fn the_stand_in_ends_when_hub_and_daemon_are_gone() {
    let mut demo = Demo::start();
    let model = demo.model();
    demo.hub.kill();
    let guide = demo.world.processes_like(&format!("daemon {GUIDE}"))[0];
    assert_eq!(demo.world.processes_like("standin serve"), [model], "the daemon needs it");
    kill(Pid::from_raw(guide), Signal::SIGTERM).unwrap();
    eventually("the stand-in to end", || {
        demo.world.processes_like("standin serve").is_empty().then_some(())
    });
    assert!(demo.world.processes().is_empty());
}

/// A drained hub leaves nothing behind (R0-37, R1-56).
#[test]
fn a_signal_drains_everything() {
    let mut demo = Demo::start();
    assert_eq!(demo.hub.terminate(), 0, "{}", demo.hub.output());
    let left = demo.world.processes();
    assert!(left.is_empty(), "{left:?}");
    let state = demo.state();
    let database = std::path::Path::new(&state).join("gangline.db");
    assert_eq!(gangline_testkit::database::integrity_check(&database), "ok");
}
