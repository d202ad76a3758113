//! Alerts are read by others than those who spoke: what was said in private is in none. One that tells of a
//! finished task is true.

use gangline_testkit::eventually;

use crate::rig::{ADA, ROOM, Rig};

const SCRIPT: &str = r#"
rules:
  - when: {tool: ask}
    reply: [text: "asked"]
  - when: {tool: Bash}
    reply: [text: "not run"]
  - when: {user: 'ask plum'}
    reply: [tool_use: {name: ask, input: {question: "is plum enough?"}}]
  - when: {user: 'run plum'}
    reply: [tool_use: {name: Bash, input: {command: "touch plum"}}]
  - reply: [text: "fine"]
"#;
const ALERTS: &str = "SELECT event || ' ' || text || ifnull(room_text, '') FROM alerts ORDER BY id";

/// R1-39, R1-42: a task, a question and a command from a private conversation are told without their
/// words; the same from a room with them.
#[test]
fn what_is_said_in_private_is_in_no_alert() {
    let rig = Rig::native(SCRIPT, "permissions: ask");
    let daemon = rig.start();
    let mut owner = rig.owner("otto");
    owner.say(ROOM, "@lab-ada say pear");
    owner.hears(ADA, ROOM, "fine");
    let in_room =
        "agent_complete [COMPLETE] lab-ada finished task \"say pear\". Results in #general.";
    rig.sees(ALERTS, &[in_room]);
    owner.say(ADA, "say plum");
    // The task is finished before another one begins, and the others are not.
    rig.sees("SELECT count(*) FROM alerts", &["2"]);
    // What a program says is said in no room either.
    let wake = r#"{"cmd":"wake","from":"matrix","body":"new plum"}"#;
    assert_eq!(daemon.dial().exchange(wake), r#"{"ok":true}"#);
    rig.sees("SELECT count(*) FROM alerts", &["3"]);
    for line in ["ask plum", "run plum"] {
        owner.say(ADA, line);
    }
    let private = [
        "agent_complete [COMPLETE] lab-ada finished a task of matrix.",
        "agent_complete [COMPLETE] lab-ada finished a task of otto, who was answered in private.",
        "agent_question [QUESTION] lab-ada needs input: \"(asked in private)\"",
        "agent_approval [APPROVAL] lab-ada asks to run Bash, in private.",
    ];
    let told = eventually("the four alerts", || {
        let told = rig.query(ALERTS);
        let has = |part: &&str| told.iter().any(|line| line.starts_with(*part));
        private.iter().all(has).then_some(told)
    });
    assert!(told.iter().all(|line| !line.contains("plum")), "{told:?}");
    assert!(told.iter().any(|line| line.contains("Reply `/msg lab-ada answer ")), "{told:?}");
    assert_eq!(daemon.stop().code, 0);
}

/// R1-39, R1-42: a task whose turn has asked something is not finished before the answer.
#[test]
fn a_task_that_waits_for_an_answer_is_not_told_as_finished() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut owner = rig.owner("otto");
    let outcomes = "SELECT outcome FROM turns WHERE ended_at IS NOT NULL ORDER BY epoch, number";
    owner.say(ROOM, "@lab-ada ask plum");
    rig.sees(outcomes, &["completed"]);
    owner.say(ROOM, "@lab-ada answer 1 yes");
    rig.sees(outcomes, &["completed", "completed"]);
    let alerts = "SELECT event || ' ' || text FROM alerts ORDER BY id";
    let told = [
        "agent_question [QUESTION] lab-ada needs input: \"is plum enough?\"",
        "agent_complete [COMPLETE] lab-ada finished task \"the answer to question 1\". Results in #general.",
    ];
    rig.sees(alerts, &told);
    assert_eq!(daemon.stop().code, 0);
}
