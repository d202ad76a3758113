//! Hooks: a real script is told what happens to an agent, and may not do what it should.

use std::{fs, time::Duration};

use gangline_testkit::{eventually, eventually_seeing};
use serde_json::Value;

use crate::rig::{ADA, ROOM, Rig};

const SCRIPT: &str = "rules:\n  - when: {user: 'say (\\w+)'}\n    reply: [text: \"$1\"]\n";

/// R3-10: a hook that fails or hangs is told of, and no turn waits for it. One that is wanted for
/// errors only is not run for anything else.
#[test]
fn a_hook_that_fails_or_hangs_harms_no_turn() {
    let limit = Duration::from_secs(400);
    let rig = Rig::native(
        SCRIPT,
        "hooks: {command: [sh, -c, 'case $(cat) in *SessionStart*) echo broken >&2; exit 7;; *) echo $$ \
         >> hangs; exec sleep 300;; esac'], events: [SessionStart, OnMessage], timeout_seconds: 400}",
    );
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    for word in ["one", "two", "three"] {
        eve.say(ROOM, &format!("@lab-ada say {word}"));
        eve.hears(ADA, ROOM, word);
    }
    let told = "SELECT json_extract(payload, '$.text') FROM events WHERE kind = 'notice' AND \
                json_extract(payload, '$.code') = 'hook_failed' ORDER BY seq";
    let late = "the hook for OnMessage failed: it did not end within 400 s and was killed";
    let first = "the hook for SessionStart failed: it ended with code 7: broken";
    for count in 1..=3 {
        eventually_seeing("one more that hangs", || {
            let pids = rig.lines("hangs").len();
            if pids == count { Ok(()) } else { Err(pids.to_string()) }
        });
        rig.clock.is_waited_for(limit);
        rig.clock.forward(limit);
        rig.sees(told, &[&[first][..], &[late; 3][..count]].concat());
    }
    for pid in rig.lines("hangs") {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
    assert_eq!(daemon.stop().code, 0);
}

/// Keeps each payload on a line, with what the environment says of the session.
const KEEP: &str = "hooks: {command: [sh, -c, 'read -r line; echo \"$GT_SESSION_ID $CULTURE_NICK \
                    $line\" >> hooked'], timeout_seconds: 20}";
const EACH: &str = "env: {DEPLOY_TOKEN: tok-0123456789abcdef}\ngastown: {rig: forge, bead: gt-7}";
const FAILS: &str = "rules:
  - when: {user: 'fail'}
    reply: [http_error: {status: 400, message: 'no such thing: tok-0123456789abcdef'}]
  - when: {user: 'say (\\w+)'}
    reply: [text: \"$1\"]
";

/// Returns what the hook kept, once it was called so often.
fn hooked(rig: &Rig, count: usize) -> Vec<(String, Value)> {
    eventually(&format!("{count} calls"), || {
        let text = fs::read_to_string(rig.work("hooked")).unwrap_or_default();
        // The last line may be half written.
        let lines: Vec<&str> = text.split_inclusive('\n').filter(|it| it.ends_with('\n')).collect();
        let call = |line: &str| {
            let (before, json) = line.split_at(line.find('{').unwrap());
            (before.trim().to_owned(), json.trim_end().parse().unwrap())
        };
        (lines.len() >= count).then(|| lines.into_iter().map(call).collect())
    })
}

/// R3-10, R3-11, C36: the four events reach the script with the whole payload and their time in RFC 3339,
/// and the record too; what is secret is masked.
#[test]
fn a_script_is_told_of_the_session_of_messages_and_of_errors() {
    let rig = Rig::native(FAILS, &format!("{EACH}\n{KEEP}"));
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    eve.say(ROOM, "@lab-ada say hello tok-0123456789abcdef");
    eve.hears(ADA, ROOM, "hello");
    eve.say(ROOM, "@lab-ada fail");
    eve.hears(ADA, ROOM, "no answer");
    hooked(&rig, 4);
    assert_eq!(daemon.stop().code, 0);
    let calls = hooked(&rig, 5);
    let events: Vec<&str> = calls.iter().map(|(_, call)| call["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["SessionStart", "OnMessage", "OnMessage", "OnError", "SessionStop"]);
    let session = calls[0].1["session_id"].as_str().unwrap().to_owned();
    for (before, call) in &calls {
        assert_eq!(*before, format!("{session} {ADA}"));
        assert_eq!(call["session_id"], session.as_str());
        assert_eq!(call["runtime"], "native");
        assert_eq!(call["workdir"], rig.work("").display().to_string().trim_end_matches('/'));
        assert_eq!((&call["rig"], &call["role"]), (&"forge".into(), &Value::Null));
        assert_eq!((&call["bead"], &call["actor"]), (&"gt-7".into(), &ADA.into()));
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
        rig.query(kinds),
        ["session_start", "on_message", "on_message", "on_error", "session_stop"]
    );
}
