//! The wires: each translates requests into [`Conversation`](crate::reply::Conversation) and
//! answers into bytes with pauses between them. Pure; the server plays what they give.

use std::time::Duration;

pub(crate) mod anthropic;

/// One piece of a response body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chunk {
    /// Bytes, sent at once.
    Bytes(String),
    /// Nothing for so long; pings are sent where the wire has them.
    Pause(Duration),
    /// The connection breaks.
    Cut,
}

/// Cuts the body after `bytes` bytes.
pub(crate) fn cut_after(chunks: Vec<Chunk>, bytes: usize) -> Vec<Chunk> {
    let mut left = bytes;
    let mut out = Vec::new();
    for chunk in chunks {
        match chunk {
            Chunk::Bytes(text) if text.len() >= left => {
                let end = (0..=left).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
                out.push(Chunk::Bytes(text[..end].to_owned()));
                break;
            }
            Chunk::Bytes(text) => {
                left -= text.len();
                out.push(Chunk::Bytes(text));
            }
            other @ (Chunk::Pause(_) | Chunk::Cut) => out.push(other),
        }
    }
    out.push(Chunk::Cut);
    out
}
