//! A connection's bytes as lines of limited length; holds only incomplete lines. Pure.

use gangline_api::ipc::LINE_MAX;

#[cfg(test)]
mod tests;

/// A line is longer than [`LINE_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

/// What was read and not taken yet.
#[derive(Debug, Default)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    /// No line end stands before here.
    seen: usize,
}

impl Lines {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next whole line without its line end, if there is one.
    pub(super) fn take(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        let end = self.bytes[self.seen..].iter().position(|byte| *byte == b'\n');
        match end.map(|end| self.seen + end) {
            Some(end) if end > LINE_MAX => Err(TooLong),
            Some(end) => {
                let rest = self.bytes.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.bytes, rest);
                self.seen = 0;
                line.truncate(end);
                Ok(Some(line))
            }
            None if self.bytes.len() > LINE_MAX => Err(TooLong),
            None => {
                self.seen = self.bytes.len();
                Ok(None)
            }
        }
    }

    /// Returns what stands behind the last line end, when nothing more will come.
    pub(super) fn take_rest(&mut self) -> Option<Vec<u8>> {
        self.seen = 0;
        let rest = std::mem::take(&mut self.bytes);
        (!rest.is_empty()).then_some(rest)
    }

    /// Returns whether a line has begun that is not whole.
    pub(super) fn has_begun(&self) -> bool {
        !self.bytes.is_empty()
    }
}
