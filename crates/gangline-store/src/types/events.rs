//! Events: the ordered record of facts, and places in it.

use std::{fmt, str::FromStr};

use gangline_core::{AgentName, Epoch, TurnId, redact::Redacted};
use gangline_os::clock::UnixMicros;

/// A place in the record of events; opaque to everybody but the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor(String);

impl Cursor {
    pub(crate) fn at(seq: i64) -> Self {
        Self(format!("e{seq}"))
    }

    pub(crate) fn seq(&self) -> Option<i64> {
        self.0.strip_prefix('e').and_then(|digits| digits.parse().ok()).filter(|seq| *seq >= 0)
    }

    /// Returns the wire form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Cursor {
    type Err = CursorError;
    fn from_str(text: &str) -> Result<Self, CursorError> {
        let cursor = Self(text.to_owned());
        cursor.seq().map(|_| cursor).ok_or(CursorError)
    }
}

/// A text that is no cursor of this store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor of this store: take one from a page of events")]
pub struct CursorError;

/// A fact to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Whose.
    pub agent: AgentName,
    /// Under which epoch; fences the write. Taken from `turn` if that is given.
    pub epoch: Option<Epoch>,
    /// In which turn.
    pub turn: Option<TurnId>,
    /// What happened, in the past tense.
    pub kind: String,
    /// JSON, a payload type of `gangline-api`; the store looks into none.
    pub payload: Redacted,
}

/// A recorded fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The form of the record: 1.
    pub v: i64,
    /// The place in the order of all events.
    pub seq: i64,
    /// Whose.
    pub agent: AgentName,
    /// Under which epoch.
    pub epoch: Option<Epoch>,
    /// In which turn.
    pub turn: Option<TurnId>,
    /// What happened; unknown kinds are skipped by readers.
    pub kind: String,
    /// When.
    pub at: UnixMicros,
    /// JSON.
    pub payload: Redacted,
}

impl Event {
    /// Returns the place just behind this event.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        Cursor::at(self.seq)
    }
}

/// Which events to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Only this agent's.
    pub agent: Option<AgentName>,
    /// Only this turn's; a turn's number is per agent, so name the agent too.
    pub turn: Option<TurnId>,
    /// Only behind this place.
    pub after: Option<Cursor>,
    /// Only before the event of this place.
    pub before: Option<Cursor>,
    /// At most this many, itself at most [`crate::PAGE_MAX`]; 0 means that.
    pub limit: u32,
    /// Whether the newest are wanted instead of the oldest; the page is oldest first either way.
    pub newest: bool,
}

/// A page of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPage {
    /// Oldest first.
    pub events: Vec<Event>,
    /// Where to read on. An empty page keeps the place asked for.
    pub cursor: Cursor,
}
