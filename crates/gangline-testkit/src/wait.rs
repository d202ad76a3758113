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

#[allow(clippy::disallowed_methods, reason = "tests wait in real time")]
fn until<T>(patience: Duration, what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let start = std::time::Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) if start.elapsed() >= patience => {
                let seen = if seen.is_empty() { seen } else { format!("; seen last:\n{seen}") };
                panic!("not within {patience:?}: {what}{seen}");
            }
            Err(_) => std::thread::park_timeout(Duration::from_millis(20)),
        }
    }
}
