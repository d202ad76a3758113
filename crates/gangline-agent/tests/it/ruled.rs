//! Rules watch Ada, and no model does: what they find, and what is left of it when her daemon is killed.

use std::{fs, time::Duration};

use crate::rig::{ROOM, Rig};

const FINDINGS: &str = "SELECT kind || ' ' || state FROM findings ORDER BY number";

/// R1-36, design §4: a call that fails four times in the same way is a finding and a whisper, in the
/// middle of the turn. A daemon that is killed cannot say that it holds no more; the next one does.
#[test]
fn a_spiral_is_found_without_a_model_and_forgotten_by_the_next_daemon() {
    let script = r#"
rules:
  - times: 4
    reply: [tool_use: {name: Bash, input: {command: "exit 3"}}]
  - reply: [delay_ms: 600000, text: "too late"]
"#;
    let rig = Rig::native(script, "permissions: bypass");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada build it");
    rig.sees(FINDINGS, &["repeated_error open"]);
    // Its whisper is about that finding.
    let about = "SELECT source FROM whispers JOIN findings ON number = finding";
    rig.sees(about, &["rules"]);
    rig.sees("SELECT kind || ' ' || source FROM whispers", &["CORRECTION rules"]);
    assert_eq!(rig.query("SELECT count(*) FROM turns WHERE outcome IS NOT NULL"), ["0"]);
    daemon.kill();
    rig.clock.forward(Duration::from_secs(60));
    let daemon = rig.start();
    rig.sees(FINDINGS, &["repeated_error resolved"]);
    daemon.kill();
}

/// R0-31, R0-32, R1-35: `resume` in the middle of a turn lets the rules begin anew. What they had found is
/// resolved; the same trouble is found once more, and counts from zero.
#[test]
fn what_rules_had_found_is_over_with_resume_and_is_found_anew() {
    let script = r#"
rules:
  - times: 4
    reply: [tool_use: {name: Bash, input: {command: "exit 3"}}]
  - times: 1
    reply: [tool_use: {name: Bash, input: {command: "until [ -e go ]; do sleep 0.05; done"}}]
  - times: 4
    reply: [tool_use: {name: Bash, input: {command: "exit 3"}}]
  - reply: [delay_ms: 600000, text: "too late"]
"#;
    let one = "supervisor: {agent: rules, escalation_threshold: 1}";
    let rig = Rig::native_with(script, one, "permissions: bypass");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada build it");
    rig.sees(FINDINGS, &["repeated_error open", "escalation open"]);
    daemon.dial().sees("the escalation", |it| it["supervisor"]["paused"] == true);
    daemon.owner("resume");
    let over = ["repeated_error resolved", "escalation resolved"];
    rig.sees(FINDINGS, &over);
    daemon.dial().sees("it to watch again", |it| it["supervisor"]["paused"] == false);
    fs::write(rig.work("go"), "").unwrap();
    let anew = [over[0], over[1], "repeated_error open", "escalation open"];
    rig.sees(FINDINGS, &anew);
    assert_eq!(rig.query("SELECT count(*) FROM turns"), ["1"], "all in one turn");
    daemon.kill();
}
