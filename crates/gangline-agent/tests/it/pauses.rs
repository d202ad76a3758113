//! Pauses with an end, and limits of the provider, over the death of the daemon.

use serde_json::json;

use crate::rig::{ADA, ROOM, Rig};

const SCRIPT: &str = r#"
rules:
  - when: {user: 'say exactly (.*)'}
    reply: [text: "$1"]
  - when: {user: 'spend all'}
    times: 1
    reply: [http_error: {status: 429, headers: {retry-after: "7200"}, message: "usage limit reached"}]
  - reply: [text: "done"]
"#;

const STATES: &str = "SELECT state || ' ' || attempt FROM messages WHERE origin <> 'system' \
                      ORDER BY id";
const PAUSES: &str = "SELECT reason FROM pauses ORDER BY reason";

/// R0-45, R0-52: a pause has an end that survives the daemon; one that passed while no daemon ran is
/// over, and what came is answered. culture's words for it are read.
#[test]
fn a_pause_with_an_end_outlives_the_daemon_and_ends() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let mut ipc = daemon.dial();
    for (bad, why) in [
        (json!({"type": "pause", "for": "ever"}), "`ever` is not a length of time"),
        (json!({"type": "pause", "until": "2020-01-01 09:00"}), "has passed"),
        (json!({"type": "pause", "until": "9:00", "for": "2h"}), "'until' must be left out"),
    ] {
        let error = ipc.error(daemon.signed(bad));
        assert!(error.contains(why), "{error}");
    }
    ipc.ok(daemon.signed(json!({"type": "sleep"})));
    ipc.sees("culture's sleep", |status| status["activity"] == "paused");
    ipc.ok(daemon.signed(json!({"type": "wake"})));
    ipc.sees("culture's wake", |status| status["paused"] == false);
    ipc.ok(daemon.signed(json!({"type": "pause", "for": "2h"})));
    let until = |status: &serde_json::Value| {
        let pause = &status["pauses"][0];
        pause["reason"] == "operator" && pause["until"].is_string()
    };
    ipc.sees("the end of the pause", until);
    ori.say(ROOM, "@lab-ada say exactly plum");
    ori.hears(ADA, ROOM, "I am paused until");
    drop(ipc);
    daemon.kill();
    let daemon = rig.start();
    daemon.dial().sees("the pause of the last daemon", until);
    assert_eq!(rig.query("SELECT count(*) FROM turns"), ["0"]);
    daemon.kill();
    let _ = rig.query("UPDATE pauses SET until = 1");
    let daemon = rig.start();
    ori.hears(ADA, ROOM, "plum");
    rig.sees(PAUSES, &[]);
    rig.sees("SELECT paused FROM agents", &["0"]);
    assert_eq!(daemon.stop().code, 0);
}

/// A spent quota pauses the agent until the named time, over a restart; its inbox is kept, people see
/// it, and then what waits is answered.
#[test]
fn a_spent_quota_pauses_the_agent_until_its_time() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada spend all");
    rig.sees(PAUSES, &["rate_limit"]);
    let limited = |status: &serde_json::Value| {
        let description = status["description"].as_str().unwrap_or_default();
        status["paused"] == true
            && status["pauses"][0]["reason"] == "rate_limit"
            && description.contains("for its provider's quota")
    };
    daemon.dial().sees("the limit", limited);
    rig.sees("SELECT kind || ' ' || state FROM findings", &["rate_limit open"]);
    daemon.kill();
    let daemon = rig.start();
    daemon.dial().sees("the limit of the last daemon", limited);
    ori.say(ROOM, "@lab-ada say exactly plum");
    ori.hears(ADA, ROOM, "its quota is spent");
    rig.sees(STATES, &["accepted 0", "accepted 0"]);
    // Two hours, and what differs by the agent's name.
    rig.clock.forward(std::time::Duration::from_secs(7200 + 120));
    ori.hears(ADA, ROOM, "plum");
    rig.sees(STATES, &["answered 1", "answered 1"]);
    rig.sees(PAUSES, &[]);
    rig.sees("SELECT kind || ' ' || state FROM findings", &["rate_limit resolved"]);
    assert_eq!(daemon.stop().code, 0);
}

/// `resume` tries at once what waits for the end of a limit.
#[test]
fn resume_tries_a_spent_quota_at_once() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada spend all");
    rig.sees(PAUSES, &["rate_limit"]);
    daemon.owner("resume");
    ori.hears(ADA, ROOM, "done");
    rig.sees(STATES, &["answered 1"]);
    assert_eq!(daemon.stop().code, 0);
}
