//! What must hold for any bytes of an MCP server; see [`crate::fuzzing`].

#![allow(clippy::expect_used, reason = "all of this is a test")]

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures::FutureExt as _;
use gangline_os::json;
use rmcp::model::ServerJsonRpcMessage;
use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};

use super::http::fuzzing::{answers, whole};
use super::pump::pump;

/// The longest message, in bytes.
const LIMIT: usize = 2048;

/// Lines of a program: each comes out as one line with its id, whatever the pieces are.
pub fn mcp_stdio(bytes: &[u8]) {
    let Some((cut, text)) = bytes.split_first() else { return };
    let out = pumped(text, usize::MAX);
    assert_eq!(out, pumped(text, usize::from(*cut) + 1), "it depends on the pieces");
    let out = String::from_utf8(out).expect("what is passed on is text");
    let text = String::from_utf8_lossy(text);
    for (line, out) in text.lines().zip(out.lines()).filter(|(line, _)| line.len() <= LIMIT) {
        let id = json::find(line, &["id"]).and_then(|id| serde_json::from_str::<Value>(id).ok());
        let read = json::from_str::<Value>(line).ok();
        // Of two ids the scan finds the first, and the parser reads the last. We never send a fraction as an id.
        let ours = |id: &Value| id.is_string() || id.is_i64();
        let same = |id: &Value| read.as_ref().is_none_or(|it| it["id"] == *id);
        if let Some(id) = id.filter(|id| ours(id) && same(id)) {
            let out: Value = serde_json::from_str(out).expect("what has an id is a message");
            assert_eq!(out["id"], id, "another id: {line}");
        }
    }
}

fn pumped(text: &[u8], cut: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let said = Arc::<Mutex<String>>::default();
    pump(Pieces { text, cut }, &mut out, LIMIT, said)
        .now_or_never()
        .expect("nothing is waited for");
    out
}

/// Bytes that come in pieces.
struct Pieces<'a> {
    text: &'a [u8],
    cut: usize,
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let length = self.text.len().min(self.cut).min(buffer.remaining());
        let (piece, rest) = self.text.split_at(length);
        buffer.put_slice(piece);
        self.text = rest;
        Poll::Ready(Ok(()))
    }
}

/// A response over HTTP, as a stream and as a body: what comes out is a message, whatever the pieces
/// are, and whoever asked gets an answer.
pub fn mcp_http(bytes: &[u8]) {
    let Some((cut, body)) = bytes.split_first() else { return };
    let asked = (cut % 2 == 1).then(|| Value::from(7));
    let all = answers(LIMIT, asked.clone(), body.chunks(usize::from(*cut) + 1));
    assert_eq!(all, answers(LIMIT, asked, [body]), "it depends on the pieces");
    for (name, data) in all {
        if matches!(name.as_deref(), None | Some("message"))
            && let Some(data) = data
        {
            serde_json::from_str::<ServerJsonRpcMessage>(&data).expect("a message comes out");
        }
    }
    let answer = whole(body, &Value::from(7)).expect("a body is a message, or an error is said");
    if let ServerJsonRpcMessage::Error(error) = answer {
        assert!(error.id.is_some(), "an error that nobody hears of");
    }
}
