//! Tests of the wait before the next attempt.

use std::time::Duration;

use proptest::prelude::*;

use super::{backoff, jitter};

const SECOND: Duration = Duration::from_secs(1);

/// R1-47
#[test]
fn the_wait_doubles_from_one_second_to_sixty() {
    let waits: Vec<u64> = (0..9).map(|n| backoff(n, SECOND, 0).as_secs()).collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    assert_eq!(backoff(u32::MAX, SECOND, 0), 60 * SECOND);
}

#[test]
fn jitter_takes_away_half_at_most() {
    assert_eq!(backoff(3, SECOND, u64::MAX), 4 * SECOND);
    assert_eq!(backoff(3, SECOND, u64::MAX / 2).as_millis(), 6000);
}

#[test]
fn jitter_differs_from_call_to_call() {
    let mut drawn: Vec<u64> = (0..100).map(|_| jitter()).collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert_eq!(drawn.len(), 100);
}

proptest! {
    #[test]
    fn there_is_always_a_wait(attempt: u32, random: u64) {
        let wait = backoff(attempt, SECOND, random);
        prop_assert!(wait >= SECOND / 2 && wait <= 60 * SECOND);
    }
}
