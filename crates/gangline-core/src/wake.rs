//! A wake: a program outside tells an agent of something (R2-30). What it may be is judged here, for
//! the command line, the socket and HTTP alike. Begin with [`Draft::read`].

use std::{fmt, str::FromStr, time::Duration};

use crate::likeness;

/// The longest label, in characters.
pub const LABEL_MAX: usize = 64;
/// The largest body, in bytes.
pub const BODY_MAX: usize = 64 * 1024;
/// The longest key, in bytes.
pub const KEY_MAX: usize = 128;
/// How many wakes an agent takes from one label within [`PERIOD`].
pub const PER_PERIOD: u32 = 10;
/// The time within which wakes of a label are counted.
pub const PERIOD: Duration = Duration::from_secs(60);

/// Why something is no wake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nobody is named.
    #[error("the label is empty: it names the program that wakes the agent, such as `matrix`")]
    NoLabel,
    /// The label is too long.
    #[error("the label has {0} characters, and may have {LABEL_MAX}")]
    LongLabel(usize),
    /// A character is not allowed in a label.
    #[error(
        "the label has the character {}, and may have letters a-z, digits and . _ - / : +",
        shown(*.0)
    )]
    Character(char),
    /// The label looks like one of our own words, which would make a wake look like an owner's words or
    /// like ours.
    #[error("the label `{0}` is reserved: name the program that wakes the agent, such as `matrix`")]
    Reserved(String),
    /// Nothing is told.
    #[error("the body is empty")]
    NoBody,
    /// The body is too large.
    #[error("the body has {0} bytes, and may have {BODY_MAX}")]
    LongBody(usize),
    /// The key is empty, too long, or has characters that show nothing.
    #[error("a key has 1 to {KEY_MAX} visible ASCII characters")]
    Key,
}

/// The name that a program gives itself. It cannot look like a nick in brackets, like the people in
/// charge or like a heading of ours: ASCII letters, digits and `. _ - / : +` only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label(String);

impl Label {
    /// Returns the label as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the account of the principal: `wake:matrix`. No account on a server has this form.
    #[must_use]
    pub fn account(&self) -> String {
        format!("wake:{}", self.0)
    }
}

impl FromStr for Label {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Self, Refused> {
        let text = text.trim_matches(' ');
        let length = text.chars().count();
        let allowed = |c: char| c.is_ascii_alphanumeric() || ".-_/:+".contains(c);
        if text.is_empty() {
            return Err(Refused::NoLabel);
        }
        if length > LABEL_MAX {
            return Err(Refused::LongLabel(length));
        }
        if let Some(c) = text.chars().find(|c| !allowed(*c)) {
            return Err(Refused::Character(c));
        }
        if likeness::is_like_ours(text) {
            return Err(Refused::Reserved(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a character that can be told from all others.
fn shown(c: char) -> String {
    if c.is_ascii_graphic() { c.to_string() } else { format!("U+{:04X}", u32::from(c)) }
}

/// A wake that is well formed. Its body is not masked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Who wakes.
    pub label: Label,
    /// What it tells.
    pub body: String,
    /// Makes a repetition the same wake.
    pub key: Option<String>,
}

impl Draft {
    /// Reads what somebody outside gave.
    ///
    /// # Errors
    /// [`Refused`] says what is wrong.
    pub fn read(label: &str, body: &str, key: Option<&str>) -> Result<Self, Refused> {
        let label = label.parse()?;
        if body.len() > BODY_MAX {
            return Err(Refused::LongBody(body.len()));
        }
        let body = body.trim();
        if body.is_empty() {
            return Err(Refused::NoBody);
        }
        let is_key = |key: &str| {
            (1..=KEY_MAX).contains(&key.len()) && key.bytes().all(|c| c.is_ascii_graphic())
        };
        match key {
            Some(key) if !is_key(key) => Err(Refused::Key),
            key => Ok(Self { label, body: body.to_owned(), key: key.map(str::to_owned) }),
        }
    }
}

#[cfg(test)]
mod tests;
