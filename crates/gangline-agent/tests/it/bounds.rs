//! The bounds of the inbox's tools: what is too much, too long, too late, or nobody's.

use std::time::Duration;

use crate::rig::{ADA, ROOM, Rig};

const SCRIPT: &str = r##"
rules:
  - when: {user: 'wait for long'}
    reply: [tool_use: {name: recv, input: {wait_seconds: 500}}]
  - when: {user: 'take many'}
    reply: [tool_use: {name: recv, input: {max: 40}}]
  - when: {user: 'wait twice'}
    reply:
      - tool_use: {name: recv, input: {wait_seconds: 100}}
      - tool_use: {name: recv, input: {wait_seconds: 100}}
  - when: {tool: recv}
    reply: [text: "I have read them"]
  - when: {user: 'ask or abort'}
    reply:
      - tool_use: {name: ask, input: {question: "now?", ttl_seconds: 60, timeout_action: abort}}
      - tool_use: {name: recv, input: {wait_seconds: 170}}
  - when: {user: 'ask yourself'}
    reply: [tool_use: {name: ask, input: {question: "now?", to: "lab-ada"}}]
  - when: {user: 'ask for no time'}
    reply: [tool_use: {name: ask, input: {question: "now?", ttl_seconds: 0}}]
  - when: {user: 'ask with too much'}
    reply: [tool_use: {name: ask, input: {question: "which?", options: [OPTIONS]}}]
  - when: {tool: ask}
    reply: [text: "I have asked"]
  - when: {user: 'remind of much'}
    reply: [tool_use: {name: remind, input: {message: "MUCH", due: "in 20 min"}}]
  - when: {user: 'remind of too much'}
    reply: [tool_use: {name: remind, input: {message: "TOO", due: "in 20 min"}}]
  - when: {tool: remind}
    reply: [text: "I have tried"]
  - reply: [text: "done"]
"##;
const QUESTIONS: &str = "SELECT id || ' ' || state || ' ' || coalesce(answer, '') || ' ' || \
                         coalesce(answered_by, '') FROM questions ORDER BY id";
const SPILLED: usize = 5_000;
const TOO_LONG: usize = 1024 * 1024 + 1;

fn rig() -> Rig {
    let options: Vec<String> = (0..21).map(|at| format!("\"o{at}\"")).collect();
    let script = SCRIPT.replace("OPTIONS", &options.join(", "));
    Rig::native(&script.replace("MUCH", &"m".repeat(SPILLED)), "")
}

/// Returns what the model was given last.
fn given(rig: &Rig) -> String {
    rig.requests().pop().unwrap()["messages"].to_string()
}

