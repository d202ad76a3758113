//! Events of the harness in the form of the wire, for every client that listens.

use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use gangline_os::clock::SharedClock;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::broadcast;

use crate::event::{EventHandler, Status};
use crate::tool::{ToolCall, ToolResult};

use super::kept::{Event, Kept, Missed};

/// How many events a client may lag behind before it misses some.
const BACKLOG: usize = 1024;

/// An [`EventHandler`] that tells the clients of [`serve`](super::serve).
pub struct Feed {
    clock: SharedClock,
    clients: broadcast::Sender<Event>,
    kept: Mutex<Kept>,
}

/// The events of R4-20; the order of fields is the order on the wire.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Wire<'a> {
    User {
        content: &'a str,
        timestamp: i64,
    },
    Text {
        content: &'a str,
        timestamp: i64,
    },
    ToolCall {
        id: &'a str,
        name: &'a str,
        input: &'a Value,
        timestamp: i64,
    },
    ToolResult {
        id: &'a str,
        result: &'a str,
        #[serde(rename = "isError")]
        is_error: bool,
        timestamp: i64,
    },
    Reasoning {
        content: &'a str,
        timestamp: i64,
    },
    Status {
        state: String,
        message: &'a str,
        timestamp: i64,
    },
}

impl Feed {
    /// Makes a feed without clients.
    pub fn new(clock: SharedClock) -> Self {
        let life = format!("{:x}", clock.now().0);
        let kept = Mutex::new(Kept::new(life));
        Self { clock, clients: broadcast::Sender::new(BACKLOG), kept }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.clients.subscribe()
    }

    /// Returns what came after an event, and what comes from now on; nothing in between is missed.
    pub(super) fn subscribe_after(&self, id: &str) -> (Missed, broadcast::Receiver<Event>) {
        let kept = self.kept();
        (kept.after(id), self.clients.subscribe())
    }

    /// Returns an event's frame with its id.
    pub(super) fn with_id(&self, event: &Event) -> Bytes {
        self.kept().with_id(event)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> i64 {
        self.clock.now().as_seconds()
    }

    fn tell(&self, event: &Wire<'_>) {
        match serde_json::to_string(event) {
            Ok(json) => {
                let mut kept = self.kept();
                let event = kept.push(Bytes::from(format!("data: {json}\n\n")));
                // An error means that nobody listens.
                drop(self.clients.send(event));
            }
            Err(error) => tracing::error!(%error, "an event cannot be written as JSON"),
        }
    }
}

impl EventHandler for Feed {
    fn on_user(&self, content: &str) {
        self.tell(&Wire::User { content, timestamp: self.now() });
    }

    fn on_text(&self, text: &str) {
        self.tell(&Wire::Text { content: text, timestamp: self.now() });
    }

    fn on_tool_call(&self, call: &ToolCall) {
        let ToolCall { id, name, input } = call;
        self.tell(&Wire::ToolCall { id, name, input, timestamp: self.now() });
    }

    fn on_tool_result(&self, result: &ToolResult) {
        let ToolResult { id, content, is_error } = result;
        let event =
            Wire::ToolResult { id, result: content, is_error: *is_error, timestamp: self.now() };
        self.tell(&event);
    }

    fn on_reasoning(&self, content: &str) {
        self.tell(&Wire::Reasoning { content, timestamp: self.now() });
    }

    fn on_status(&self, state: Status, message: &str) {
        let state = state.to_string();
        self.tell(&Wire::Status { state, message, timestamp: self.now() });
    }
}
