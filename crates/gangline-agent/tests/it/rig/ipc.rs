//! A client of the daemon's control socket.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    path::Path,
};

use gangline_testkit::{eventually, wait::PATIENCE};
use serde_json::Value;
use uuid::Uuid;

/// One connection.
pub(crate) struct Ipc {
    stream: BufReader<UnixStream>,
}

impl Ipc {
    pub(crate) fn dial(path: &Path) -> Self {
        let stream = eventually("a daemon that listens", || UnixStream::connect(path).ok());
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    /// Sends a request and does not wait; returns its id.
    pub(crate) fn send(&mut self, mut request: Value) -> String {
        let id = Uuid::new_v4().to_string();
        request["id"] = id.clone().into();
        self.stream.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
        id
    }

    /// Returns the next frame; nothing when the daemon has closed the connection.
    pub(crate) fn frame(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
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
}
