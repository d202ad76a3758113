//! Time zones, by the names under which repeats are stored: `Europe/Berlin`, `UTC`, `+02`.

use jiff::{
    Zoned,
    tz::{Offset, TimeZone},
};

use crate::reminder::{DueError, Zones, quoted};

/// The longest name.
const NAME_MAX: usize = 64;
const UTC: &str = "UTC";

/// A zone, with the name to store.
#[derive(Debug, Clone)]
pub(super) struct Zone {
    /// `None`: it can be reckoned in, and not be found again.
    name: Option<String>,
    time_zone: TimeZone,
}

impl Zone {
    /// Returns the zone that a text names.
    pub(super) fn named(name: &str, zones: &Zones<'_>) -> Result<Self, DueError> {
        let found = find(name, zones).ok_or_else(|| DueError::UnknownZone(quoted(name)))?;
        let name = own_name(&found).unwrap_or_else(|| name.to_owned());
        Ok(Self { name: Some(name), time_zone: found })
    }

    /// Returns the zone of a moment.
    pub(super) fn of(now: &Zoned) -> Self {
        Self { name: own_name(now.time_zone()), time_zone: now.time_zone().clone() }
    }

    pub(super) fn time_zone(&self) -> &TimeZone {
        &self.time_zone
    }

    /// Returns the name by which [`find`] finds the zone again.
    pub(super) fn stored(&self, zones: &Zones<'_>) -> Result<&str, DueError> {
        let name = self.name.as_deref().ok_or(DueError::NamelessZone)?;
        find(name, zones).map(|_| name).ok_or_else(|| DueError::UnknownZone(quoted(name)))
    }

    /// Returns the name for people.
    pub(super) fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or("the time zone here")
    }
}

/// Returns the zone of this name or offset.
pub(super) fn find(name: &str, zones: &Zones<'_>) -> Option<TimeZone> {
    match name {
        name if !is_name(name) => None,
        name if name.eq_ignore_ascii_case(UTC) => Some(TimeZone::UTC),
        name if name.starts_with(['+', '-']) => offset(name).map(TimeZone::fixed),
        name => zones(name),
    }
}

/// Returns whether a word can be the name or the offset of a zone.
pub(super) fn is_name(word: &str) -> bool {
    let begins = match word.as_bytes() {
        [b'+' | b'-', digit, ..] => digit.is_ascii_digit(),
        [first, ..] => first.is_ascii_alphabetic(),
        [] => false,
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-:".contains(&byte);
    begins && word.len() <= NAME_MAX && word.bytes().all(plain)
}

fn own_name(time_zone: &TimeZone) -> Option<String> {
    // A machine that says no zone counts in UTC.
    if time_zone.is_unknown() {
        return Some(UTC.to_owned());
    }
    let offset = || time_zone.to_fixed_offset().ok().map(|offset| offset.to_string());
    time_zone.iana_name().map(str::to_owned).or_else(offset)
}

/// Reads `+02`, `+02:00` and `+0200`, with seconds if a zone has some.
fn offset(text: &str) -> Option<Offset> {
    let (sign, digits) = text.split_at_checked(1)?;
    let digits = digits.replace(':', "");
    let number = |from: usize| match digits.get(from..from + 2) {
        Some(pair) => pair.parse::<i32>().ok(),
        None => (digits.len() == from).then_some(0),
    };
    let (hours, minutes) = (digits.get(..2)?.parse::<i32>().ok()?, number(2)?);
    let seconds = if digits.len() > 4 { number(4)? } else { 0 };
    let plain = digits.len() <= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain || hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let all = hours * 3600 + minutes * 60 + seconds;
    Offset::from_seconds(if sign == "-" { -all } else { all }).ok()
}
