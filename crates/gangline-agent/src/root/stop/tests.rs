//! The budgets of an end, held apart: a backend and records that take their time, or all of it.

use std::{pin::pin, sync::Arc};

use gangline_os::{clock::SharedClock, task::TaskGroup};

use super::*;
use crate::hand_clock::HandClock;

const NEVER: Duration = Duration::from_secs(1_000_000);

/// Returns after how many seconds the root goes on, with a backend and with records that take so
/// many each.
async fn goes_on_after(backend: Duration, records: Duration) -> u64 {
    let (hand, halt) = (Arc::new(HandClock::default()), CancellationToken::new());
    let clock: SharedClock = Arc::<HandClock>::clone(&hand);
    let mut tasks = Tasks::new(TaskGroup::new("test"), SharedClock::clone(&clock));
    // Both are under way when the root begins to wait.
    for (name, takes) in [(BACKEND, backend), (AGENT_LOOP, records)] {
        let until = clock.sleep_until(clock.monotonic() + takes);
        tasks.spawn(name, until);
    }
    let mut waits = pin!(wind_up(&mut tasks, &halt));
    for second in 0.. {
        // What follows from the last second happens.
        for _ in 0..50 {
            tokio::select! {
                biased;
                () = &mut waits => {
                    assert!(halt.is_cancelled(), "no backend may begin");
                    return second;
                }
                () = tokio::task::yield_now() => {}
            }
        }
        hand.forward(Duration::from_secs(1));
    }
    unreachable!()
}

#[tokio::test]
async fn the_kill_policy_and_the_records_each_have_their_budget() {
    let (kill, records) = (KILL_BUDGET.as_secs(), RECORDS_BUDGET.as_secs());
    let at_once = Duration::ZERO;
    let after = Duration::from_secs;
    for (backend, written, expect) in [
        (after(3), at_once, 3),
        (at_once, after(4), 4),
        // The one goes on beside the other.
        (after(10), after(12), 12),
        // A backend that does not end takes no more than its own, though all is written.
        (NEVER, at_once, kill),
        // A store that cannot write takes no more than its own, though no backend is there.
        (at_once, NEVER, records),
        // A backend that took all of its budget has taken nothing of the records'.
        (NEVER, after(kill + records - 1), kill + records - 1),
        (after(kill - 1), NEVER, kill - 1 + records),
        (NEVER, NEVER, kill + records),
    ] {
        let took = goes_on_after(backend, written).await;
        assert_eq!(took, expect, "a backend that takes {backend:?}, records {written:?}");
    }
}
