//! Real programs as supervisors. The model behind both is a script.

use serde_json::Value;

use crate::rig::{ADA, ROOM, Real, Rig};

/// The supervisor's model corrects, tries to act, and asks people.
const SCRIPT: &str = r#"
rules:
  - when: {system: 'title generator'}
    reply: [text: "a title"]
  - when: {model: JUDGE, user: 'the first task'}
    times: 1
    reply: [text: "CORRECTION DRIFTING: read the task again."]
  - when: {model: JUDGE, user: 'the second task'}
    times: 1
    reply: [text: "let me look", tool_use: ACT]
  - when: {model: JUDGE, user: 'the third task'}
    reply: [text: "ESCALATION DRIFTING: it works on something else."]
  - when: {model: JUDGE}
    reply: [text: "AT LAST"]
  - reply: [text: "fine: ${turn}"]
"#;

const CORRECTED: &str = "CORRECTION DRIFTING: read the task again.";
const ESCALATED: &str = "ESCALATION DRIFTING: it works on something else.";
const VERDICTS: &str = "SELECT json_extract(payload, '$.verdict') || ' ' || json_extract(payload, \
                        '$.message') FROM events WHERE kind = 'verdict' ORDER BY seq";
const ALERTS: &str = "SELECT count(*) FROM alerts WHERE room_text LIKE '%Cause: DRIFTING: it works on \
                      something else. Evidence%'";
const SPENT: &str =
    "SELECT count(*) > 2 AND sum(output) > 0 FROM usage WHERE spender = 'supervisor'";

/// What one that only judges may be offered. A patch is asked about, and refused.
const HARMLESS: [&str; 2] = ["request_user_input", "apply_patch"];

/// Returns the names of the tools that a request offers.
fn offered(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.map(|tool| tool["name"].as_str().unwrap_or("unnamed")).collect()
}

fn story(ada: Real, judge: Real, model: &str) {
    let act = match judge {
        Real::Codex => {
            r#"{name: apply_patch, input: "*** Begin Patch\n*** Add File: acted\n+x\n*** End Patch\n"}"#
        }
        Real::Claude | Real::OpenCode | Real::Native => {
            r#"{name: Bash, input: {command: "touch acted"}}"#
        }
    };
    let script = SCRIPT.replace("ACT", act).replace("JUDGE", model).replace("AT LAST", "OK");
    let rig = Rig::watched((ada, &script), (judge, &script), ("eval_interval: 1", ""));
    let daemon = rig.start();
    let (mut ori, mut owner) = (rig.member("ori"), rig.owner("boss"));
    let mut ask = |task: &str| {
        ori.say(ROOM, &format!("@lab-ada the {task} task"));
        ori.hears(ADA, ROOM, "fine: ");
    };
    ask("first");
    rig.sees(VERDICTS, &[CORRECTED]);
    rig.sees("SELECT text FROM whispers", &["DRIFTING: read the task again."]);
    daemon.dial().sees("the whisper", |it| it["whispers"] == 1);
    ask("second");
    let told = "[SUPERVISOR/CORRECTION] DRIFTING: read the task again. (about your earlier task)";
    assert!(rig.request_with(told).contains("the second task"), "in front of the next prompt");
    rig.sees(VERDICTS, &[CORRECTED, "OK "]);
    assert!(!rig.state("supervisor/work/acted").exists() && !rig.work("acted").exists());
    ask("third");
    rig.sees(VERDICTS, &[CORRECTED, "OK ", ESCALATED]);
    let status = daemon.dial().sees("the escalation", |it| it["escalated"] == true);
    assert_eq!(status["supervisor"]["agent"], judge.name(), "{status}");
    rig.sees(ALERTS, &["1"]);
    rig.sees(SPENT, &["1"]);
    for request in &rig.judged() {
        assert_eq!(request["model"], model);
        let tools = offered(request);
        assert!(tools.iter().all(|name| HARMLESS.contains(name)), "{tools:?}");
    }
    owner.say(ROOM, "@lab-ada resume");
    daemon.dial().sees("it to watch again", |it| {
        it["escalated"] != true && it["supervisor"]["paused"] == false
    });
    assert_eq!(daemon.stop().code, 0);
}

/// R0-33, R0-34, R1-36, R1-37: Claude Code watches Codex, with the seed's usual model for that.
#[test]
fn claude_code_watches_codex() {
    story(Real::Codex, Real::Claude, "claude-sonnet-4-6");
}

/// R0-33, R0-34, R1-37: Codex watches the native loop. It is offered no shell, which it has otherwise.
#[test]
fn codex_watches_a_native_agent() {
    story(Real::Native, Real::Codex, "gpt-5.5");
}

/// R0-33, R1-37: an agent of the Agent Client Protocol, OpenCode, watches the native loop. It offers its model
/// what it has; each use of it is asked about, and refused.
#[test]
fn opencode_watches_a_native_agent() {
    let act = r#"{name: bash, input: {command: "touch acted"}}"#;
    let script = SCRIPT.replace("ACT", act).replace("JUDGE", "first").replace("AT LAST", CORRECTED);
    let rig =
        Rig::watched((Real::Native, &script), (Real::OpenCode, &script), ("eval_interval: 1", ""));
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada the second task");
    ori.hears(ADA, ROOM, "fine: ");
    rig.sees(VERDICTS, &[CORRECTED]);
    rig.sees("SELECT text FROM whispers", &["DRIFTING: read the task again."]);
    assert!(!rig.state("supervisor/work/acted").exists() && !rig.work("acted").exists());
    assert_eq!(daemon.stop().code, 0);
}
