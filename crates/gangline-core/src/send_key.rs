//! The key of a send: a repeated send with the same key makes no new rows.

use std::fmt;

use crate::{digest::sha256_hex, id::TurnId};

#[cfg(test)]
mod tests;

/// How many bytes of a call's hash are in a key.
const HASH: usize = 8;
/// What the key of a notice about something undelivered begins with.
const UNDELIVERED: &str = "u-";

/// Makes a repetition the same rows of the outbox; unique per agent. It carries no epoch of the daemon
/// that repeats it. The outbox stores its text and the ids on the wire begin with it, so the text of
/// each kind of key never changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SendKey(String);

impl SendKey {
    /// Returns the key of what a call says: a tool's in a turn, or a command's through the socket. The
    /// caller's id is hashed into what an IRC tag may carry.
    #[must_use]
    pub fn of_call(turn: Option<TurnId>, call: &str) -> Self {
        let hash = sha256_hex(call.as_bytes(), HASH);
        Self(match turn {
            Some(turn) => format!("{turn}-{hash}"),
            None => format!("ipc-{hash}"),
        })
    }

    /// Returns the key of the notice that something could not be delivered: the same for every line of
    /// one text, so that its asker is told once.
    #[must_use]
    pub fn of_undelivered(said: &Self) -> Self {
        Self(format!("{UNDELIVERED}{said}"))
    }

    /// Returns the turn whose tool call said it; `None` for what the daemon or a command said.
    #[must_use]
    pub fn turn(&self) -> Option<TurnId> {
        self.0.split_once('-').and_then(|(turn, _)| turn.parse().ok())
    }

    /// Returns whether it is a notice about something undelivered.
    #[must_use]
    pub fn is_of_undelivered(&self) -> bool {
        self.0.starts_with(UNDELIVERED)
    }

    /// Returns the text that is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A key of the daemon's own words, or one that was stored.
impl From<String> for SendKey {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for SendKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
