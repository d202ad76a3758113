//! What [`crate::fuzzing`] is given of the reader.

use rmcp::model::ServerJsonRpcMessage;
use serde_json::Value;

use super::answers::{self, Answers};

/// Returns the names and data of the events that come out.
pub(in crate::mcp) fn answers<'a>(
    limit: usize,
    asked: Option<Value>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<(Option<String>, Option<String>)> {
    let mut answers = Answers::new(limit, asked);
    let mut all = Vec::new();
    for piece in pieces {
        answers.push(piece);
        all.extend(std::iter::from_fn(|| answers.next()));
    }
    answers.end();
    all.extend(std::iter::from_fn(|| answers.next()));
    all.into_iter().map(|sse| (sse.event, sse.data)).collect()
}

/// Reads a body.
pub(in crate::mcp) fn whole(
    body: &[u8],
    asked: &Value,
) -> serde_json::Result<ServerJsonRpcMessage> {
    answers::whole(body, asked)
}
