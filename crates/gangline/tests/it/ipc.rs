//! The daemon's control socket, as its clients see it: real frames to a real daemon, with a hub and
//! a scripted model behind it. `ipc/places.rs` is about channels, `ipc/turns.rs` about what belongs to a turn,
//! `ipc/bounds.rs` about crowds, `ipc/lives.rs` about restarts, `ipc/owner.rs` about the owner,
//! `ipc/settings.rs` about what the configuration says.

mod bounds;
mod lives;
mod owner;
mod places;
mod settings;
mod turns;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixStream},
    path::{Path, PathBuf},
};

use gangline_testkit::{Running, Stage, eventually, eventually_seeing, wait::PATIENCE};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_gangline");
const ADA: &str = "oak-ada";

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

/// A hub with one agent whose shell needs no permission.
struct Scene {
    stage: Stage,
    hub: Running,
}

impl Scene {
    fn open() -> Self {
        let stage = Stage::new(BINARY, &[ADA], Some(SCRIPT), ("", "permissions: bypass"));
        let hub = stage.up();
        Self { stage, hub }
    }

    fn socket(&self) -> PathBuf {
        self.stage.world.path("run/gangline-oak-ada.sock")
    }

    fn dial(&self) -> Ipc {
        Ipc::dial(&self.socket())
    }

    fn daemon(&self) -> i32 {
        eventually("one daemon", || {
            let found = self.stage.world.processes_like("daemon oak-ada");
            (found.len() == 1).then(|| found[0])
        })
    }

    fn kill_daemon(&self) {
        let pid = nix::unistd::Pid::from_raw(self.daemon());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    }

    /// Waits for a daemon of a later epoch that answers.
    fn next_life(&self, before: i64) -> Ipc {
        let nobody = || "nobody answers".to_owned();
        eventually_seeing("the next daemon", || {
            let mut ipc = Ipc::try_dial(&self.socket()).ok_or_else(nobody)?;
            let status = ipc.try_ask(json!({"type": "status"})).ok_or_else(nobody)?;
            let ready = status["data"]["phase"] == "idle";
            let later = status["data"]["epoch"].as_i64().is_some_and(|epoch| epoch > before);
            let home = ipc.try_ask(json!({"type": "irc_channels"})).ok_or_else(nobody)?;
            let is_home = home["data"]["channels"] == json!(["#general"]);
            if ready && later && is_home { Ok(ipc) } else { Err(format!("{status}\n{home}")) }
        })
    }

    /// Waits until a command that asks the store, not the daemon, describes the agent so: the store
    /// knows a moment after the daemon.
    fn is_told_outside(&self, part: &str) {
        self.stage.world.eventually_seeing(&format!("the status `…{part}…`"), || {
            let status = ["--config", &self.stage.config, "status", ADA, "--json"];
            let row = self.stage.world.run(&status).json();
            let told = row["description"].as_str().unwrap().contains(part);
            if told { Ok(()) } else { Err(row.to_string()) }
        });
    }

    fn owner(&self, request: Value) -> Value {
        let mut request = request;
        request["token"] = self.stage.token().into();
        request
    }
}

/// A client of the socket.
struct Ipc {
    stream: BufReader<UnixStream>,
}

impl Ipc {
    fn dial(path: &Path) -> Self {
        eventually("a daemon that listens", || Self::try_dial(path))
    }

    fn try_dial(path: &Path) -> Option<Self> {
        let stream = UnixStream::connect(path).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Some(Self { stream: BufReader::new(stream) })
    }

    fn send(&mut self, line: &str) {
        self.stream.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Returns the next line; empty when the daemon has closed the connection.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line
    }

    /// Sends a frame byte for byte and returns what comes byte for byte.
    fn exchange(&mut self, line: &str) -> String {
        self.send(line);
        self.line().trim_end_matches('\n').to_owned()
    }

    fn try_ask(&mut self, request: Value) -> Option<Value> {
        let id = uuid::Uuid::new_v4().to_string();
        let mut request = request;
        request["id"] = id.clone().into();
        self.stream.get_mut().write_all(format!("{request}\n").as_bytes()).ok()?;
        let mut line = String::new();
        self.stream.read_line(&mut line).ok()?;
        let response: Value = serde_json::from_str(&line).ok()?;
        assert_eq!(response["id"], id.as_str(), "R0-54: {line}");
        Some(response)
    }

    fn ask(&mut self, request: Value) -> Value {
        self.try_ask(request).expect("a response")
    }

    fn ok(&mut self, request: Value) -> Value {
        let response = self.ask(request.clone());
        assert_eq!(response["ok"], true, "{request}: {response}");
        response["data"].clone()
    }

    fn error(&mut self, request: Value) -> String {
        let response = self.ask(request.clone());
        assert_eq!(response["ok"], false, "{request}: {response}");
        response["error"].as_str().unwrap().to_owned()
    }

