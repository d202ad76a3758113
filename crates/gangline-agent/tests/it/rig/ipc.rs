//! A client of the daemon's control socket.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    path::Path,
};

use gangline_testkit::{eventually, eventually_seeing, wait::PATIENCE};
use serde_json::{Value, json};
use uuid::Uuid;

/// One connection.
pub(crate) struct Ipc {
    stream: BufReader<UnixStream>,
}

impl Ipc {
    pub(crate) fn dial(path: &Path) -> Self {
        eventually("a daemon that listens", || Self::try_dial(path))
    }

    pub(super) fn try_dial(path: &Path) -> Option<Self> {
        let stream = UnixStream::connect(path).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Some(Self { stream: BufReader::new(stream) })
    }

    /// Sends a request and does not wait; returns its id.
    pub(crate) fn send(&mut self, mut request: Value) -> String {
        let id = Uuid::new_v4().to_string();
        request["id"] = id.clone().into();
        self.stream.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
        id
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// When the daemon has closed the connection.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Returns the next line without its end; empty when the daemon has closed the connection.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end_matches('\n').to_owned()
    }

    /// Sends a line byte for byte and returns the next one.
    pub(crate) fn exchange(&mut self, line: &str) -> String {
        self.write(format!("{line}\n").as_bytes()).unwrap();
        self.line()
    }

    /// Returns the next frame; nothing when the daemon has closed the connection.
    pub(crate) fn frame(&mut self) -> Option<Value> {
        let line = self.line();
        (!line.is_empty()).then(|| line.parse().unwrap())
    }

    pub(crate) fn ask(&mut self, request: Value) -> Value {
        let id = self.send(request);
        let response = self.frame().expect("a response");
        assert_eq!(response["id"], id.as_str(), "R0-54: {response}");
        response
    }

    pub(crate) fn ok(&mut self, request: Value) -> Value {
        let response = self.ask(request.clone());
        assert_eq!(response["ok"], true, "{request}: {response}");
        response["data"].clone()
    }

    /// Returns why a request is refused.
    pub(crate) fn error(&mut self, request: Value) -> String {
        let response = self.ask(request.clone());
        assert_eq!(response["ok"], false, "{request}: {response}");
        response["error"].as_str().unwrap().to_owned()
    }

    pub(crate) fn status(&mut self) -> Value {
        self.ok(json!({"type": "status"}))
    }

    /// Waits for a status of which this is true, and returns it.
    pub(crate) fn sees(&mut self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        eventually_seeing(what, || {
            let status = self.status();
            if is_so(&status) { Ok(status) } else { Err(status.to_string()) }
        })
    }

    /// Waits until so many lines of the place are unread.
    pub(crate) fn has_unread(&mut self, place: &str, count: u32) {
        self.sees(&format!("{count} unread lines"), |status| status["unread"][place] == count);
    }

    /// Reads a place and returns who said what, and how much is left.
    pub(crate) fn read(&mut self, place: &str, limit: u32) -> (Vec<String>, u64) {
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
