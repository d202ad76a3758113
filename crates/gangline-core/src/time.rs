//! The core's two kinds of time, always arguments: one for waiting, one for recording.

use std::time::Duration;

/// Monotonic time since an arbitrary start; deadlines are reckoned in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Now(pub Duration);

impl Now {
    /// Returns the time that is this much later.
    #[must_use]
    pub fn plus(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(wait))
    }

    /// Returns how long ago `earlier` was; zero if it is still to come.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl From<Duration> for Now {
    fn from(since_start: Duration) -> Self {
        Self(since_start)
    }
}

/// Wall clock, microseconds since 1970 (UTC). The core passes it on, and says when a reminder is due
/// ([`crate::reminder`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallMicros(pub i64);
