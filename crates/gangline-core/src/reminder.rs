//! Reminders: when one is due, as agents and people write it, and how many there may be.
//!
//! Pure. `now` brings the zone that counts where a text names none, and `zones` looks up a zone by
//! its name, so nothing is read here. Start at [`due`]; what comes again is a [`repeat::Repeat`].

mod at;
mod form;
pub mod repeat;
mod zone;

use std::time::Duration;

use jiff::{Timestamp, Zoned, tz::TimeZone};

use crate::{reminder::repeat::Repeat, shown, time::WallMicros};

/// A reminder repeats at most this often.
pub const OFTEST: Duration = Duration::from_secs(60);
/// A reminder is due at most this long from now: five years, leap days included.
pub const FURTHEST: Duration = Duration::from_secs(5 * 366 * 86_400);
/// The longest text that [`due`] reads, in bytes.
pub const TEXT_MAX: usize = 200;
/// The most words of a time.
const WORDS_MAX: usize = 10;
/// So many reminders of agents may follow from one another, over all agents, with no message of a person in
/// between: a loop that wakes itself by reminders ends, however slow it is.
pub const CHAIN_MAX: u32 = 30;
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
/// The most that is quoted of a text, in bytes.
const QUOTED_MAX: usize = 60;

/// Looks up a time zone by its name, such as `Europe/Berlin`; `None` if there is none.
pub type Zones<'a> = dyn Fn(&str) -> Option<TimeZone> + 'a;

/// When a reminder is due.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Due {
    /// The first time; always later than `now`.
    pub at: WallMicros,
    /// How it goes on after that.
    pub repeats: Option<Repeat>,
}

/// Why a text says no time for a reminder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DueError {
    /// It has no words.
    #[error("no time is given; say for example {EXAMPLES}")]
    Empty,
    /// It is longer than [`TEXT_MAX`].
    #[error(
        "a time of {0} bytes is too long, at most {TEXT_MAX} are read; say for example {EXAMPLES}"
    )]
    TooLong(usize),
    /// It has no form that is known.
    #[error("`{0}` is not a time that Gangline understands; say for example {EXAMPLES}")]
    NotUnderstood(String),
    /// It lies behind.
    #[error("{at} has passed, it is {now} now; say a later time")]
    Past {
        /// When it was.
        at: String,
        /// Now, in the same zone.
        now: String,
    },
    /// Clocks skip this time of day when they go forward.
    #[error(
        "{time} does not exist in {zone}, where clocks go forward then; say {before} or {after}"
    )]
    Gap {
        /// What was said.
        time: String,
        /// The zone.
        zone: String,
        /// The last minute before the gap.
        before: String,
        /// The first minute after it.
        after: String,
    },
    /// No zone has this name.
    #[error("`{0}` is not a time zone; say a name such as `Europe/Berlin`, or `UTC`")]
    UnknownZone(String),
    /// A repeat is stored with its zone, and that of `now` has no name.
    #[error(
        "the time zone here has no name to repeat by; add one, as in `every day 9:00 Europe/Berlin`"
    )]
    NamelessZone,
    /// An offset and a zone that contradict each other.
    #[error(
        "the offset {offset} is not that of {zone}, which is {right} then; leave one of them out"
    )]
    OtherOffset {
        /// What was said.
        offset: String,
        /// The zone.
        zone: String,
        /// Its offset at that time.
        right: String,
    },
    /// It is not a cron form.
    #[error("a bad cron form: {0}; say for example `cron 0 9 * * 1-5`")]
    BadCron(String),
    /// An interval of whole days does not tell the time of day.
    #[error(
        "`{0}` does not tell the time of day; say `every day 9:00`, or hours as in `every 48 h`"
    )]
    DaysApart(String),
    /// It repeats more often than [`OFTEST`].
    #[error("`{0}` is too often; the least is `every 1 min`")]
    TooOften(String),
    /// It is later than [`FURTHEST`] from now.
    #[error("that is more than five years from now, {now}; say an earlier time")]
    TooFar {
        /// Now.
        now: String,
    },
    /// No day until [`FURTHEST`] fits it.
    #[error("no day of the next five years fits `{0}`; say days that exist, unlike 31 February")]
    Never(String),
}

