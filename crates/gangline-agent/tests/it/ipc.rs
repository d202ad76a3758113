//! The daemon's control socket, as its clients see it: real frames, with the chat server and a
//! scripted model behind it. `ipc/places.rs` is about channels, `ipc/turns.rs` about what belongs to a
//! turn, `ipc/asks.rs` about questions,
//! `ipc/bounds.rs` about crowds, `ipc/lives.rs` about restarts, `ipc/owner.rs` about the owner,
//! `ipc/settings.rs` about what the configuration says.

mod asks;
mod bounds;
mod lives;
mod owner;
mod places;
mod settings;
mod turns;

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use gangline_testkit::eventually;
use serde_json::{Value, json};

use crate::rig::{ADA, Daemon, Ipc, Rig};

/// What the model does: it says what it is told to say, and runs what it is told to run.
const SCRIPT: &str = r#"
rules:
  - when: {user: 'say exactly (.*)'}
    reply: [text: "$1"]
  - when: {user: 'shell: (.*)'}
    reply: [tool_use: {name: Bash, input: {command: "$1"}}]
  - when: {tool: Bash}
    reply: [text: "the shell is done"]
  - reply: [text: "what?"]
"#;

/// A daemon whose shell needs no permission.
struct Scene {
    rig: Rig,
    daemon: Daemon,
}

impl Scene {
    fn open() -> Self {
        Self::with("", "permissions: bypass")
    }

    /// `more` is YAML of the top level, `each` the agent's.
    fn with(more: &str, each: &str) -> Self {
        let rig = Rig::native_with(SCRIPT, more, each);
        let daemon = rig.start();
        Self { rig, daemon }
    }

    fn dial(&self) -> Ipc {
        self.daemon.dial()
    }

    /// Lets the shell go on that waits for this file.
    fn lets(&self, file: &str) {
        fs::write(self.rig.work(file), "").unwrap();
    }

    /// Ends the daemon by the socket; `between` is done before the next one starts.
    fn begins_anew(self, between: impl FnOnce()) -> Self {
        let Self { rig, daemon } = self;
        assert_eq!(daemon.stop().code, 0);
        between();
        let daemon = rig.start();
        Self { rig, daemon }
    }

