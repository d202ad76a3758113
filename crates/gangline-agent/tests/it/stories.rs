//! What people see of an agent: the ten stories that everything else is a case of.

use std::time::Duration;

use gangline_testkit::irc;
use serde_json::json;

use crate::rig::{ADA, ROOM, Rig, SETTLE, said};

/// What the model does: it says what it is told to say, runs what it is told to run, and cannot do
/// what is too much for it.
const SCRIPT: &str = r#"
rules:
  - when: {user: 'say exactly (.*)'}
    reply: [text: "$1"]
  - when: {user: 'run (.*)'}
    reply: [tool_use: {name: Bash, input: {command: "$1"}}]
  - when: {tool: Bash}
    reply: [text: "it said: ${tool_result}"]
  - when: {user: 'ask (\w+) (.*)'}
    reply: [tool_use: {name: send, input: {to: "$1", text: "$2"}}]
  - when: {tool: send}
    reply: [text: "NO_REPLY"]
  - when: {user: 'too much'}
    reply: [http_error: {status: 400, message: "too much"}]
  - reply: [text: "what?"]
"#;

const STATES: &str = "SELECT state || ' ' || attempt FROM messages WHERE origin <> 'system' \
                      ORDER BY id";
const OUTCOMES: &str = "SELECT outcome FROM turns ORDER BY epoch, number";
const OUTBOX: &str = "SELECT DISTINCT state FROM outbox";

#[test]
fn a_mention_is_answered_where_it_was_said() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada say exactly plum");
    ori.hears(ADA, ROOM, "plum");
    rig.sees(STATES, &["answered 1"]);
    rig.sees(OUTBOX, &["confirmed"]);
    assert_eq!(rig.query(OUTCOMES), ["completed"]);
    assert_eq!(daemon.stop().code, 0);
}

#[test]
fn a_killed_daemons_successor_answers_what_waited_once() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada say exactly plum");
    ori.say(ROOM, "@lab-ada say exactly quince");
    rig.sees("SELECT count(*) FROM messages", &["2"]);
    daemon.kill();
    ori.say(ROOM, "@lab-ada say exactly medlar");
    drop(model);
    let daemon = rig.start();
    for word in ["plum", "quince", "medlar"] {
        ori.hears(ADA, ROOM, word);
    }
    rig.sees(STATES, &["answered 2", "answered 1", "answered 1"]);
    assert_eq!(rig.query(OUTCOMES), ["lost", "completed", "completed", "completed"]);
    assert_eq!(said(&mut ori), ["plum", "quince", "medlar"]);
    assert_eq!(daemon.stop().code, 0);
}

#[test]
fn a_command_runs_when_the_owner_has_said_yes() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let (mut owner, mut ori) = (rig.owner("otto"), rig.member("ori"));
    ori.say(ROOM, "@lab-ada run echo medlar > fruit; echo done");
    let asked = owner.hears(ADA, ROOM, "wants to run");
    let number = irc::approval(&asked).unwrap();
    assert!(!rig.work("fruit").exists());
    owner.say(ROOM, &format!("@lab-ada yes {number}"));
    ori.hears(ADA, ROOM, "it said: done");
    assert_eq!(rig.lines("fruit"), ["medlar"]);
    ori.say(ROOM, "@lab-ada run echo quince > fruit");
    let asked = owner.hears(ADA, ROOM, "wants to run");
    let number = irc::approval(&asked).unwrap();
    owner.say(ROOM, &format!("@lab-ada no {number} fruit is bought"));
    ori.hears(ADA, ROOM, "it said: a person refused this and said: fruit is bought");
    assert_eq!(rig.lines("fruit"), ["medlar"]);
    let decided = rig.query("SELECT state || ' ' || decision FROM approvals ORDER BY number");
    assert_eq!(decided, ["allowed allow", "denied deny"]);
    assert_eq!(daemon.stop().code, 0);
}

#[test]
fn a_daemon_that_is_asked_to_end_finishes_its_turn_first() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada say exactly plum");
    daemon.owner("shutdown");
    rig.clock.is_waited_for(SETTLE);
    drop(model);
    assert_eq!(daemon.ended().code, 0);
    ori.hears(ADA, ROOM, "plum");
    rig.sees(STATES, &["answered 1"]);
    assert_eq!(rig.query(OUTBOX), ["confirmed"]);
}

