//! What holds on every wire: no request makes the reader panic, and a stream says what the whole
//! answer says.

mod refusals;
mod requests;
mod routes;
mod streams;

use serde_json::json;

use super::Chunk;
use crate::reply::{Reply, Step};

/// Returns chunks as text, one event after the other.
pub(super) fn shown(chunks: &[Chunk]) -> String {
    let show = |chunk: &Chunk| match chunk {
        Chunk::Bytes(text) => text.replace('\r', ""),
        Chunk::Pause(pause) => format!("<<{pause:?}>>\n"),
        Chunk::Cut => "<<cut>>\n".to_owned(),
    };
    chunks.iter().map(show).collect()
}

/// Returns a reply with something of everything, parallel calls included.
pub(super) fn everything() -> Reply {
    let call = |name: &str, input| Step::ToolUse { name: name.into(), input };
    Reply {
        steps: vec![
            Step::Thinking("Let me think about it.".into()),
            Step::Text("Grüße aus der Küche, 😀!".into()),
            Step::Delay(std::time::Duration::from_millis(5)),
            call("Bash", json!({"command": "echo hi && echo there"})),
            call("Nothing", json!({})),
        ],
        ..Reply::default()
    }
}
