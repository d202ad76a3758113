//! Server-sent events, read on the side: the data of each, however the bytes are cut.

use crate::READ_MAX;

/// Puts events together from pieces of a stream.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// The line that is not whole yet.
    line: Vec<u8>,
    /// The data of the event so far.
    data: Vec<u8>,
    /// The event is longer than is read: it is skipped.
    skip: bool,
    /// An object that is no event: Gemini tells an error so, as the last thing of a stream.
    bare: Vec<u8>,
}

/// The longest object outside of events that is read, in bytes.
const BARE_MAX: usize = 64 << 10;

impl Events {
    /// Takes a piece, and calls `each` with the data of every event that is whole now. Returns whether
    /// an event was too long to be read.
    pub(crate) fn feed(&mut self, mut piece: &[u8], mut each: impl FnMut(&[u8])) -> bool {
        let mut skipped = false;
        while let Some(end) = memchr::memchr(b'\n', piece) {
            let (head, rest) = piece.split_at(end);
            piece = rest.get(1..).unwrap_or_default();
            if self.line.is_empty() {
                skipped |= self.whole(head, &mut each);
            } else {
                self.keep(head);
                let line = std::mem::take(&mut self.line);
                skipped |= self.whole(&line, &mut each);
                self.line = line;
                self.line.clear();
            }
        }
        self.keep(piece);
        skipped
    }

    /// Returns the object that the stream ended with, outside of an event; nothing if it did not.
    pub(crate) fn bare(mut self) -> Vec<u8> {
        let line = std::mem::take(&mut self.line);
        self.outside(&line);
        self.bare
    }

    /// Takes a line that is none of an event's data.
    fn outside(&mut self, line: &[u8]) {
        let is_part = !self.bare.is_empty() || line.starts_with(b"{");
        if is_part && self.bare.len() + line.len() <= BARE_MAX {
            self.bare.extend_from_slice(line);
        }
    }

    fn keep(&mut self, part: &[u8]) {
        if self.line.len() + self.data.len() + part.len() > READ_MAX {
            self.skip = true;
            self.line.clear();
            // What is left of the line must not look like a new one.
            self.line.push(b':');
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn whole(&mut self, line: &[u8], each: &mut impl FnMut(&[u8])) -> bool {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            let skipped = std::mem::take(&mut self.skip);
            if !skipped && !self.data.is_empty() {
                each(&self.data);
            }
            self.data.clear();
            return skipped;
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if self.data.len() + data.len() > READ_MAX {
                self.skip = true;
                self.data.clear();
            } else {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            }
        } else {
            self.outside(line);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    //! Events, wherever the stream is cut.

    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8], cuts: usize) -> Vec<String> {
        let mut events = Events::default();
        let mut out = Vec::new();
        for piece in text.chunks(cuts.max(1)) {
            events.feed(piece, |data| out.push(String::from_utf8_lossy(data).into_owned()));
        }
        out
    }

    #[test]
    fn an_event_is_its_lines_of_data() {
        let text = b": ping\nevent: a\ndata: {\"x\":\ndata: 1}\n\ndata:two\r\n\r\nid: 3\n\ndata: not whole";
        for cuts in 1..text.len() {
            assert_eq!(read(text, cuts), ["{\"x\":\n1}", "two"], "{cuts}");
        }
    }

    #[test]
    fn an_object_outside_of_the_events_is_what_the_stream_ends_with() {
        let text = b"id: 1\ndata: {}\n\n{\n  \"error\": {\r\n  \"code\": 429}\n}";
        for cuts in 1..text.len() {
            let mut events = Events::default();
            for piece in text.chunks(cuts) {
                events.feed(piece, |_| {});
            }
            assert_eq!(events.bare(), b"{  \"error\": {  \"code\": 429}}", "{cuts}");
        }
        let mut events = Events::default();
        events.feed(b"event: x\ndata: {\"a\":1}\n\ndata: {", |_| {});
        assert_eq!(events.bare(), b"");
        let mut events = Events::default();
        events.feed(&[&b"{\n"[..], &b"x\n".repeat(BARE_MAX)].concat(), |_| {});
        assert_eq!(events.bare().len(), BARE_MAX);
    }

    #[test]
    fn an_event_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let long = format!("data: {}\n\ndata: next\n\n", "x".repeat(READ_MAX + 1));
        for cuts in [7919, long.len()] {
            assert_eq!(read(long.as_bytes(), cuts), ["next"], "{cuts}");
        }
        let line = "data: ".to_owned() + &"x".repeat(READ_MAX / 4) + "\n";
        let many = line.repeat(5) + "\ndata: next\n\n";
        assert_eq!(read(many.as_bytes(), 65_536), ["next"]);
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(text in "[a:\\n\\r d]{0,200}", cuts in 1_usize..40) {
            prop_assert_eq!(read(text.as_bytes(), cuts), read(text.as_bytes(), text.len()));
        }
    }
}