/// R2-20: a call waits 180 s, whatever it asks for.
#[test]
fn a_receive_waits_three_minutes_at_most() {
    let rig = rig();
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada wait for long");
    rig.clock.is_waited_for(Duration::from_secs(180));
    rig.clock.forward(Duration::from_secs(181));
    ori.hears(ADA, ROOM, "I have read them");
    assert!(given(&rig).contains(r#"\"messages\":[]"#), "{}", given(&rig));
    assert_eq!(daemon.stop().code, 0);
}

/// R2-20: a call takes 32, whatever it asks for.
#[test]
fn a_receive_takes_thirty_two_at_most() {
    let rig = rig();
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let held = rig.hold_model();
    ori.say(ROOM, "@lab-ada take many");
    rig.sees("SELECT state FROM messages", &["in_turn"]);
    let texts: Vec<String> = (0..34).map(|at| format!("news {at}")).collect();
    rig.asked_at_the_command_line(&texts);
    drop(held);
    ori.hears(ADA, ROOM, "I have read them");
    let shown = rig.requests().into_iter().map(|it| it["messages"].to_string());
    let shown = shown.rev().find(|shown| shown.contains("pending")).unwrap();
    assert_eq!(shown.matches(r#"\"origin\":\"cli\""#).count(), 32, "{shown}");
    assert!(shown.contains(r#"\"pending\":2"#), "{shown}");
    assert_eq!(daemon.stop().code, 0);
}

/// R2-20: of two calls that wait, one gets a message.
#[test]
fn two_receives_do_not_take_the_same_message() {
    let rig = rig();
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada wait twice");
    rig.clock.is_waited_for(Duration::from_secs(100));
    ori.say(ADA, "for you alone");
    rig.sees("SELECT state FROM messages ORDER BY id", &["in_turn", "in_turn"]);
    rig.clock.is_waited_for(Duration::from_secs(100));
    rig.clock.forward(Duration::from_secs(101));
    ori.hears(ADA, ROOM, "I have read them");
    let shown = given(&rig);
    assert_eq!(shown.matches(r#"\"body\":\"for you alone\""#).count(), 1, "{shown}");
    assert_eq!(shown.matches(r#"\"messages\":[]"#).count(), 1, "{shown}");
    rig.sees("SELECT state FROM messages ORDER BY id", &["answered", "answered"]);
    assert_eq!(daemon.stop().code, 0);
}

/// R1-53: with `abort` the turn that asked ends when nobody answers in time; a later answer is
/// refused.
#[test]
fn a_question_that_nobody_answers_ends_the_turn_that_asked() {
    let rig = rig();
    let daemon = rig.start();
    let (mut ori, mut boss) = (rig.member("ori"), rig.owner("boss"));
    ori.say(ROOM, "@lab-ada ask or abort");
    rig.sees(QUESTIONS, &["1 open  "]);
    rig.clock.is_waited_for(Duration::from_secs(170));
    rig.clock.forward(Duration::from_secs(61));
    rig.sees(QUESTIONS, &["1 expired [expired] ttl-watchdog"]);
    rig.sees("SELECT outcome FROM turns WHERE number = 1", &["interrupted:operator"]);
    boss.say(ROOM, "@lab-ada answer 1 yes");
    boss.hears(ADA, ROOM, "question 1 is expired already");
    rig.sees(QUESTIONS, &["1 expired [expired] ttl-watchdog"]);
    assert_eq!(daemon.stop().code, 0);
}

/// R2-21, R2-23, R2-24: what cannot be asked is refused with the reason, and leaves no row.
#[test]
fn a_question_out_of_bounds_is_not_asked() {
    let rig = rig();
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    for (line, why) in [
        ("ask yourself", "you cannot ask yourself"),
        ("ask for no time", "`ttl_seconds` must be a whole number from 1 to"),
        ("ask with too much", "too many options: at most 20"),
    ] {
        ori.say(ROOM, &format!("@lab-ada {line}"));
        ori.hears(ADA, ROOM, "I have asked");
        assert!(given(&rig).contains(why), "{why}: {}", given(&rig));
    }
    rig.sees(QUESTIONS, &[]);
    assert_eq!(daemon.stop().code, 0);
}

/// R2-28: a text above 4 KiB is a file in the agent's state folder, to which the message points.
#[test]
fn a_long_reminder_is_a_file_that_the_message_names() {
    let rig = rig();
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada remind of much");
    ori.hears(ADA, ROOM, "I have tried");
    rig.clock.forward(Duration::from_secs(20 * 60));
    ori.hears(ADA, ROOM, "done");
    let told = rig.query("SELECT body FROM messages WHERE origin = 'reminder'").pop().unwrap();
    let path = told.strip_prefix("[REMINDER 1] The reminder is in the file ").unwrap();
    let path = path.strip_suffix(" (5000 bytes).").unwrap();
    assert!(path.contains("/agents/lab-ada/state/reminders/"), "{told}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "m".repeat(SPILLED));
    assert_eq!(daemon.stop().code, 0);
}

/// R2-28: a text above 1 MiB is refused.
#[test]
fn a_reminder_above_a_mebibyte_is_refused() {
    let script = SCRIPT.replace("OPTIONS", "").replace("TOO", &"m".repeat(TOO_LONG));
    let rig = Rig::native(&script, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada remind of too much");
    ori.hears(ADA, ROOM, "I have tried");
    assert!(given(&rig).contains("`message` is longer than 1048576 bytes"));
    rig.sees("SELECT state FROM reminders", &[]);
    assert_eq!(daemon.stop().code, 0);
}
