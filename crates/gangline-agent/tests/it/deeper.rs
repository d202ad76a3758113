//! Who is told to think deeper does so, for that task (R1-11): by the effort in what the model is asked.

use gangline_core::{
    MessageId, Redacted,
    effort::EffortLevel,
    whisper::{WhisperKind, WhisperSource},
};
use gangline_store::{NewMessage, NewWhisper};
use gangline_testkit::{IrcPeer, eventually_seeing};

use crate::rig::{ADA, ROOM, Rig, rows::of_the_owner};

const NOTICES: &str = "SELECT json_extract(payload, '$.text') FROM events WHERE kind = 'notice' AND \
                       json_extract(payload, '$.code') = 'effort' ORDER BY seq";
const RAISED: &str = "the effort is high for this task: it was asked to think deeper";
const LOWERED: &str = "the effort is as before: the task is over";
const CHOSEN: &str =
    "the effort is `high` from the next turn on; the backend is started anew for it";
const BACK: &str = "the effort is `low` from the next turn on; the backend is started anew for it";
const KEYS: &str = "model: haiku\nthinking: low\npermissions: bypass";

/// Waits until these are the efforts of Ada's requests.
fn efforts(rig: &Rig, expect: &[&str]) {
    eventually_seeing("the efforts", || {
        let efforts = asked(rig);
        if efforts == expect { Ok(()) } else { Err(efforts.join(" ")) }
    });
}

fn asked(rig: &Rig) -> Vec<String> {
    let mut all = rig.requests();
    all.retain(|body| body["model"] != "watcher");
    all.iter().map(|body| body["output_config"]["effort"].to_string().replace('"', "")).collect()
}

/// Whispers as the owner's command does.
fn think_deeper(rig: &Rig) {
    rig.outside(async |store| {
        let new = NewWhisper {
            agent: ADA.parse().unwrap(),
            kind: WhisperKind::ThinkDeeper,
            source: WhisperSource::Operator,
            text: Redacted::from_store("weigh both designs".to_owned()),
            by: Some("owner".to_owned()),
            finding: None,
            turn: None,
        };
        store.whisper(new).await.unwrap();
    });
    rig.notify();
}

/// Puts a message into the store that another one has caused.
fn follows(rig: &Rig, body: &str, cause: i64) {
    rig.outside(async |store| {
        let new = NewMessage { cause_root: Some(MessageId(cause)), ..of_the_owner(body) };
        store.accept(new).await.unwrap();
    });
    rig.notify();
}

/// R1-11, R1-31: the verdict `THINK_DEEPER` raises the effort of the turn that is told so, from its first
/// request on; people see it while it lasts, and the next turn is thought about as the file says.
#[test]
fn a_verdict_raises_the_effort_of_the_next_turn_alone() {
    let script = r#"
rules:
  - when: {model: watcher}
    times: 1
    reply: [text: "THINK_DEEPER SHALLOW: weigh both designs first."]
  - when: {model: watcher}
    reply: [text: "OK"]
  - reply: [text: "fine: turn ${turn}"]
"#;
    let watched = "supervisor: {agent: native, model: watcher, eval_interval: 1}";
    let rig = Rig::unnamed(script, watched, KEYS);
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada one");
    ori.hears(ADA, ROOM, "fine: ");
    rig.sees("SELECT kind FROM whispers", &["THINK_DEEPER"]);
    // The loop has it, so the next prompt does.
    daemon.dial().sees("the whisper", |it| it["whispers"] == 1);
    let held = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada two");
    let status = daemon.dial().sees("the effort", |status| status["effort"] == "high");
    let told = status["description"].as_str().unwrap();
    assert!(told.contains(", effort high (raised for this task)"), "{told}");
    drop(held);
    ori.hears(ADA, ROOM, "fine: ");
    daemon.dial().sees("the effort as before", |status| status["effort"].is_null());
    ori.say(ROOM, "@lab-ada three");
    ori.hears(ADA, ROOM, "fine: ");
    efforts(&rig, &["low", "high", "low"]);
    rig.sees(NOTICES, &[RAISED, LOWERED]);
    assert_eq!(daemon.stop().code, 0);
}