/// Three forms, for those who used another one.
const EXAMPLES: &str = "`in 20 min`, `tomorrow 9:00` or `every weekday 8:30`";

/// Returns when a reminder is due. Case does not matter, nor do extra spaces.
///
/// * From now: `in 20 min`, `2h 30m`, `in 3 days`. Days keep the time of day; where clocks skip it,
///   it is later by as much as they skip.
/// * Once: `9:00`, `at 9:00`, `9am`, `9:30 pm` (when it is so next), `today 17:30`, `tomorrow 9:00`,
///   `monday 9:00` (the next one, not today), `2026-11-25 09:00`, RFC 3339. `tomorrow` and `monday`
///   alone keep the time of day.
/// * Again and again: `every 20 min`, `every day 9:00`, `every monday 9:00`, `every weekday 8:30`,
///   and the five fields of cron, `0 9 * * 1-5` or `cron 0 9 * * 1-5`.
///
/// What names a time of day may end with a zone: `tomorrow 9:00 Europe/Berlin`, `@Europe/Berlin`,
/// `[Europe/Berlin]`, `+02:00`. A time that clocks show twice is the earlier one if that is still to
/// come. What the text does not name is not guessed: a date needs a time, and a time within a gap of
/// the clocks is an error.
pub fn due(text: &str, now: &Zoned, zones: &Zones<'_>) -> Result<Due, DueError> {
    if text.len() > TEXT_MAX {
        return Err(DueError::TooLong(text.len()));
    }
    at::due(&form::read(text)?, text, now, zones)
}

/// Returns when a reminder is due whose time and text stand in one line, and the text: `in 20 min look
/// at the build`. The longest beginning that is a time counts; a colon may follow it.
///
/// # Errors
/// Why the beginning is no time that can be used; [`DueError::NotUnderstood`] if it is none at all.
pub fn due_and_text<'a>(
    line: &'a str,
    now: &Zoned,
    zones: &Zones<'_>,
) -> Result<(Due, &'a str), DueError> {
    let line = line.trim();
    let ends = line.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at);
    let mut ends: Vec<usize> = ends.take(WORDS_MAX).collect();
    ends.push(line.len());
    let mut why: Option<DueError> = None;
    for end in ends.into_iter().rev() {
        let said = line[..end].trim_end().trim_end_matches([':', ',']);
        match due(said, now, zones) {
            Ok(due) => return Ok((due, line[end..].trim())),
            // What follows a time may look like the name of a zone.
            Err(DueError::NotUnderstood(_) | DueError::UnknownZone(_) | DueError::TooLong(_)) => {}
            Err(DueError::Empty) => return Err(DueError::Empty),
            Err(error) => why = why.or(Some(error)),
        }
    }
    Err(why.unwrap_or_else(|| DueError::NotUnderstood(quoted(line))))
}

/// Returns what follows the word `remind` in a line of a person; `None` if it begins otherwise.
#[must_use]
pub fn said_in(text: &str) -> Option<&str> {
    let (word, rest) = text.trim().split_once(char::is_whitespace)?;
    word.eq_ignore_ascii_case("remind").then(|| rest.trim())
}

/// Returns what people are told of a reminder that was made: its number, when it is due as `zone`
/// has it, and how it repeats.
#[must_use]
pub fn made(number: i64, due: &Due, zone: &TimeZone) -> String {
    let at = Timestamp::from_microsecond(due.at.0).unwrap_or_default().to_zoned(zone.clone());
    let at = at.strftime("%a %Y-%m-%d %H:%M:%S %:z");
    match &due.repeats {
        Some(repeats) => format!("reminder {number} is due {at}, then {}", repeats.describe()),
        None => format!("reminder {number} is due {at}"),
    }
}

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
pub(crate) fn units(time: Duration) -> String {
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

/// Returns a text as it is quoted in an error: safe to show, and not long.
pub(crate) fn quoted(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = text.floor_char_boundary(QUOTED_MAX);
    let dots = if cut < text.len() { "…" } else { "" };
    format!("{}{dots}", shown::label(&text[..cut]))
}

/// Returns a moment, or the last one before it that a store can hold.
fn micros(moment: Timestamp) -> WallMicros {
    WallMicros(moment.as_microsecond())
}

#[cfg(test)]
mod tests;
