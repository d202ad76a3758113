//! What people say to an agent that is no prompt, and what they hear when nothing begins.

use gangline_testkit::IrcPeer;

use crate::rig::{ADA, ROOM, Rig, said};

const SCRIPT: &str = "rules:\n  - when: {user: 'say exactly (.*)'}\n    reply: [text: \"$1\"]\n";

/// Waits for the server's own answer.
fn is_told(peer: &mut IrcPeer, part: &str) {
    peer.wait(part, |line| (line.contains(" NOTICE alice ") && line.contains(part)).then_some(()));
}

/// A room word is answered and costs no turn, a mistyped one is answered with the list, a wrong name
/// by the server, and a new member is told how to begin.
#[test]
fn words_near_misses_and_wrong_names_are_answered() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut alice = rig.member("alice");
    let begun = alice.lines();
    assert!(begun.iter().any(|line| line.contains(" 372 ") && line.contains("@NICK help")));
    alice.say(ROOM, "@lab-ada help");
    alice.hears(ADA, ROOM, "stand down");
    alice.say(ROOM, "ada: stauts");
    alice.hears(ADA, ROOM, "I do not know `stauts`; did you mean `@ada status`?");
    alice.say(ROOM, "@lab-ad hello");
    is_told(&mut alice, "No agent is called `lab-ad`");
    alice.say(ROOM, "@nosuch hello");
    is_told(&mut alice, "Nobody here is called `nosuch`");
    alice.send("HELP");
    alice.wait("HELP", |line| line.contains(" 706 ").then_some(()));
    alice.say(ROOM, "@lab-ada say exactly the first turn");
    alice.hears(ADA, ROOM, "the first turn");
    let prompts = rig.query("SELECT body FROM messages");
    assert_eq!(prompts, ["@lab-ada say exactly the first turn"], "nothing before it was one");
    assert_eq!(daemon.stop().code, 0);
}

/// R0-45's words on IRC: only the owner pauses; what comes meanwhile is stored, its author hears why
/// nothing begins, and it is answered afterwards (C3).
#[test]
fn an_owner_pauses_and_resumes_by_irc() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let (mut alice, mut boss) = (rig.member("alice"), rig.owner("boss"));
    alice.say(ROOM, "@lab-ada pause");
    alice.hears(ADA, ROOM, "only an owner may operate");
    boss.say(ROOM, "@lab-ada pause");
    boss.hears(ADA, ROOM, "paused");
    alice.say(ROOM, "@lab-ada say exactly kept");
    alice.hears(ADA, ROOM, "alice: m1 is stored and waits: I am paused");
    alice.say(ROOM, "@lab-ada status");
    let status = alice.hears(ADA, ROOM, "1 message waits");
    assert!(status.contains("paused"), "{status}");
    assert!(!said(&mut alice).contains(&"kept".to_owned()));
    boss.say(ROOM, "@lab-ada resume");
    alice.hears(ADA, ROOM, "kept");
    assert_eq!(daemon.stop().code, 0);
}

/// `abort` ends the open turn and the asker is told.
#[test]
fn an_owner_aborts_a_turn() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let (mut alice, mut boss) = (rig.member("alice"), rig.owner("boss"));
    let model = rig.hold_model();
    rig.at_work(&mut alice, "@lab-ada say exactly never");
    boss.say(ROOM, "@lab-ada abort");
    alice.hears(ADA, ROOM, "a person stopped the turn");
    drop(model);
    alice.say(ROOM, "@lab-ada say exactly alive");
    alice.hears(ADA, ROOM, "alive");
    assert!(!said(&mut alice).contains(&"never".to_owned()));
    assert_eq!(daemon.stop().code, 0);
}