/// The budget for the open turn is over: the successor gives the message again.
#[test]
fn a_turn_that_outlasts_the_end_is_interrupted_and_given_again() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada say exactly plum");
    daemon.owner("shutdown");
    rig.clock.is_waited_for(SETTLE);
    rig.clock.forward(SETTLE);
    assert_eq!(daemon.ended().code, 0);
    rig.sees(STATES, &["accepted 0"]);
    drop(model);
    let daemon = rig.start();
    ori.hears(ADA, ROOM, "plum");
    rig.sees(STATES, &["answered 1"]);
    assert_eq!(said(&mut ori), ["plum"]);
    assert_eq!(daemon.stop().code, 0);
}

#[test]
fn a_paused_agent_answers_when_it_is_resumed() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    daemon.owner("pause");
    rig.sees("SELECT paused FROM agents", &["1"]);
    ori.say(ROOM, "@lab-ada say exactly plum");
    rig.sees(STATES, &["accepted 0"]);
    daemon.kill();
    // The pause outlives the daemon.
    let daemon = rig.start();
    assert_eq!(rig.query("SELECT count(*) FROM turns"), ["0"]);
    daemon.owner("resume");
    ori.hears(ADA, ROOM, "plum");
    rig.sees(STATES, &["answered 1"]);
    assert_eq!(daemon.stop().code, 0);
}

#[test]
fn a_turn_that_fails_is_told_to_the_asker_in_one_line() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada this is too much");
    ori.hears(ADA, ROOM, "no answer: ");
    rig.sees(STATES, &["failed 1"]);
    ori.say(ROOM, "@lab-ada say exactly plum");
    ori.hears(ADA, ROOM, "plum");
    assert_eq!(said(&mut ori).len(), 2);
    assert_eq!(rig.query(OUTCOMES), ["failed:request", "completed"]);
    assert_eq!(daemon.stop().code, 0);
}

#[test]
fn a_question_of_the_agents_is_answered_as_a_message() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let (mut ori, mut eve) = (rig.member("ori"), rig.member("eve"));
    ori.say(ROOM, "@lab-ada ask eve which plum?");
    eve.hears(ADA, "eve", "which plum?");
    rig.sees(STATES, &["no_reply 1"]);
    eve.say(ADA, "say exactly the blue one");
    eve.hears(ADA, "eve", "the blue one");
    rig.sees(STATES, &["no_reply 1", "answered 1"]);
    assert!(said(&mut ori).is_empty(), "nobody else hears of it");
    let mut ipc = daemon.dial();
    ipc.send(json!({"type": "irc_ask", "channel": ROOM, "message": "anybody?"}));
    ori.hears(ADA, ROOM, "anybody?");
    assert_eq!(daemon.stop().code, 0);
}

/// A drain withdraws an approval that waits and does not wait for it; the next life asks again
/// under the same number, and the message is answered once.
#[test]
fn a_drain_withdraws_an_approval_and_the_next_life_asks_again() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let (mut owner, mut ori) = (rig.owner("otto"), rig.member("ori"));
    ori.say(ROOM, "@lab-ada run echo later-$((3+3))");
    assert_eq!(irc::approval(&ori.hears(ADA, ROOM, "wants to run")), Some(1));
    assert_eq!(daemon.stop().code, 0);
    assert_eq!(rig.query("SELECT state FROM approvals"), ["withdrawn"]);
    let daemon = rig.start();
    rig.sees("SELECT number || ' ' || state FROM approvals", &["1 open"]);
    owner.say(ROOM, "@lab-ada yes 1");
    ori.hears(ADA, ROOM, "it said: later-6");
    rig.sees(STATES, &["answered 1"]);
    assert_eq!(rig.query(OUTCOMES), ["interrupted:drain", "completed"]);
    assert_eq!(daemon.stop().code, 0);
}

/// Who sits in the room and does not answer hears of it once more, in private.
#[test]
fn owners_are_reminded_of_an_approval_that_waits() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let (mut owner, mut ori) = (rig.owner("otto"), rig.member("ori"));
    ori.say(ROOM, "@lab-ada run echo medlar");
    owner.hears(ADA, ROOM, "wants to run");
    rig.sees("SELECT count(*) FROM approvals", &["1"]);
    rig.clock.forward(Duration::from_secs(11 * 60));
    let told = owner.hears(ADA, "otto", "echo medlar");
    assert!(told.contains("11 min"), "{told}");
    daemon.kill();
}

#[test]
fn a_private_conversation_stays_private() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let (mut ori, mut eve) = (rig.member("ori"), rig.member("eve"));
    ori.say(ADA, "say exactly plum");
    ori.hears(ADA, "ori", "plum");
    rig.sees(STATES, &["answered 1"]);
    eve.say(ROOM, "@lab-ada say exactly quince");
    eve.hears(ADA, ROOM, "quince");
    assert!(eve.lines().iter().all(|line| !line.contains("plum")));
    assert_eq!(daemon.stop().code, 0);
}