    /// Reads a place and returns who said what.
    fn read(&mut self, place: &str, limit: u32) -> (Vec<String>, u64) {
        let data = self.ok(json!({"type": "irc_read", "channel": place, "limit": limit}));
        let text = |line: &Value| {
            let (nick, text) = (line["nick"].as_str().unwrap(), line["text"].as_str().unwrap());
            assert!(line["timestamp"].as_f64().unwrap() > 1.7e9, "{line}");
            format!("<{nick}> {text}")
        };
        let lines = data["messages"].as_array().unwrap().iter().map(text).collect();
        (lines, data["remaining"].as_u64().unwrap())
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// R0-38, R0-39, R0-42, R0-49, R0-50, R0-54, R1-12 … R1-15, R1-18, F.2: what culture's clients send
/// is answered in the bytes that they expect, at the place where they look.
#[test]
fn the_frames_of_cultures_clients_are_answered_in_their_form() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    assert_eq!(mode(&scene.socket()), 0o600);
    assert_eq!(mode(scene.socket().parent().unwrap()), 0o700);
    let mut ipc = Ipc::dial(&scene.stage.world.path("run/culture-oak-ada.sock"));
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
            r##"{"type":"irc_send","id":"e","channel":"#general","message":"@alice @oak-ada @ada @nobody: look, a@b.example"}"##,
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
    let mut alice = scene.stage.member("alice");
    let mut ipc = scene.dial();
    for number in 0..5 {
        alice.say("#general", &format!("line {number}"));
    }
    // Two connections: what one says first is first only when the other has heard it.
    eventually("five unread lines", || {
        let status = ipc.ok(json!({"type": "status"}));
        (status["unread"]["#general"] == 5).then_some(())
    });
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

/// R0-41, C8: the question is said and recorded for people; the waiting comes with questions.
#[test]
fn a_question_is_said_and_recorded() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let mut ipc = scene.dial();
    for field in ["message", "question"] {
        let mut ask = json!({"type": "irc_ask", "channel": "#general", "timeout": 30});
        ask[field] = format!("which {field}?").into();
        let response = ipc.ask(ask);
        assert_eq!(response["data"], json!({"answer": null, "asked": true}));
        assert_eq!(response["warnings"].as_array().unwrap().len(), 1, "{response}");
        alice.hears(ADA, "#general", &format!("which {field}?"));
    }
    let zero = json!({"type": "irc_ask", "channel": "#general", "message": "x", "timeout": 0});
    assert_eq!(ipc.error(zero), "'timeout' must be a number of seconds above 0");
    let nowhere = json!({"type": "irc_ask", "channel": "#x", "message": "x"});
    assert_eq!(ipc.error(nowhere), "Not joined to #x");
    let logs =
        scene.stage.world.run(&["--config", &scene.stage.config, "logs", ADA, "--json"]).ok();
    let text = r#"[QUESTION] oak-ada needs input: \"which message?\""#;
    assert!(logs.contains("agent_question") && logs.contains(text), "{logs}");
}

/// R0-44, R0-52, R1-26, C28: `activity` and the sentence tell the truth, in a turn and out of one; no
/// model is asked.
#[test]
fn the_status_is_true_in_a_turn_and_out_of_one() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
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
        ("pid", json!(scene.daemon())),
        ("needs_login", json!(false)),
        ("degraded", json!(false)),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
    ] {
        assert_eq!(idle[field], value, "{field} of {idle}");
    }
    alice.say("#general", "@oak-ada shell: until [ -e go ]; do sleep 0.05; done");
    let busy = eventually("a tool that runs", || {
        let status = ipc.ok(json!({"type": "status", "query": true}));
        status["description"].as_str()?.starts_with("runs Bash").then_some(status)
    });
    let sentence = busy["description"].as_str().unwrap();
    assert!(sentence.starts_with("runs Bash `until [ -e go ]; do sleep 0.05; done` since "));
    assert!(sentence.contains("Z, on m1 for alice in #general since "), "{sentence}");
    assert_eq!((&busy["activity"], &busy["phase"]), (&json!("working"), &json!("working")));
    assert!(busy["last_activation"].as_f64().unwrap() > 1.7e9);
    // From outside it is the same sentence.
    scene.is_told_outside("Z, on m1 for alice in #general since ");
    alice.say("#general", "@oak-ada status");
    let told = alice.hears(ADA, "#general", "runs Bash");
    assert!(told.contains("on m1 for alice in #general"), "{told}");
    // The next turn follows at once, and is told as well.
    alice.say("#general", "@oak-ada shell: until [ -e on ]; do sleep 0.05; done");
    eventually("a message that waits", || {
        (ipc.ok(json!({"type": "status"}))["pending"] == 1).then_some(())
    });
    let _ = scene.stage.world.file("work/go", "");
    alice.hears(ADA, "#general", "the shell is done");
    let next = eventually("the next turn", || {
        let status = ipc.ok(json!({"type": "status", "query": true}));
        (status["turn_count"] == 1 && status["phase"] == "working").then_some(status)
    });
    assert!(next["description"].as_str().unwrap().contains("on m2 for alice"), "{next}");
    scene.is_told_outside("on m2 for alice");
    let _ = scene.stage.world.file("work/on", "");
    alice.hears(ADA, "#general", "the shell is done");
    eventually("idleness", || {
        let status = ipc.ok(json!({"type": "status"}));
        (status["activity"] == "idle" && status["turn_count"] == 2).then_some(())
    });
}
