//! Waiting for a fact, with a deadline: the only way tests wait.

use std::time::Duration;

/// How long a fact may take on a loaded machine before the test calls it missing. Longer than the
/// longest pause of the product, which is a minute before it tries a server or a room again.
pub const PATIENCE: Duration = Duration::from_secs(120);

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
#[allow(clippy::disallowed_methods, reason = "tests wait in real time")]
pub fn eventually_within<T>(
    patience: Duration,
    what: &str,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let start = std::time::Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < patience, "not within {patience:?}: {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