/// R1-11: a whisper in a running turn raises the effort from the next request of that turn on. A daemon
/// that is killed leaves the file's level to its successor, for the same message too.
#[test]
fn a_whisper_raises_the_effort_of_the_running_turn_and_a_killed_daemon_forgets_it() {
    let script = r#"
rules:
  - when: {user: 'wait'}
    times: 1
    reply: [tool_use: {name: Bash, input: {command: "cat gate-one"}}]
  - when: {turn: 2}
    times: 1
    reply: [tool_use: {name: Bash, input: {command: "cat gate-two"}}]
  - reply: [text: "fine: turn ${turn}"]
"#;
    let rig = Rig::unnamed(script, "", KEYS);
    let (one, _two) = (rig.gate("one"), rig.gate("two"));
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada wait");
    let runs = "SELECT count(*) FROM events WHERE kind = 'assistant' AND payload LIKE '%gate-one%'";
    rig.sees(runs, &["1"]);
    think_deeper(&rig);
    daemon.dial().sees("the effort", |status| status["effort"] == "high");
    one.open();
    rig.sees("SELECT coalesce(road, 'waits') FROM whispers", &["steer"]);
    // A model whose answer nobody took would give it once more.
    let runs = "SELECT count(*) FROM events WHERE kind = 'assistant' AND payload LIKE '%gate-two%'";
    rig.sees(runs, &["1"]);
    daemon.kill();
    let daemon = rig.start();
    ori.hears(ADA, ROOM, "fine: ");
    assert!(daemon.dial().status()["effort"].is_null());
    efforts(&rig, &["low", "high", "low"]);
    rig.sees(NOTICES, &[RAISED]);
    assert_eq!(daemon.stop().code, 0);
}

/// R1-11: the task is what one message has caused: another message that comes in between is thought about
/// as the file says.
#[test]
fn a_task_is_thought_about_until_nothing_of_it_waits() {
    let script = r#"
rules:
  - when: {user: 'wait'}
    reply: [tool_use: {name: Bash, input: {command: "cat gate-one"}}]
  - reply: [text: "fine: turn ${turn}"]
"#;
    let rig = Rig::unnamed(script, "", KEYS);
    let gate = rig.gate("one");
    let daemon = rig.start();
    rig.asked_at_the_command_line(&["wait".to_owned()]);
    rig.was_asked(1);
    think_deeper(&rig);
    follows(&rig, "another", 999);
    follows(&rig, "of the first", 1);
    rig.sees("SELECT count(*) FROM messages WHERE state = 'accepted'", &["2"]);
    daemon.dial().sees("the effort", |status| status["effort"] == "high");
    gate.open();
    rig.was_asked(4);
    daemon.dial().sees("the effort as before", |status| status["effort"].is_null());
    let bodies = "SELECT body FROM messages ORDER BY id";
    assert_eq!(rig.query(bodies), ["wait", "another", "of the first"]);
    efforts(&rig, &["low", "high", "low", "high"]);
    assert_eq!(daemon.stop().code, 0);
}

/// R0-65: an effort that somebody chooses is the ground level from the next turn on, in the same session. It
/// outlives the daemon, until it is taken back.
#[test]
fn an_effort_that_is_chosen_counts_from_the_next_turn_on() {
    let rig = Rig::unnamed("rules:\n  - reply: [text: \"fine: turn ${turn}\"]\n", "", KEYS);
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let ask = |ori: &mut IrcPeer, text: &str| {
        ori.say(ROOM, &format!("@lab-ada {text}"));
        ori.hears(ADA, ROOM, "fine: ");
    };
    ask(&mut ori, "one");
    let session = rig.query("SELECT session FROM agents");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada two");
    rig.chooses_effort(Some(EffortLevel::High));
    drop(model);
    ori.hears(ADA, ROOM, "fine: ");
    rig.sees(NOTICES, &[CHOSEN]);
    ask(&mut ori, "three");
    efforts(&rig, &["low", "low", "high"]);
    assert_eq!(rig.query("SELECT session FROM agents"), session);
    // The same once more changes nothing.
    rig.chooses_effort(Some(EffortLevel::High));
    daemon.kill();
    let daemon = rig.start();
    ask(&mut ori, "four");
    efforts(&rig, &["low", "low", "high", "high"]);
    rig.chooses_effort(None);
    rig.sees(NOTICES, &[CHOSEN, BACK]);
    ask(&mut ori, "five");
    efforts(&rig, &["low", "low", "high", "high", "low"]);
    let settled = "SELECT DISTINCT state || ' ' || attempt FROM messages WHERE origin <> 'system'";
    rig.sees(settled, &["answered 1"]);
    assert_eq!(daemon.stop().code, 0);
}
