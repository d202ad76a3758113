//! A provider's limits: how long a wait is that means a spent quota, and how agents go on after it.

use std::time::Duration;

use crate::time::Now;

/// A provider that lets nothing pass for so long has no room left in what the account may use: its
/// quota is spent. A shorter wait is a throttle, which the next request may pass.
pub const QUOTA_FROM: Duration = Duration::from_secs(5 * 60);

/// After a spent quota the agents of an account go on within this time, not all at once.
pub const RAMP: Duration = Duration::from_secs(2 * 60);

/// So long an agent waits after a limit that names no time.
pub const UNNAMED_WAIT: Duration = Duration::from_secs(30);
/// So long an agent waits for a spent quota that names no time.
pub const QUOTA_WAIT: Duration = Duration::from_secs(30 * 60);

/// The limits that a backend meets without being told a time, as those are that speak ACP or live in a
/// terminal: one after the other they tell a throttle from a spent quota.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unnamed {
    since: Option<Now>,
}

impl Unnamed {
    /// A limit was met. Returns how long to wait: [`UNNAMED_WAIT`]; once nothing has passed for
    /// [`QUOTA_FROM`], [`QUOTA_WAIT`].
    pub fn met(&mut self, now: Now) -> Duration {
        let since = *self.since.get_or_insert(now);
        if now.since(since) >= QUOTA_FROM { QUOTA_WAIT } else { UNNAMED_WAIT }
    }

    /// Something else came than a limit without a time.
    pub fn passed(&mut self) {
        self.since = None;
    }
}

/// Returns how long after the end of a spent quota this agent goes on: less than [`RAMP`], always the
/// same for the same name, and spread over the names.
#[must_use]
pub fn ramp(agent: &str) -> Duration {
    // FNV-1a: the same in every build and on every machine.
    let hash = agent.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let millis = u64::try_from(RAMP.as_millis()).unwrap_or(u64::MAX).max(1);
    Duration::from_millis((hash >> 16) % millis)
}
