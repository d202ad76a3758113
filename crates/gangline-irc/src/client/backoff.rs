//! The wait before the next attempt to connect.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// The longest wait, in units.
pub const MOST: u32 = 60;

/// Returns the wait before attempt number `attempt` (0 is the first after a loss): 1, 2, 4 … 60
/// units, of which `random` (0 … `u64::MAX`) takes away up to a half, so that many agents do not
/// come back in one moment.
#[must_use]
pub fn backoff(attempt: u32, unit: Duration, random: u64) -> Duration {
    let whole = unit * 2u32.saturating_pow(attempt).min(MOST);
    let part = (random >> 32) as f64 / f64::from(u32::MAX);
    whole.mul_f64(1.0 - part / 2.0)
}

/// Returns a number that differs from call to call and from process to process; for jitter, not
/// for secrets.
#[must_use]
pub fn jitter() -> u64 {
    RandomState::new().hash_one(0u8)
}

#[cfg(test)]
mod tests;
