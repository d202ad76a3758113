//! Bodies of answers: bytes, pauses and cuts, in the order in which a reply has them.

use std::time::Duration;

use serde_json::Value;

use crate::reply::{Cut, Reply, Step};

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

/// One block of a reply as a wire writes it: a step that says something.
#[derive(Debug, Clone, Copy)]
pub(super) enum Block<'a> {
    /// Text.
    Text(&'a str),
    /// Thinking.
    Thinking(&'a str),
    /// A call of a tool.
    ToolUse {
        /// The tool.
        name: &'a str,
        /// What it is given.
        input: &'a Value,
    },
}

/// Where a block stands in its reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    /// Among the steps, delays included: ids are made of it.
    pub(super) step: usize,
    /// Among the blocks.
    pub(super) block: usize,
}

/// Returns the blocks of a reply.
pub(super) fn blocks(reply: &Reply) -> impl Iterator<Item = (At, Block<'_>)> {
    let mut block = 0;
    reply.steps.iter().enumerate().filter_map(move |(step, said)| {
        let at = At { step, block };
        block += 1;
        match said {
            Step::Text(text) => Some((at, Block::Text(text))),
            Step::Thinking(text) => Some((at, Block::Thinking(text))),
            Step::ToolUse { name, input } => Some((at, Block::ToolUse { name, input })),
            Step::Delay(_) => {
                block -= 1;
                None
            }
        }
    })
}

/// Returns a stream: `begin`, what `block` writes for each block, the delays between them, and the
/// events of `end`, unless the connection breaks after some block before. A cut after some byte is
/// made by whoever has all bytes.
pub(super) fn stream(
    reply: &Reply,
    begin: Vec<Chunk>,
    mut block: impl FnMut(&mut Vec<Chunk>, At, Block<'_>),
    end: impl FnOnce(&mut Vec<Chunk>),
) -> Vec<Chunk> {
    let mut out = begin;
    let mut ahead = blocks(reply).peekable();
    let mut said = 0;
    for (number, step) in reply.steps.iter().enumerate() {
        if reply.cut == Some(Cut::Blocks(said)) {
            break;
        }
        if let Step::Delay(delay) = step {
            out.push(Chunk::Pause(*delay));
        } else if let Some((at, next)) = ahead.next_if(|(at, _)| at.step == number) {
            block(&mut out, at, next);
            said += 1;
        }
    }
    match reply.cut {
        Some(Cut::Blocks(_)) => out.push(Chunk::Cut),
        Some(Cut::Bytes(_)) | None => end(&mut out),
    }
    out
}

/// Returns an answer that is one object: all delays, then the object.
pub(super) fn whole(reply: &Reply, object: Value) -> Vec<Chunk> {
    let delays = reply.steps.iter().filter_map(|step| match step {
        Step::Delay(delay) => Some(Chunk::Pause(*delay)),
        Step::Text(_) | Step::Thinking(_) | Step::ToolUse { .. } => None,
    });
    let object = json_text(object);
    let half = object.len() / 2;
    let chunks = delays.chain([Chunk::Bytes(object)]).collect();
    match reply.cut {
        // There are no blocks to count in one object.
        Some(Cut::Blocks(_)) => cut_after(chunks, half),
        Some(Cut::Bytes(_)) | None => chunks,
    }
}

/// Cuts the body after `bytes` bytes.
pub(super) fn cut_after(chunks: Vec<Chunk>, bytes: usize) -> Vec<Chunk> {
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

/// Returns the same bytes for the same value, however `serde_json` was built.
pub(super) fn json_text(mut value: Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

/// Returns a server-sent event that has a name.
pub(super) fn event(name: &str, data: Value) -> Chunk {
    Chunk::Bytes(format!("event: {name}\ndata: {}\n\n", json_text(data)))
}

/// How many characters of text one delta carries.
const TEXT_DELTA: usize = 16;
/// How many characters of a tool's input one delta carries.
const JSON_DELTA: usize = 24;

/// Splits a text as its deltas carry it.
pub(super) fn text_pieces(text: &str) -> impl Iterator<Item = &str> {
    pieces(text, TEXT_DELTA)
}

/// Splits a tool's input as its deltas carry it.
pub(super) fn input_pieces(text: &str) -> impl Iterator<Item = &str> {
    pieces(text, JSON_DELTA)
}

/// Splits text after every `size` characters.
fn pieces(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Returns what a tool is given as text: a text as it is, else JSON.
pub(super) fn input_text(input: &Value) -> String {
    match input {
        Value::String(text) => text.clone(),
        other => json_text(other.clone()),
    }
}
