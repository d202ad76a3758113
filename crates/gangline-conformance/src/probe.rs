//! The daemon's side of its own tools: one tool that keeps what it was called with.

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::mpsc;

use gangline_runtime::{ToolCall, ToolHost, ToolSpec};

/// Calls that may wait to be looked at; a call beyond them is refused.
const CALLS: usize = 64;
/// The text that the tool refuses.
pub(super) const REFUSED: &str = "refuse";
/// What the model is told then.
pub(super) const REFUSAL: &str = "the room is closed on Sundays";

/// A host with the tool `send`, which no permission is asked for.
pub(super) struct Probe(mpsc::Sender<ToolCall>);

impl Probe {
    pub(super) fn new() -> (Self, mpsc::Receiver<ToolCall>) {
        let (sender, calls) = mpsc::channel(CALLS);
        (Self(sender), calls)
    }
}

#[async_trait]
impl ToolHost for Probe {
    fn tools(&self) -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: "send",
            description: "Says something in a room.",
            input_schema: json!({
                "type": "object",
                "properties": { "to": { "type": "string" }, "text": { "type": "string" } },
                "required": ["to", "text"],
            }),
            output_schema: None,
        }]
    }

    async fn call(&self, call: ToolCall) -> Result<String, String> {
        let text = call.input["text"].as_str().unwrap_or_default().to_owned();
        self.0.try_send(call).map_err(|error| error.to_string())?;
        if text.contains(REFUSED) { Err(REFUSAL.to_owned()) } else { Ok(format!("posted {text}")) }
    }
}
