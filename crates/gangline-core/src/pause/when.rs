//! When a pause ends, as people write it: `for 2h`, `until 9:00`. Start at [`pause_ends`].

use jiff::Zoned;

use crate::{
    reminder::{self, DueError, Zones},
    time::WallMicros,
};

/// Why a text says no end of a pause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PauseWhenError {
    /// It is no length of time.
    #[error("`{0}` is not a length of time; say for example `2h` or `90 min`")]
    NoLength(String),
    /// It is no time.
    #[error("`{0}` does not say when the pause ends; say for example `for 2h` or `until 9:00`")]
    NoTime(String),
    /// It comes again and again.
    #[error("`{0}` comes again and again; a pause ends once, as with `until 9:00`")]
    Repeats(String),
    /// The time cannot be used.
    #[error(transparent)]
    Due(DueError),
}

/// Returns when a pause of this length ends: `2h`, `90 min`, `1 day`. The wall clock counts: over a
/// change of the clocks a day keeps its time of day.
///
/// # Errors
/// Why the text is no length that can be used.
pub fn pause_for(text: &str, now: &Zoned, zones: &Zones<'_>) -> Result<WallMicros, PauseWhenError> {
    let said = text.trim();
    let wrong = || PauseWhenError::NoLength(reminder::quoted(said));
    match reminder::due(&format!("in {said}"), now, zones) {
        Ok(due) => Ok(due.at),
        Err(DueError::NotUnderstood(_) | DueError::Empty | DueError::UnknownZone(_)) => {
            Err(wrong())
        }
        Err(error) => Err(PauseWhenError::Due(error)),
    }
}

/// Returns when a pause until then ends: `9:00` (when it is so next), `tomorrow 9:00`, `monday 9:00`,
/// RFC 3339; in the zone of `now` where the text names none. A time that clocks skip is an error that
/// names the times beside it.
///
/// # Errors
/// Why the text is no time that can be used.
pub fn pause_until(
    text: &str,
    now: &Zoned,
    zones: &Zones<'_>,
) -> Result<WallMicros, PauseWhenError> {
    let said = text.trim();
    match reminder::due(said, now, zones) {
        Ok(due) if due.repeats.is_some() => Err(PauseWhenError::Repeats(reminder::quoted(said))),
        Ok(due) => Ok(due.at),
        Err(DueError::NotUnderstood(_) | DueError::Empty) => {
            Err(PauseWhenError::NoTime(reminder::quoted(said)))
        }
        Err(error) => Err(PauseWhenError::Due(error)),
    }
}

/// Returns when a pause ends that was given with one of both: `for 2h`, `until 9:00`, `2h`, `9:00`.
///
/// # Errors
/// Why the text is none of them.
pub fn pause_ends(
    text: &str,
    now: &Zoned,
    zones: &Zones<'_>,
) -> Result<WallMicros, PauseWhenError> {
    let said = text.trim();
    let (word, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
    match word.to_ascii_lowercase().as_str() {
        "for" => pause_for(rest, now, zones),
        "until" | "till" => pause_until(rest, now, zones),
        _ => pause_until(said, now, zones),
    }
}
