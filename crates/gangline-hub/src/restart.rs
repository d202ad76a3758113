//! When a kept process is started again: a pure rule.

use std::time::Duration;

/// The first wait after a death.
pub const FIRST_DELAY: Duration = Duration::from_secs(1);
/// The longest wait between two starts.
pub const LONGEST_DELAY: Duration = Duration::from_secs(60);
/// A process that lived this long is restarted after the first, shortest delay.
pub const HEALTHY_AFTER: Duration = Duration::from_secs(60);
/// The exit code of a fault that no restart fixes (R1-48).
pub const EXIT_CONFIG: i32 = 78;

/// What to do after a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Start it again after the wait.
    Restart(Duration),
    /// Leave it: no restart fixes what it ended with.
    GiveUp(i32),
}

/// Counts the deaths in a row of one kept process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deaths {
    in_a_row: u32,
    longest: Duration,
}

impl Deaths {
    /// Returns a count of none; `longest` bounds the wait, [`LONGEST_DELAY`] unless a test or an
    /// operator wants less.
    #[must_use]
    pub fn new(longest: Duration) -> Self {
        Self { in_a_row: 0, longest }
    }

    /// Forgets the deaths so far: an operator wants it to be tried again.
    pub fn forget(&mut self) {
        self.in_a_row = 0;
    }

    /// Returns what follows an end with `code` (none after a signal or for an adopted process)
    /// after `lived`.
    pub fn ended(&mut self, code: Option<i32>, lived: Duration) -> After {
        if let Some(EXIT_CONFIG) = code {
            return After::GiveUp(EXIT_CONFIG);
        }
        if lived >= HEALTHY_AFTER {
            self.in_a_row = 0;
        }
        let delay = FIRST_DELAY.saturating_mul(2_u32.saturating_pow(self.in_a_row));
        self.in_a_row = self.in_a_row.saturating_add(1);
        After::Restart(delay.min(self.longest))
    }
}

#[cfg(test)]
mod tests;
