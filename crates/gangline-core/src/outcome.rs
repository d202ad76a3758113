//! How a turn ended.

use std::fmt;

use crate::time::WallMicros;

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

/// Whose doing the end of a runtime was. What we caused counts neither for the circuit breaker nor
/// as an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// We stopped it, or the prompt had not been given yet.
    Ours,
    /// It ended by itself.
    Theirs,
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
    Lost(Cause),
}

impl Outcome {
    /// Returns the outcome's word, without its detail.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed(_) => "failed",
            Self::RateLimited(_) => "rate_limited",
            Self::NeedsLogin => "needs_login",
            Self::Interrupted(_) => "interrupted",
            Self::TimedOut => "timed_out",
            Self::Lost(_) => "lost",
        }
    }
}

/// Written as the records have it: `completed`, `failed:api_error`, `interrupted:drain`.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        match self {
            Self::Failed(kind) => write!(f, ":{kind}"),
            Self::Interrupted(by) => write!(f, ":{}", by.as_str()),
            Self::Completed
            | Self::RateLimited(_)
            | Self::NeedsLogin
            | Self::TimedOut
            | Self::Lost(_) => Ok(()),
        }
    }
}
