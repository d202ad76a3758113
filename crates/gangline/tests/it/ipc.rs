//! The daemon's control socket, where it takes processes: foreign servers (`ipc/places.rs`), the
//! shell's client (`ipc/turns.rs`), memory (`ipc/bounds.rs`), starts and ends (`ipc/lives.rs`). What
//! is said over it is tested in `gangline-agent`.

mod bounds;
mod lives;
mod places;
mod turns;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use gangline_testkit::{Running, Stage, eventually, wait::PATIENCE};
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

    /// Returns the next line; empty when the daemon has closed the connection.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line
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
