//! How a turn ended.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{time::WallMicros, word::Stored, words};

#[cfg(test)]
mod tests;

/// Who ended a turn early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum By {
    /// A person with the right to.
    Operator,
    /// The watcher of the agent's turns.
    Supervisor,
    /// The daemon's own end.
    Drain,
}

impl By {
    /// Returns the word used in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Supervisor => "supervisor",
            Self::Drain => "drain",
        }
    }
}

/// By whom a runtime was ended. What we ended counts neither for the circuit breaker nor as an
/// attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndedBy {
    /// We stopped it, or the prompt had not been given yet.
    Us,
    /// It ended, and nobody had asked it to.
    Itself,
}

/// The one end of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The runtime yielded.
    Completed,
    /// The runtime said that it failed; a short word for why (`api_error`).
    Failed(String),
    /// The backend takes nothing before this time.
    RateLimited(WallMicros),
    /// The backend has no login; nothing was done.
    NeedsLogin,
    /// Somebody ended it early.
    Interrupted(By),
    /// No sign of life within the watchdog's time.
    TimedOut,
    /// The runtime, or the daemon, was gone before the end.
    Lost(EndedBy),
}

impl Outcome {
    /// Returns the outcome without its detail.
    #[must_use]
    pub fn word(&self) -> OutcomeWord {
        match self {
            Self::Completed => OutcomeWord::Completed,
            Self::Failed(_) => OutcomeWord::Failed,
            Self::RateLimited(_) => OutcomeWord::RateLimited,
            Self::NeedsLogin => OutcomeWord::NeedsLogin,
            Self::Interrupted(_) => OutcomeWord::Interrupted,
            Self::TimedOut => OutcomeWord::TimedOut,
            Self::Lost(_) => OutcomeWord::Lost,
        }
    }
}

/// Written as the records have it.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OutcomeRecord::from(self).fmt(f)
    }
}

words! {
    /// An [`Outcome`] without its detail.
    OutcomeWord, "outcome of a turn" {
        /// The runtime yielded.
        Completed = "completed",
        /// The runtime said that it failed.
        Failed = "failed",
        /// The backend took nothing before some time.
        RateLimited = "rate_limited",
        /// The backend had no login.
        NeedsLogin = "needs_login",
        /// Somebody ended it early.
        Interrupted = "interrupted",
        /// It gave no sign of life within the watchdog's time.
        TimedOut = "timed_out",
        /// The runtime, or the daemon, was gone before the end.
        Lost = "lost",
    }
}

/// An outcome as the records have it: `completed`, `failed:api_error`, `interrupted:drain`. A word that
/// only a newer program knows is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OutcomeRecord {
    /// How the turn ended.
    pub word: Stored<OutcomeWord>,
    /// Why it failed, or who interrupted it.
    pub detail: Option<String>,
}

impl From<&Outcome> for OutcomeRecord {
    fn from(outcome: &Outcome) -> Self {
        let detail = match outcome {
            Outcome::Failed(kind) => Some(kind.clone()),
            Outcome::Interrupted(by) => Some(by.as_str().to_owned()),
            Outcome::Completed
            | Outcome::RateLimited(_)
            | Outcome::NeedsLogin
            | Outcome::TimedOut
            | Outcome::Lost(_) => None,
        };
        Self { word: outcome.word().into(), detail }
    }
}

impl From<OutcomeWord> for OutcomeRecord {
    fn from(word: OutcomeWord) -> Self {
        Self { word: word.into(), detail: None }
    }
}

/// Reads what was stored.
impl From<String> for OutcomeRecord {
    fn from(text: String) -> Self {
        let (word, detail) = match text.split_once(':') {
            Some((word, detail)) => (word.to_owned(), Some(detail.to_owned())),
            None => (text, None),
        };
        Self { word: word.into(), detail }
    }
}

impl fmt::Display for OutcomeRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word.as_str())?;
        match &self.detail {
            Some(detail) => write!(f, ":{detail}"),
            None => Ok(()),
        }
    }
}

impl Serialize for OutcomeRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OutcomeRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}