    /// Kills the daemon; `between` is done before the next one starts.
    fn dies(self, between: impl FnOnce()) -> Self {
        let Self { rig, daemon } = self;
        daemon.kill();
        between();
        let daemon = rig.start();
        Self { rig, daemon }
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// R0-38, R0-39, R0-42, R0-49, R0-50, R0-54, R1-12 … R1-15, R1-18, F.2: what culture's clients send
/// is answered in the bytes that they expect, at the place where they look.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn the_frames_of_cultures_clients_are_answered_in_their_form() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    assert_eq!(mode(&scene.rig.run("gangline-lab-ada.sock")), 0o600);
    assert_eq!(mode(&scene.rig.run("")), 0o700);
    let mut ipc = Ipc::dial(&scene.rig.run("culture-lab-ada.sock"));
    let table = [
        (
            r##"{"type":"irc_send","id":"0b6e2f4c-6a2e-4a9b-8f5e-2d1c9a7b3e10","channel":"#general","message":"hello"}"##,
            r#"{"type":"response","id":"0b6e2f4c-6a2e-4a9b-8f5e-2d1c9a7b3e10","ok":true,"data":{}}"#,
        ),
        (
            r#"{"type":"irc_send","id":"a","channel":"alice","message":"in private"}"#,
            r#"{"type":"response","id":"a","ok":true,"data":{}}"#,
        ),
        (
            r##"{"type":"irc_send","id":"b","channel":"#nowhere","message":"hello"}"##,
            r##"{"type":"response","id":"b","ok":false,"error":"Not joined to #nowhere"}"##,
        ),
        (
            r#"{"type":"irc_send","id":"c","message":"hello"}"#,
            r#"{"type":"response","id":"c","ok":false,"error":"Missing 'channel'"}"#,
        ),
        (
            r##"{"type":"irc_send","id":"d","channel":"#general"}"##,
            r#"{"type":"response","id":"d","ok":false,"error":"Missing 'message'"}"#,
        ),
        (
            r##"{"type":"irc_send","id":"e","channel":"#general","message":"@alice @lab-ada @ada @nobody: look, a@b.example"}"##,
            r#"{"type":"response","id":"e","ok":true,"data":{},"warnings":["Mentioned nick not found: nobody"]}"#,
        ),
        (
            r#"{"type":"irc_join","id":"f","channel":"general"}"#,
            r#"{"type":"response","id":"f","ok":false,"error":"Channel name must start with '#'"}"#,
        ),
        (
            r#"{"type":"dance","id":"g"}"#,
            r#"{"type":"response","id":"g","ok":false,"error":"Unknown message type: 'dance'"}"#,
        ),
        (
            r##"{"type":"irc_thread_create","id":"h","channel":"#general","thread":"t","message":"x"}"##,
            r#"{"type":"response","id":"h","ok":false,"error":"threads are not supported"}"#,
        ),
        (
            r##"{"type":"irc_read","id":"i","channel":"#general","limit":50}"##,
            r#"{"type":"response","id":"i","ok":true,"data":{"messages":[],"remaining":0}}"#,
        ),
        (
            r##"{"type":"irc_read","id":"j","channel":"#nowhere"}"##,
            r##"{"type":"response","id":"j","ok":true,"data":{"messages":[],"remaining":0},"warnings":["Not joined to #nowhere"]}"##,
        ),
        (
            r##"{"type":"irc_read","id":"j0","channel":"#general","limit":0}"##,
            r#"{"type":"response","id":"j0","ok":true,"data":{"messages":[],"remaining":0}}"#,
        ),
        (
            r#"{"type":"irc_send","id":"b1","channel":"ghost","message":"hello"}"#,
            r#"{"type":"response","id":"b1","ok":false,"error":"nobody is called ghost here"}"#,
        ),
        (
            r#"{"type":"irc_channels","id":17}"#,
            r##"{"type":"response","id":17,"ok":true,"data":{"channels":["#general"],"members":{"#general":2}}}"##,
        ),
        (
            r#"{"type":"irc_channels","id":"k"}"#,
            r##"{"type":"response","id":"k","ok":true,"data":{"channels":["#general"],"members":{"#general":2}}}"##,
        ),
        (
            r#"{"type":"pause","id":"l"}"#,
            r#"{"type":"response","id":"l","ok":false,"error":"this needs the owner's token"}"#,
        ),
        (
            r#"{"type":"status","id":"m","token":"glt_00000000000000000000000000000000"}"#,
            r#"{"type":"response","id":"m","ok":false,"error":"wrong or outdated token"}"#,
        ),
        (
            "[1]",
            r#"{"type":"response","id":null,"ok":false,"error":"the request is not a JSON object"}"#,
        ),
    ];
    for (request, response) in table {
        assert_eq!(ipc.exchange(request), response, "{request}");
    }
    assert_eq!(alice.hears(ADA, "#general", "hello"), "hello");
    assert_eq!(alice.hears(ADA, "alice", "in private"), "in private");
}

/// R0-40, R1-19, R1-27, C19: what others said, oldest first, the agent's own lines among them only
/// where they are asked for; and the same of a correspondent. A look moves nothing.
#[test]
fn the_agent_reads_what_was_said_since_it_last_read() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    for number in 0..5 {
        alice.say("#general", &format!("line {number}"));
    }
    // Two connections: what one says first is first only when the other has heard it.
    ipc.has_unread("#general", 5);
    ipc.ok(json!({"type": "irc_send", "channel": "#general", "message": "mine"}));
    alice.hears(ADA, "#general", "mine");
    alice.send("PRIVMSG #general :\u{1}ACTION waves\u{1}");
    alice.send("NOTICE #general :a program notes something");
    alice.say("#general", "the end");
    let unread = eventually("seven unread lines", || {
        let status = ipc.ok(json!({"type": "status"}));
        (status["unread"]["#general"] == 7).then_some(status)
    });
    assert_eq!(unread["unread"], json!({"#general": 7}));
    let said = |texts: &[&str]| -> Vec<String> {
        texts.iter().map(|text| format!("<alice> {text}")).collect()
    };
    let look = |channel: &str, own: bool| json!({"type": "irc_read", "channel": channel, "peek": true, "own": own});
    let texts = |data: &Value| -> Vec<String> {
        let lines = data["messages"].as_array().unwrap().iter();
        lines.map(|line| line["text"].as_str().unwrap().to_owned()).collect()
    };
    let seen = ipc.ok(look("#general", true));
    let all = ["line 0", "line 1", "line 2", "line 3", "line 4", "mine", "/me waves", "the end"];
    assert_eq!((texts(&seen), &seen["remaining"]), (all.map(str::to_owned).into(), &json!(7)));
    assert!(!texts(&ipc.ok(look("#general", false))).contains(&"mine".to_owned()));
    assert_eq!(ipc.read("#General", 2), (said(&["line 0", "line 1"]), 5));
    let newest = json!({"type": "irc_read", "channel": "#general", "limit": 2, "latest": true});
    let newest = ipc.ok(newest);
    assert_eq!(newest["messages"][0]["text"], "/me waves");
    assert_eq!(
        (&newest["messages"][1]["text"], &newest["remaining"]),
        (&json!("the end"), &json!(0))
    );
    assert_eq!(ipc.read("#general", 50), (vec![], 0));

