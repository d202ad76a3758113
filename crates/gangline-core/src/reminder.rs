//! Reminders: how many there may be, and when one may fire.
//!
//! Pure. Start at [`may_fire_at`].

use std::time::Duration;

use crate::time::WallMicros;

/// A reminder repeats at most this often.
pub const OFTEST: Duration = Duration::from_secs(60);
/// A reminder is due at most this long from now: five years, leap days included.
pub const FURTHEST: Duration = Duration::from_secs(5 * 366 * 86_400);
/// The longest text that says when one is due, in bytes.
pub const TEXT_MAX: usize = 200;
/// The most open reminders of an agent.
pub const OPEN_MAX: usize = 100;
/// A longer body, in bytes, is kept in a file instead of beside its due time.
pub const SPILL_ABOVE: usize = 4 * 1024;
/// The longest body, in bytes.
pub const BODY_MAX: usize = 1024 * 1024;
/// The most reminders of an agent that fire within [`FIRINGS_WITHIN`].
pub const FIRINGS_MAX: usize = 30;
/// The time in which [`FIRINGS_MAX`] are counted.
pub const FIRINGS_WITHIN: Duration = Duration::from_secs(60 * 60);

/// From so much lateness on it is told.
const LATE_ABOVE: Duration = Duration::from_secs(60);

/// Returns what a reminder that is told late says of it: `late by 2 h 10 min`. `None` up to a
/// minute.
#[must_use]
pub fn late_note(due: WallMicros, now: WallMicros) -> Option<String> {
    let late = u64::try_from(now.0.saturating_sub(due.0)).ok().map(Duration::from_micros)?;
    let minutes = Duration::from_secs(late.as_secs() / 60 * 60);
    (late > LATE_ABOVE).then(|| format!("late by {}", units(minutes)))
}

/// Returns whether another reminder of an agent may fire now, or when it may. `fired`: when its
/// last ones did, the newest last; only the last [`FIRINGS_MAX`] count. What fired later than `now`
/// did so before the clock was set back, and is not counted.
pub fn may_fire_at(fired: &[WallMicros], now: WallMicros) -> Result<(), WallMicros> {
    let Some(first) = fired.len().checked_sub(FIRINGS_MAX) else { return Ok(()) };
    let within = i64::try_from(FIRINGS_WITHIN.as_micros()).unwrap_or(i64::MAX);
    let mut free = i64::MAX;
    for at in &fired[first..] {
        let again = at.0.saturating_add(within);
        if *at > now || again <= now.0 {
            return Ok(());
        }
        free = free.min(again);
    }
    Err(WallMicros(free))
}

/// Returns a length of time in its two greatest units: `2 h 10 min`, `20 min`, `3 days`.
fn units(time: Duration) -> String {
    let seconds = time.as_secs();
    let parts = [
        (seconds / 86_400, "days"),
        (seconds / 3600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let first = parts.iter().position(|(count, _)| *count > 0).unwrap_or(parts.len() - 1);
    let said = parts[first..].iter().take(2).filter(|(count, _)| *count > 0);
    let said: Vec<_> = said
        .map(|(count, unit)| match (count, *unit) {
            (1, "days") => "1 day".to_owned(),
            (count, unit) => format!("{count} {unit}"),
        })
        .collect();
    if said.is_empty() { "0 s".to_owned() } else { said.join(" ") }
}

#[cfg(test)]
mod tests;
