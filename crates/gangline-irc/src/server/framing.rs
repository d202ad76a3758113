//! Bytes → lines, with a bound on memory whatever a peer sends.

use bytes::{Buf, BytesMut};

use crate::wire::{BODY_MAX, CLIENT_TAGS_MAX};

/// The longest line that is kept while it arrives: 8 KiB of tags and a body.
const KEPT_MAX: usize = 8 * 1024 + BODY_MAX;

/// What came in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Framed {
    /// A line without its line end.
    Line(Vec<u8>),
    /// A line longer than may be sent; its bytes are gone, but for its tags if they are not what
    /// was too long: the answer carries the label.
    TooLong { tags: Vec<u8> },
    /// The connection began with something that no client of IRC begins with; nothing more of it is read.
    Foreign,
}

/// How a connection began.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Beginning {
    /// Its first line is not whole yet.
    #[default]
    Open,
    /// With a line.
    Line,
    /// With another protocol.
    Foreign,
}

/// Collects bytes of one connection.
#[derive(Default)]
pub(super) struct Framer {
    buffer: BytesMut,
    beginning: Beginning,
    searched: usize,
    skipping: bool,
    /// The tags of the line that is being skipped.
    tags: Vec<u8>,
}

impl Framer {
    /// Returns the buffer to read into.
    pub(super) fn room(&mut self) -> &mut BytesMut {
        self.buffer.reserve(2048);
        &mut self.buffer
    }

    /// Nothing comes for now: memory that holds nothing is given back. Thousands of clients are idle.
    pub(super) fn rest(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }

    /// Returns the next whole line, or `None` when more bytes are needed. Gives memory back when
    /// nothing is kept.
    pub(super) fn next(&mut self) -> Option<Framed> {
        match self.beginning {
            Beginning::Line => {}
            Beginning::Open if begins_a_line(&self.buffer) => {}
            Beginning::Open => {
                self.beginning = Beginning::Foreign;
                self.buffer = BytesMut::new();
                return Some(Framed::Foreign);
            }
            Beginning::Foreign => {
                self.buffer.clear();
                return None;
            }
        }
        loop {
            let found = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
            let Some(found) = found else {
                self.keep_or_skip();
                return None;
            };
            let end = self.searched + found;
            let mut line = self.buffer.split_to(end).to_vec();
            self.buffer.advance(1);
            self.searched = 0;
            self.beginning = Beginning::Line;
            let skipped = std::mem::take(&mut self.skipping);
            if skipped {
                return Some(Framed::TooLong { tags: std::mem::take(&mut self.tags) });
            }
            if is_too_long(&line) {
                return Some(Framed::TooLong { tags: tags_of(&line) });
            }
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if !line.is_empty() {
                return Some(Framed::Line(line));
            }
        }
    }

    fn keep_or_skip(&mut self) {
        if !self.skipping && self.buffer.len() > KEPT_MAX {
            self.skipping = true;
            self.tags = tags_of(&self.buffer);
        }
        if self.skipping {
            self.buffer.clear();
        }
        self.searched = self.buffer.len();
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }
}

/// Returns whether the first bytes of a connection may be those of a client: TLS, SOCKS, databases and most
/// others begin with a byte that no line of IRC begins with, or have a zero behind it.
fn begins_a_line(bytes: &[u8]) -> bool {
    let line = bytes.trim_ascii_start();
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let begins = |first: &u8| first.is_ascii_alphanumeric() || [b'@', b':'].contains(first);
    line.first().is_none_or(begins) && !line.contains(&0)
}

/// Returns the tag section of a line, or nothing if it is absent or too long itself.
fn tags_of(line: &[u8]) -> Vec<u8> {
    let end = line.iter().position(|byte| *byte == b' ').map_or(line.len(), |at| at + 1);
    match line.first() {
        Some(b'@') if end <= CLIENT_TAGS_MAX + 2 => line[..end].to_vec(),
        _ => Vec::new(),
    }
}

/// Tags and body have limits of their own. A line without its LF, with or without its CR.
fn is_too_long(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let tags = match line.first() {
        Some(b'@') => line.iter().position(|byte| *byte == b' ').map_or(line.len(), |at| at + 1),
        _ => 0,
    };
    tags > CLIENT_TAGS_MAX + 2 || line.len() - tags + 2 > BODY_MAX
}

#[cfg(test)]
mod tests;
