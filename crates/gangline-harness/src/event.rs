//! What a harness tells while it works (R4-05, R4-12 … R4-14, C25).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::client::error::ApiError;
use crate::compaction::Compaction;
use crate::tool::{ToolCall, ToolResult};
use crate::wire::{Response, Usage};

/// What the harness does now; `Display` is the word on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A request is under way.
    Thinking,
    /// A tool runs, or waits for its authorization.
    RunningTool,
    /// No prompt is running.
    Idle,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Thinking => "thinking",
            Self::RunningTool => "running tool",
            Self::Idle => "idle",
        })
    }
}

/// A request that failed and will be repeated.
#[derive(Debug)]
pub struct Retry<'a> {
    /// 1 for the first repetition.
    pub attempt: u32,
    /// Why it is repeated.
    pub error: &'a ApiError,
    /// Pause before it.
    pub wait: Duration,
}

/// Receives events, in order, synchronously on the harness's own task, each only when the block
/// that it tells of is complete and in the session log. An implementation must not block. All
/// methods do nothing by default.
pub trait EventHandler: Send + Sync {
    /// A prompt was accepted, or a text that was added to it came into the conversation.
    fn on_user(&self, _content: &str) {}
    /// A text block is complete.
    fn on_text(&self, _text: &str) {}
    /// A tool_use block is complete; the tool has not run yet.
    fn on_tool_call(&self, _call: &ToolCall) {}
    /// A tool ended, was denied or is not known. Calls that were never tried have none.
    fn on_tool_result(&self, _result: &ToolResult) {}
    /// A thinking block is complete.
    fn on_reasoning(&self, _content: &str) {}
    /// The harness does something else now; `message` is for people.
    fn on_status(&self, _state: Status, _message: &str) {}
    /// What one request cost.
    fn on_usage(&self, _usage: &Usage) {}
    /// A response ended: all its complete blocks, thinking with signature and unknown ones
    /// included. Its `stop_reason` is `None` if it was cut off.
    fn on_assistant_message(&self, _response: &Response) {}
    /// A request is about to be repeated; no block of the failed one was told.
    fn on_retry(&self, _retry: &Retry<'_>) {}
    /// The conversation is being shortened, was, or could not be. What that cost is told here and
    /// not by [`on_usage`](Self::on_usage), which is about the conversation itself.
    fn on_compaction(&self, _step: &Compaction<'_>) {}
}

/// Hands each event to several handlers, in their order.
pub struct Fanout(pub Vec<Arc<dyn EventHandler>>);

impl Fanout {
    fn each(&self, tell: impl Fn(&dyn EventHandler)) {
        self.0.iter().for_each(|handler| tell(handler.as_ref()));
    }
}

impl EventHandler for Fanout {
    fn on_user(&self, content: &str) {
        self.each(|handler| handler.on_user(content));
    }
    fn on_text(&self, text: &str) {
        self.each(|handler| handler.on_text(text));
    }
    fn on_tool_call(&self, call: &ToolCall) {
        self.each(|handler| handler.on_tool_call(call));
    }
    fn on_tool_result(&self, result: &ToolResult) {
        self.each(|handler| handler.on_tool_result(result));
    }
    fn on_reasoning(&self, content: &str) {
        self.each(|handler| handler.on_reasoning(content));
    }
    fn on_status(&self, state: Status, message: &str) {
        self.each(|handler| handler.on_status(state, message));
    }
    fn on_usage(&self, usage: &Usage) {
        self.each(|handler| handler.on_usage(usage));
    }
    fn on_assistant_message(&self, response: &Response) {
        self.each(|handler| handler.on_assistant_message(response));
    }
    fn on_retry(&self, retry: &Retry<'_>) {
        self.each(|handler| handler.on_retry(retry));
    }
    fn on_compaction(&self, step: &Compaction<'_>) {
        self.each(|handler| handler.on_compaction(step));
    }
}

/// The handler of a harness that was given none.
pub(crate) struct Silent;

impl EventHandler for Silent {}
