//! The pace of what is sent: a token bucket, so that no server throws us out for flooding.

use std::time::Duration;

/// How many lines may go at once, and how many a second after that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Lines at once after a rest.
    pub burst: u32,
    /// Lines a second when the burst is used up.
    pub per_second: f64,
}

impl Pace {
    /// What common servers bear: 4 at once, then one a second. InspIRCd without `fakelag` throws
    /// out who sends more than one a second for ten seconds, each PING counted.
    pub const FOREIGN: Self = Self { burst: 4, per_second: 1.0 };
    /// For Gangline's own server, which says so in its 005.
    pub const OWN: Self = Self { burst: 50, per_second: 20.0 };

    /// Returns a pace of half the lines, never less than one in eight seconds: for a server that
    /// has thrown us out for flooding.
    #[must_use]
    pub fn halved(self) -> Self {
        Self { burst: (self.burst / 2).max(1), per_second: (self.per_second / 2.0).max(0.125) }
    }
}

/// A bucket of tokens; one line takes one. May be overdrawn by lines that must go together with
/// one that was paid for.
#[derive(Debug)]
pub(super) struct Bucket {
    pace: Pace,
    tokens: f64,
    at: Duration,
}

impl Bucket {
    pub(super) fn full(pace: Pace, now: Duration) -> Self {
        Self { pace, tokens: f64::from(pace.burst.max(1)), at: now }
    }

    /// Takes a token if there is one.
    pub(super) fn take(&mut self, now: Duration) -> bool {
        self.fill(now);
        let there = self.has(1.0);
        if there {
            self.tokens -= 1.0;
        }
        there
    }

    /// Takes a token that may not be there yet.
    pub(super) fn overdraw(&mut self) {
        self.tokens -= 1.0;
    }

    /// Whether more than one line could go at once.
    pub(super) fn is_ample(&mut self, now: Duration) -> bool {
        self.fill(now);
        self.has(2.0)
    }

    /// When the next token is there.
    pub(super) fn ready_at(&self) -> Duration {
        let missing = (1.0 - self.tokens).max(0.0);
        self.at + Duration::from_secs_f64(missing / self.rate())
    }

    fn fill(&mut self, now: Duration) {
        let gained = now.saturating_sub(self.at).as_secs_f64() * self.rate();
        let most = f64::from(self.pace.burst.max(1));
        self.tokens = (self.tokens + gained).min(most);
        self.at = now;
    }

    /// Time is in whole nanoseconds: a token that lacks a billionth is there.
    fn has(&self, tokens: f64) -> bool {
        self.tokens + 1e-6 >= tokens
    }

    fn rate(&self) -> f64 {
        self.pace.per_second.clamp(0.01, 1e6)
    }
}

#[cfg(test)]
mod tests;
