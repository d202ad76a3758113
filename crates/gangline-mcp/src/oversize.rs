//! Finds the id of a message that is too long to be kept, so that whoever waits for its answer
//! gets one. Pure; looks at every byte once and keeps a few of them.
//!
//! It follows strings and brackets and checks nothing else: of broken JSON it finds an id or none.

use serde_json::Value;

#[cfg(test)]
mod tests;

/// The longest key or id that is looked at, as it stands in the message.
const TOKEN_MAX: usize = 160;

/// What a line over the cap was.
#[derive(Debug, Clone, PartialEq)]
pub enum Long {
    /// A request of this id.
    Request(Value),
    /// A whole object without an id: nobody waits for an answer.
    Notification,
    /// Nothing that can be answered.
    Unknown,
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
pub struct Scan {
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
    #[must_use]
    pub fn length(&self) -> u64 {
        self.bytes - u64::from(self.last == b'\r')
    }

    /// Takes the next byte of the line.
    pub fn take(&mut self, byte: u8) {
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

    /// Returns what the line was.
    #[must_use]
    pub fn end(self) -> Long {
        match (self.id, self.at) {
            (Some(id), _) => Long::Request(id),
            (None, At::End) if !self.unknown => Long::Notification,
            (None, At::End | At::Begin | At::Key | At::Value) => Long::Unknown,
        }
    }
}
