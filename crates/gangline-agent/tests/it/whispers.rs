//! Whispers: what the agent alone is told, in front of its next prompt (C9).

use gangline_core::whisper::{WhisperKind, WhisperSource};
use gangline_store::NewWhisper;
use serde_json::Value;

use crate::rig::{ADA, ROOM, Rig, said};

const SCRIPT: &str = r#"
rules:
  - when: {user: '^\[SUPERVISOR/CORRECTION\] ask #help$'}
    reply: [text: "waited, and heard"]
  - when: {user: 'say exactly (\w+)'}
    reply: [text: "$1"]
  - when: {user: 'wait for (\S+)'}
    reply: [tool_use: {name: Bash, input: {command: "cat $1; echo waited"}}]
  - when: {tool: Bash}
    reply: [text: "it said: ${tool_result}"]
  - reply: [text: "fine"]
"#;

const ROADS: &str = "SELECT text || ' ' || coalesce(road, 'waits') FROM whispers ORDER BY id";

/// Whispers as the owner's command does.
fn whisper(rig: &Rig, text: &str) {
    let text = gangline_core::Redacted::from_store(text.to_owned());
    rig.outside(async |store| {
        let new = NewWhisper {
            agent: ADA.parse().unwrap(),
            kind: WhisperKind::Correction,
            source: WhisperSource::Operator,
            text,
            by: Some("owner".to_owned()),
            finding: None,
            turn: None,
        };
        store.whisper(new).await.unwrap();
    });
    rig.notify();
}

/// How often this stands in what the model was asked last.
fn times(request: &Value, part: &str) -> usize {
    request["messages"].to_string().matches(part).count()
}

/// R1-17, R1-33, C9: whispers that wait stand together before the next prompt, once; no room sees
/// them.
#[test]
fn whispers_that_wait_stand_before_the_next_prompt_once() {
    let rig = Rig::native(SCRIPT, "");
    whisper(&rig, "ask #help");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    whisper(&rig, "do not repeat yourself");
    ori.say(ROOM, "@lab-ada say exactly plum");
    ori.hears(ADA, ROOM, "plum");
    rig.sees(ROADS, &["ask #help prompt", "do not repeat yourself prompt"]);
    let asked = rig.requests().pop().unwrap();
    let prompt = asked["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    let lines = "[SUPERVISOR/CORRECTION] ask #help\\n[SUPERVISOR/CORRECTION] do not repeat \
                 yourself\\n[IRC @mention";
    assert!(prompt.contains(lines), "{prompt}");
    ori.say(ROOM, "@lab-ada say exactly quince");
    ori.hears(ADA, ROOM, "quince");
    assert_eq!(times(&rig.requests().pop().unwrap(), "ask #help"), 1, "once");
    assert_eq!(said(&mut ori), ["plum", "quince"]);
    assert_eq!(daemon.stop().code, 0);
}

/// C9: a daemon that is killed after a prompt was given, and before it is known to have reached the
/// model, has its successor give the whisper once more. Nothing is lost.
#[test]
fn a_whisper_of_a_killed_daemons_prompt_is_given_once_more() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    whisper(&rig, "ask #help");
    let store = {
        ori.say(ROOM, "@lab-ada say exactly plum");
        ori.hears(ADA, ROOM, "plum");
        rig.sees(ROADS, &["ask #help prompt"]);
        whisper(&rig, "look again");
        let model = rig.hold_model();
        ori.say(ROOM, "@lab-ada say exactly quince");
        rig.sees("SELECT count(*) FROM turns", &["2"]);
        let held = rig.hold_store();
        daemon.kill();
        drop(model);
        held
    };
    drop(store);
    let daemon = rig.start();
    ori.hears(ADA, ROOM, "quince");
    rig.sees(ROADS, &["ask #help prompt", "look again prompt"]);
    let asked = rig.requests().pop().unwrap();
    assert!(times(&asked, "look again") >= 1);
    assert_eq!(said(&mut ori), ["plum", "quince"]);
    assert_eq!(daemon.stop().code, 0);
}
