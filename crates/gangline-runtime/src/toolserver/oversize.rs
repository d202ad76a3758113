//! Finds the id of a message that is too long to be kept, so that whoever waits for its answer
//! gets one. Pure; looks at every byte once and keeps a few of them.
//!
//! It follows strings and brackets and checks nothing else: of broken JSON it finds an id or none.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};

#[cfg(test)]
mod tests;

/// The longest key or id that is looked at, as it stands in the message.
const TOKEN_MAX: usize = 160;

/// What a line over the cap was.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Long {
    /// A request of this id.
    Request(Value),
    /// A whole object without an id: nobody waits for an answer.
    Notification,
    /// Nothing that can be answered.
    Unknown,
}

/// A reader that notes what became of the lines over its cap while they pass.
#[derive(Debug)]
pub(super) struct Watched<R> {
    reader: R,
    cap: u64,
    line: Scan,
    long: VecDeque<Long>,
}

impl<R> Watched<R> {
    pub(super) fn new(reader: R, cap: usize) -> Self {
        Self { reader, cap: cap as u64, line: Scan::default(), long: VecDeque::new() }
    }

    /// Returns what the next line over the cap was; they are given in order, each once.
    pub(super) fn long(&mut self) -> Long {
        // The last line of all has no line end.
        self.long.pop_front().unwrap_or_else(|| std::mem::take(&mut self.line).end())
    }

    fn pass(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte != b'\n' {
                self.line.take(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if line.length() > self.cap {
                self.long.push_back(line.end());
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.reader).poll_read(context, buffer))?;
        self.pass(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

/// Where in the outermost object a line is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum At {
    #[default]
    Begin,
    Key,
    Value,
    End,
}

/// One line so far.
#[derive(Debug, Default)]
struct Scan {
    bytes: u64,
    last: u8,
    at: At,
    depth: u32,
    /// Within a string; whether the byte before was a backslash.
    string: Option<bool>,
    /// The key or value of the outermost object that is being read, if it is short.
    token: Vec<u8>,
    /// The key was `id`.
    is_id: bool,
    id: Option<Value>,
    /// There is an id that is too long to be kept.
    unknown: bool,
}

impl Scan {
    /// Returns the length without the line end.
    fn length(&self) -> u64 {
        self.bytes - u64::from(self.last == b'\r')
    }

    fn take(&mut self, byte: u8) {
        self.bytes += 1;
        self.last = byte;
        if let Some(escaped) = self.string {
            self.note(byte);
            self.string = match (escaped, byte) {
                (true, _) => Some(false),
                (false, b'"') => None,
                (false, other) => Some(other == b'\\'),
            };
            return;
        }
        match byte {
            b'"' => {
                self.string = Some(false);
                self.note(byte);
            }
            b'{' | b'[' => {
                self.note(byte);
                self.depth += 1;
                if self.depth == 1 && self.at == At::Begin && byte == b'{' {
                    self.at = At::Key;
                    self.token.clear();
                }
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.value_ends(At::End);
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 && self.at == At::Key => {
                self.is_id = self.token == *b"\"id\"";
                self.token.clear();
                self.at = At::Value;
            }
            b',' if self.depth == 1 => self.value_ends(At::Key),
            b' ' | b'\t' | b'\r' => {}
            other => self.note(other),
        }
    }

    fn note(&mut self, byte: u8) {
        if self.depth <= 1 && self.token.len() <= TOKEN_MAX {
            self.token.push(byte);
        }
    }

    fn value_ends(&mut self, then: At) {
        if self.at == At::Value && self.is_id {
            let value = serde_json::from_slice(&self.token).ok();
            self.id = value.filter(|id: &Value| id.is_string() || id.is_number());
            self.unknown = self.token.len() > TOKEN_MAX;
        }
        self.token.clear();
        if matches!(self.at, At::Key | At::Value) {
            self.at = then;
        }
    }

    fn end(self) -> Long {
        match (self.id, self.at) {
            (Some(id), _) => Long::Request(id),
            (None, At::End) if !self.unknown => Long::Notification,
            (None, At::End | At::Begin | At::Key | At::Value) => Long::Unknown,
        }
    }
}
