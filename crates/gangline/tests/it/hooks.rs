//! Hooks: a real script is told what happens to an agent.

use std::fs;

use gangline_testkit::{Stage, eventually};
use serde_json::Value;

const SCRIPT: &str = "rules:
  - when: {user: 'fail'}
    reply:
      - http_error: {status: 400, message: 'no such thing: tok-0123456789abcdef'}
  - when: {user: 'say (\\w+)'}
    reply:
      - text: \"$1\"
";

fn stage(hooks: &str) -> Stage {
    Stage::new(env!("CARGO_BIN_EXE_gangline"), &["oak-ada"], Some(SCRIPT), (hooks, EACH))
}

const EACH: &str = "env: {DEPLOY_TOKEN: tok-0123456789abcdef}\ngastown: {rig: forge, bead: gt-7}";

/// Keeps each payload on a line, with what the environment says of the session.
const KEEP: &str = "hooks: {command: [sh, -c, 'read -r line; echo \"$GT_SESSION_ID $CULTURE_NICK \
                    $line\" >> hooked'], timeout_seconds: 20}";

fn hooked(stage: &Stage, count: usize) -> Vec<(String, Value)> {
    let path = stage.world.path("work/hooked");
    eventually(&format!("{count} calls"), || {
        let text = fs::read_to_string(&path).unwrap_or_default();
        // The last line may be half written.
        let lines: Vec<&str> = text.split_inclusive('\n').filter(|it| it.ends_with('\n')).collect();
        (lines.len() >= count).then(|| {
            let mut calls = Vec::new();
            for line in lines {
                let (before, json) = line.split_at(line.find('{').unwrap());
                calls.push((
                    before.trim().to_owned(),
                    serde_json::from_str(json.trim_end()).unwrap(),
                ));
            }
            calls
        })
    })
}

/// R3-10, R3-11: the four events reach the script with the whole payload, and the record too;
/// what is secret is masked.
#[test]
fn a_script_is_told_of_the_session_of_messages_and_of_errors() {
    let stage = stage(KEEP);
    let mut hub = stage.up();
    let mut eve = stage.member("eve");
    eve.say("#general", "@oak-ada say hello tok-0123456789abcdef");
    eve.hears("oak-ada", "#general", "hello");
    eve.say("#general", "@oak-ada fail");
    eve.hears("oak-ada", "#general", "no answer");
    hooked(&stage, 4);
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
    let calls = hooked(&stage, 5);
    let events: Vec<&str> = calls.iter().map(|(_, call)| call["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["SessionStart", "OnMessage", "OnMessage", "OnError", "SessionStop"]);
    let session = calls[0].1["session_id"].as_str().unwrap().to_owned();
    for (before, call) in &calls {
        assert_eq!(*before, format!("{session} oak-ada"));
        assert_eq!(call["session_id"], session.as_str());
        assert_eq!(call["runtime"], "native");
        assert_eq!(call["workdir"], stage.world.path("work").display().to_string());
        assert_eq!((&call["rig"], &call["role"]), (&"forge".into(), &Value::Null));
        assert_eq!((&call["bead"], &call["actor"]), (&"gt-7".into(), &"oak-ada".into()));
        let at = call["timestamp"].as_str().unwrap();
        assert!(at.len() >= 20 && at.contains('T') && at.ends_with('Z'), "{at}");
        assert!(!call.to_string().contains("tok-0123456789abcdef"), "{call}");
    }
    let message = &calls[1].1["data"];
    assert!(message["message"].as_str().unwrap().contains("say hello [masked]"), "{message}");
    assert_eq!((&message["sender"], &message["id"]), (&"eve".into(), &"m1".into()));
    let error = calls[3].1["data"]["message"].as_str().unwrap();
    assert!(error.contains("no such thing"), "{error}");
    let kinds = "SELECT kind FROM events WHERE kind IN ('session_start', 'session_stop', \
                 'on_message', 'on_error') ORDER BY seq";
    assert_eq!(
        stage.query(kinds),
        ["session_start", "on_message", "on_message", "on_error", "session_stop"]
    );
    assert!(stage.world.processes().iter().all(|(_, line)| line.contains("standin")));
}

/// An agent's own hooks replace those of the file.
#[test]
fn an_agents_own_hooks_come_first() {
    let stage = stage("hooks: {command: [nowhere-to-be-found]}");
    let text = fs::read_to_string(&stage.config).unwrap();
    let own = "    hooks: {command: [sh, -c, 'echo ran > own'], events: [SessionStart]}\n";
    fs::write(&stage.config, text + own).unwrap();
    let _hub = stage.up();
    eventually("the hook to run", || fs::read_to_string(stage.world.path("work/own")).ok());
    let told = "SELECT count(*) FROM events WHERE payload LIKE '%hook_failed%'";
    assert_eq!(stage.query(told), ["0"]);
}
