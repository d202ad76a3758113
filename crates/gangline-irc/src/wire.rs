//! The wire form of IRC: one line is one [`Message`] with tags, source, command and parameters.
//!
//! Pure: no sockets, no clock. Reading is tolerant (invalid UTF-8 is replaced, spaces may be
//! doubled, a command may be in lower case); writing is strict: a line has exactly one CR LF, at
//! its end, and never CR, LF or NUL before it, whatever a model or a stranger wrote. Start at
//! [`Message::parse`] and [`Message::to_line`].

pub mod batch;
pub mod caps;
pub mod ctcp;
mod format;
pub mod multiline;
pub mod numeric;
mod parse;
pub mod sasl;
pub mod scram;
pub mod tags;
pub mod text;

/// The longest line without its tags, in bytes, CR LF included.
pub const BODY_MAX: usize = 512;
/// The longest tag section that a server may send, in bytes, from `@` to the space included.
pub const SERVER_TAGS_MAX: usize = 8191;
/// The longest tag data that a client may send, in bytes, without the `@` and the space.
pub const CLIENT_TAGS_MAX: usize = 4094;
/// The longest line that a reader must be ready for, in bytes: all tags and a whole body.
pub const LINE_MAX: usize = SERVER_TAGS_MAX + BODY_MAX;
/// The most parameters of one line; what follows the fourteenth is one text.
pub const PARAMS_MAX: usize = 15;

/// One line of IRC.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Message {
    /// Message tags in their order, unescaped. `None` is a tag without `=`.
    pub tags: Vec<(String, Option<String>)>,
    /// Who sent it, without the colon: `nick!user@host` or a server's name.
    pub source: Option<String>,
    /// The command in upper case, or three digits.
    pub command: String,
    /// The parameters; only the last may be empty, hold spaces or begin with a colon.
    pub params: Vec<String>,
}

/// Why bytes are not a line of IRC.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// There is nothing, or only spaces.
    #[error("the line is empty")]
    Empty,
    /// CR, LF or NUL stands before the line's end.
    #[error("the line holds CR, LF or NUL at byte {at}")]
    ControlByte {
        /// Where, counted from 0.
        at: usize,
    },
    /// The tag section is longer than [`SERVER_TAGS_MAX`].
    #[error("the tag section has {bytes} bytes, at most {SERVER_TAGS_MAX} are read")]
    TagsTooLong {
        /// Its length.
        bytes: usize,
    },
    /// After tags and source there is no command.
    #[error("the line has no command")]
    NoCommand,
    /// The command is not made of ASCII letters and digits.
    #[error("the command is not made of letters and digits")]
    BadCommand,
    /// A source of no length (`: PING`).
    #[error("the source is empty")]
    EmptySource,
}

/// Why a message has no wire form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The command is empty or not made of ASCII letters and digits.
    #[error("the command is not made of letters and digits")]
    Command,
    /// The source is empty, or holds a space or a control byte that ends a line.
    #[error("the source cannot stand on a line")]
    Source,
    /// This parameter cannot stand where it is: CR, LF or NUL; or, before the last, a space, a
    /// leading colon or nothing at all.
    #[error("parameter {index} cannot stand on a line")]
    Param {
        /// Which, counted from 0.
        index: usize,
    },
    /// More than [`PARAMS_MAX`] parameters.
    #[error("{count} parameters, at most {PARAMS_MAX} fit a line")]
    TooManyParams {
        /// How many.
        count: usize,
    },
    /// This tag's key or value has no wire form.
    #[error("tag {index} cannot stand on a line")]
    Tag {
        /// Which, counted from 0.
        index: usize,
    },
    /// The line without tags is longer than [`BODY_MAX`].
    #[error("the line has {bytes} bytes, at most {BODY_MAX} are sent")]
    BodyTooLong {
        /// Its length with CR LF.
        bytes: usize,
    },
    /// The tags are longer than their sender may send.
    #[error("the tags have {bytes} bytes, at most {max} are sent")]
    TagsTooLong {
        /// The length of the tag data.
        bytes: usize,
        /// The limit that was passed over.
        max: usize,
    },
}

/// Who writes a line: the limits for tags differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A client: at most [`CLIENT_TAGS_MAX`] bytes of tag data.
    Client,
    /// A server: at most [`SERVER_TAGS_MAX`] bytes of tag section.
    Server,
}

impl Message {
    /// Returns a message with this command, in upper case, and nothing else.
    #[must_use]
    pub fn new(command: &str) -> Self {
        Self { command: command.to_ascii_uppercase(), ..Self::default() }
    }

    /// Returns the message with one more parameter.
    #[must_use]
    pub fn param(mut self, param: impl Into<String>) -> Self {
        self.params.push(param.into());
        self
    }

    /// Returns the message with its last parameter, which may be a text with spaces.
    #[must_use]
    pub fn trailing(self, text: impl Into<String>) -> Self {
        self.param(text)
    }

    /// Returns the message with one more tag that has a value.
    #[must_use]
    pub fn tagged(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.push((key.into(), Some(value.into())));
        self
    }

    /// Returns the message with one more tag without a value.
    #[must_use]
    pub fn flagged(mut self, key: impl Into<String>) -> Self {
        self.tags.push((key.into(), None));
        self
    }

    /// Returns the message as sent by `source` (`nick!user@host` or a server's name).
    #[must_use]
    pub fn from(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the value of a tag: the last one of that key; a tag without a value is `""`.
    #[must_use]
    pub fn tag(&self, key: &str) -> Option<&str> {
        let found = self.tags.iter().rev().find(|(name, _)| name == key)?;
        Some(found.1.as_deref().unwrap_or(""))
    }

    /// Returns the parameter at `index`, counted from 0.
    #[must_use]
    pub fn at(&self, index: usize) -> Option<&str> {
        self.params.get(index).map(String::as_str)
    }

    /// Returns the `label` that a request carried, which its responses carry too.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.tag(tags::LABEL)
    }

    /// Returns the nick in the source (or the server's name, if a server sent it).
    #[must_use]
    pub fn nick(&self) -> Option<&str> {
        let source = self.source.as_deref()?;
        Some(source.split(['!', '@']).next().unwrap_or(source))
    }

    /// Returns the three-digit number, if the command is one.
    #[must_use]
    pub fn numeric(&self) -> Option<u16> {
        let three = self.command.len() == 3 && self.command.bytes().all(|b| b.is_ascii_digit());
        if three { self.command.parse().ok() } else { None }
    }
}

/// Reads one line as a fuzzer may: any bytes, with or without their line end. Never panics.
///
/// # Errors
/// See [`ParseError`].
pub fn decode(bytes: &[u8]) -> Result<Message, ParseError> {
    Message::parse(bytes)
}

/// Returns the length of a raw line without its tag section, CR LF included even if the raw line
/// has none: the number that [`BODY_MAX`] limits.
#[must_use]
pub fn body_len(raw: &[u8]) -> usize {
    let line = parse::without_line_end(raw);
    tags::split(line).1.len() + 2
}

#[cfg(test)]
mod tests;
