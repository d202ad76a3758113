//! Waiting for a fact, with a deadline: the only way tests wait.

#[cfg(test)]
mod tests;

use std::{
    cell::Cell,
    thread,
    time::{Duration, Instant},
};

/// How long a fact may take on a loaded machine before the test calls it missing. Longer than the
/// longest pause of the product, which is a minute before it tries a server or a room again.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// The bounds of the pause between two looks.
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(250);
/// How long a costly look is not repeated while nothing changes.
const UNCHANGED: Duration = Duration::from_millis(500);

/// Returns what `look` finds, looking again until [`PATIENCE`] is over.
///
/// # Panics
/// When nothing was found in time; says what was waited for.
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    eventually_within(PATIENCE, what, look)
}

/// Like [`eventually`] with a deadline of one's own.
///
/// # Panics
/// When nothing was found in time.
pub fn eventually_within<T>(
    patience: Duration,
    what: &str,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    until(patience, what, || look().ok_or_else(String::new))
}

/// Like [`eventually`], where `look` says what it sees instead of the fact.
///
/// # Panics
/// When nothing was found in time; shows what was seen last.
pub fn eventually_seeing<T>(what: &str, look: impl FnMut() -> Result<T, String>) -> T {
    until(PATIENCE, what, look)
}

/// Returns what `look` finds, looking again until the patience is over; nothing after that.
pub fn within<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    look_until(patience, || look().ok_or(()), rest).ok()
}

/// Waits for a fact that is costly to look for: looks again when `stamp` has changed, and after
/// [`UNCHANGED`] for what no stamp shows.
pub(crate) fn after_changes<T>(
    what: &str,
    stamp: impl Fn() -> u64,
    mut look: impl FnMut() -> Result<T, String>,
) -> T {
    let before = Cell::new(0);
    let look = || {
        // Read before the look, so that no change is missed.
        before.set(stamp());
        look()
    };
    let rest = |cost, _| {
        // The look itself may change what is stamped: it takes a third of the time at most.
        rest(cost / 5, Duration::ZERO);
        let _ = within(UNCHANGED, || (stamp() != before.get()).then_some(()));
    };
    look_until(PATIENCE, look, rest).unwrap_or_else(|seen| gave_up(PATIENCE, what, &seen))
}

fn until<T>(patience: Duration, what: &str, look: impl FnMut() -> Result<T, String>) -> T {
    look_until(patience, look, rest).unwrap_or_else(|seen| gave_up(patience, what, &seen))
}

fn gave_up(patience: Duration, what: &str, seen: &str) -> ! {
    let seen = if seen.is_empty() { String::new() } else { format!("; seen last:\n{seen}") };
    panic!("not within {patience:?}: {what}{seen}");
}

/// Returns the fact, or what was seen last. `rest` is told what the look took, and how long the fact
/// has been waited for.
#[allow(clippy::disallowed_methods, reason = "tests wait in real time")]
fn look_until<T, E>(
    patience: Duration,
    mut look: impl FnMut() -> Result<T, E>,
    mut rest: impl FnMut(Duration, Duration),
) -> Result<T, E> {
    let start = Instant::now();
    loop {
        let begun = start.elapsed();
        let seen = match look() {
            Ok(found) => return Ok(found),
            Err(seen) => seen,
        };
        let now = start.elapsed();
        if now >= patience {
            return Err(seen);
        }
        rest(now - begun, now);
    }
}

/// Pauses between two looks. One that costs much, or at a fact that is long in coming, is repeated
/// less often: many tests wait at the same time, for work that needs the same processors.
fn rest(cost: Duration, waited: Duration) {
    // sleep: this is how all others wait for a fact.
    thread::park_timeout((cost * 10).max(waited / 16).clamp(SHORTEST, LONGEST));
}
