//! How often and how long a failed request is waited for; pure but for the jitter.

use std::time::Duration;

use crate::client::error::ApiError;
use crate::config::RetryPolicy;

/// The budget of one request.
#[derive(Debug)]
pub(crate) struct Budget {
    policy: RetryPolicy,
    used: u32,
    waited: Duration,
}

impl Budget {
    pub(crate) fn new(policy: RetryPolicy) -> Self {
        Self { policy, used: 0, waited: Duration::ZERO }
    }

    /// Returns number and pause of the next repetition, or nothing if there shall be none.
    pub(crate) fn next(&mut self, error: &ApiError) -> Option<(u32, Duration)> {
        if !error.kind.is_passing() || self.used >= self.policy.max_retries {
            return None;
        }
        let wait = match error.kind.retry_after() {
            Some(asked) => asked,
            None => self.own_wait(),
        };
        let waited = self.waited.checked_add(wait)?;
        if waited > self.policy.max_total_wait {
            return None;
        }
        self.waited = waited;
        self.used += 1;
        Some((self.used, wait))
    }

    fn own_wait(&self) -> Duration {
        let doubled = 2u32.saturating_pow(self.used.min(20));
        let wait = self.policy.first_wait.saturating_mul(doubled).min(self.policy.longest_wait);
        wait.mul_f64(0.75 + 0.5 * jitter())
    }
}

/// Returns a number in `0.0 .. 1.0`.
fn jitter() -> f64 {
    f64::from(uuid::Uuid::new_v4().as_fields().0) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests;
