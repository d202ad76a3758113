//! A place in a target's history.

use std::{fmt, str::FromStr};

/// A place in a target's history: a line's `msgid` or its time. Its text (`msgid=…` or
/// `timestamp=…`) is what CHATHISTORY takes and what callers store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor(String);

/// A text that is no cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is `msgid=…` or `timestamp=…`, in one word")]
pub struct CursorError;

impl Cursor {
    /// Returns the place of the line with this id.
    ///
    /// # Errors
    /// If the id could not stand on a line.
    pub fn msgid(id: &str) -> Result<Self, CursorError> {
        format!("msgid={id}").parse()
    }

    /// Returns the place of a time such as `2026-11-21T21:33:48.123Z`.
    ///
    /// # Errors
    /// If the time could not stand on a line.
    pub fn timestamp(time: &str) -> Result<Self, CursorError> {
        format!("timestamp={time}").parse()
    }

    /// Returns the cursor's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Cursor {
    type Err = CursorError;
    fn from_str(text: &str) -> Result<Self, CursorError> {
        let value = text.strip_prefix("msgid=").or_else(|| text.strip_prefix("timestamp="));
        let legal = |value: &str| {
            !value.is_empty()
                && value.len() <= 200
                && !value.chars().any(|c| c.is_control() || c.is_whitespace())
        };
        if value.is_some_and(legal) { Ok(Self(text.to_owned())) } else { Err(CursorError) }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
