//! Bytes of an event stream to events, whatever the chunks are; pure, with a bound on memory.
//!
//! Fields `event` and `data` are read, all others and comments are skipped. Each byte is looked
//! at once, so that a long line in small chunks costs linear time.

use std::collections::VecDeque;

/// One event of the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The `event` field, empty if there was none.
    pub(crate) name: String,
    /// The `data` lines, joined by line feeds.
    pub(crate) data: String,
}

/// An event, or a line of it, exceeds the limit.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the response is longer than {limit} bytes")]
pub(crate) struct TooLong {
    limit: usize,
}

/// Collects bytes until events are complete.
#[derive(Debug)]
pub(crate) struct Decoder {
    limit: usize,
    line: Vec<u8>,
    /// The last byte was CR, so that a LF that follows ends no second line.
    after_cr: bool,
    name: String,
    data: Option<String>,
    ready: VecDeque<Event>,
}

impl Decoder {
    /// Returns a decoder that keeps at most `limit` bytes of an unfinished event.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            name: String::new(),
            data: None,
            ready: VecDeque::new(),
        }
    }

    /// Takes a chunk; complete events are then had from [`next`](Self::next).
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Result<(), TooLong> {
        let mut rest = chunk;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let taken = end.unwrap_or(rest.len());
            self.line.extend_from_slice(&rest[..taken]);
            if self.held() > self.limit {
                return Err(TooLong { limit: self.limit });
            }
            let Some(end) = end else { return Ok(()) };
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.end_line();
        }
        Ok(())
    }

    /// Returns the oldest complete event.
    pub(crate) fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    fn held(&self) -> usize {
        self.line.len() + self.name.len() + self.data.as_ref().map_or(0, String::len)
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            if let Some(data) = self.data.take() {
                self.ready.push_back(Event { name, data });
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