    alice.say(ADA, "say exactly heard");
    alice.hears(ADA, "alice", "heard");
    // The agent was asked it: it is there for who looks back, and is not read once more.
    assert_eq!(ipc.read("alice", 50), (vec![], 0));
    eventually("the agent's own answer", || {
        (texts(&ipc.ok(look("alice", true))) == ["say exactly heard", "heard"]).then_some(())
    });
    assert_eq!(ipc.read("nobody", 50), (vec![], 0));
}

/// R0-44, R0-52, R1-26, C28: `activity` and the sentence tell the truth, in a turn and out of one; no
/// model is asked.
#[test]
fn the_status_is_true_in_a_turn_and_out_of_one() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    let idle = ipc.ok(json!({"type": "status", "query": true}));
    for (field, value) in [
        ("nick", json!(ADA)),
        ("running", json!(true)),
        ("paused", json!(false)),
        ("circuit_open", json!(false)),
        ("turn_count", json!(0)),
        ("last_activation", json!(null)),
        ("activity", json!("idle")),
        ("description", json!("waits to be asked")),
        ("phase", json!("idle")),
        ("pid", json!(std::process::id())),
        ("needs_login", json!(false)),
        ("degraded", json!(false)),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
    ] {
        assert_eq!(idle[field], value, "{field} of {idle}");
    }
    alice.say("#general", "@lab-ada shell: until [ -e go ]; do sleep 0.05; done");
    let busy = eventually("a tool that runs", || {
        let status = ipc.ok(json!({"type": "status", "query": true}));
        status["description"].as_str()?.starts_with("runs Bash").then_some(status)
    });
    let sentence = busy["description"].as_str().unwrap();
    assert!(sentence.starts_with("runs Bash `until [ -e go ]; do sleep 0.05; done` since "));
    assert!(sentence.contains(", on m1 for alice in #general since "), "{sentence}");
    assert_eq!((&busy["activity"], &busy["phase"]), (&json!("working"), &json!("working")));
    assert!(busy["last_activation"].as_f64().unwrap() > 1.7e9);
    // The store has it a moment after the daemon, for those who look from outside.
    let works_on = "SELECT json_extract(status_json, '$.task.message') FROM agents";
    scene.rig.sees(works_on, &["m1"]);
    alice.say("#general", "@lab-ada status");
    let told = alice.hears(ADA, "#general", "runs Bash");
    assert!(told.contains("on m1 for alice in #general"), "{told}");
    // The next turn follows at once, and is told as well.
    alice.say("#general", "@lab-ada shell: until [ -e on ]; do sleep 0.05; done");
    ipc.sees("a message that waits", |status| status["pending"] == 1);
    scene.lets("go");
    alice.hears(ADA, "#general", "the shell is done");
    let next = eventually("the next turn", || {
        let status = ipc.ok(json!({"type": "status", "query": true}));
        (status["turn_count"] == 1 && status["phase"] == "working").then_some(status)
    });
    assert!(next["description"].as_str().unwrap().contains("on m2 for alice"), "{next}");
    scene.rig.sees(works_on, &["m2"]);
    scene.lets("on");
    alice.hears(ADA, "#general", "the shell is done");
    ipc.sees("idleness", |status| status["activity"] == "idle" && status["turn_count"] == 2);
}
