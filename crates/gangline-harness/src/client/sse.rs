//! Bytes of an event stream to events, whatever the chunks are; pure, with a bound on memory.
//!
//! Other fields than those of an [`Event`], and comments, are skipped. Bytes that are not UTF-8
//! become U+FFFD. In the place of an event that is too long stands a notice, and the next events are
//! read. Each byte is looked at once, so that a long line in small chunks costs linear time.

use std::collections::VecDeque;

/// One event of the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The `event` field, empty if there was none.
    pub(crate) name: String,
    /// The `data` lines, joined by line feeds; nothing if there was none.
    pub(crate) data: Option<String>,
    /// The `id` field: from here a stream that broke can be asked for again.
    pub(crate) id: Option<String>,
    /// The `retry` field: how long to wait before that, in milliseconds.
    pub(crate) retry: Option<u64>,
}

impl Event {
    fn is_empty(&self) -> bool {
        self.data.is_none() && self.id.is_none() && self.retry.is_none()
    }

    fn len(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.name.len() + text(&self.data) + text(&self.id)
    }
}

/// An event, or a line of it, exceeds the limit.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the response is longer than {limit} bytes")]
pub(crate) struct TooLong {
    limit: usize,
    /// How its data begins, or the line that is too long.
    pub(crate) begins: String,
}

/// So much of an event that is too long is kept, in bytes.
const BEGINNING: usize = 64 << 10;

/// Collects bytes until events are complete.
#[derive(Debug)]
pub(crate) struct Decoder {
    limit: usize,
    line: Vec<u8>,
    /// The last byte was CR, so that a LF that follows ends no second line.
    after_cr: bool,
    event: Event,
    /// The rest of an event that is too long goes by.
    skips: bool,
    ready: VecDeque<Result<Event, TooLong>>,
}

impl Decoder {
    /// Returns a decoder that keeps at most `limit` bytes of an unfinished event.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            event: Event::default(),
            skips: false,
            ready: VecDeque::new(),
        }
    }

    /// Takes a chunk; complete events are then had from [`next`](Self::next).
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let mut rest = chunk;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            self.extend_line(&rest[..end.unwrap_or(rest.len())]);
            let Some(end) = end else { return };
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.end_line();
        }
    }

    /// Returns the oldest complete event.
    pub(crate) fn next(&mut self) -> Option<Result<Event, TooLong>> {
        self.ready.pop_front()
    }

    fn held(&self) -> usize {
        self.line.len() + self.event.len()
    }

    fn extend_line(&mut self, part: &[u8]) {
        if self.skips {
            // Only whether the line is empty counts.
            self.line.extend_from_slice(&part[..part.len().min(1)]);
            self.line.truncate(1);
            return;
        }
        // However the bytes are cut, one byte too many is all that is taken.
        let room = (self.limit + 1).saturating_sub(self.held());
        self.line.extend_from_slice(&part[..part.len().min(room)]);
        if self.held() > self.limit {
            self.give_up();
            self.line.push(b':');
        }
    }

    /// Tells that the event is too long, and skips the rest of it.
    fn give_up(&mut self) {
        let event = std::mem::take(&mut self.event);
        let line = std::mem::take(&mut self.line);
        let mut begins = event.data.map_or(line, String::into_bytes);
        begins.truncate(BEGINNING.min(self.limit));
        let begins = String::from_utf8_lossy(&begins).into_owned();
        self.ready.push_back(Err(TooLong { limit: self.limit, begins }));
        self.skips = true;
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if self.skips {
            self.skips = !line.is_empty();
            return;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if !event.is_empty() {
                self.ready.push_back(Ok(event));
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => match &mut self.event.data {
                None => self.event.data = Some(value.to_owned()),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => self.event.retry = value.parse().ok(),
            _ => {}
        }
        // What stands for bytes that are no text is longer than they are.
        if self.held() > self.limit {
            self.give_up();
        }
    }
}

#[cfg(test)]
mod tests;
