//! Counts what may happen again and again, and has it logged at most once a minute.

use std::time::Duration;

#[cfg(test)]
mod tests;

/// A line in the log is written at most so often.
pub(super) const TOLD_EVERY: Duration = Duration::from_secs(60);

/// How often something happened since it was last told.
#[derive(Debug, Default)]
pub(super) struct Seldom {
    count: u64,
    told: Option<Duration>,
}

impl Seldom {
    /// Counts one; returns how many there were when that is to be told.
    pub(super) fn counts(&mut self, now: Duration) -> Option<u64> {
        self.count += 1;
        if self.told.is_some_and(|told| now.saturating_sub(told) < TOLD_EVERY) {
            return None;
        }
        self.told = Some(now);
        Some(std::mem::take(&mut self.count))
    }
}
