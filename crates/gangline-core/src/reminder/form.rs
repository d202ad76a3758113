//! The forms in which a time is written. Reading needs neither a clock nor a zone. Start at
//! [`read`].

use jiff::{
    SignedDuration, Span,
    civil::{Date, DateTime, Time, Weekday},
    fmt::temporal::{Pieces, PiecesOffset},
    tz::Offset,
};

use crate::reminder::{DueError, quoted, zone};

/// A time as it was written, with the zone that it names.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) form: Form,
    pub(super) zone: Option<String>,
}

/// What a time is written by.
#[derive(Debug, Clone)]
pub(super) enum Form {
    Once(Once),
    Again(Again),
}

/// One time.
#[derive(Debug, Clone)]
pub(super) enum Once {
    /// This long from now.
    In(Span),
    /// On this day; without a time of day at the present one.
    On(Day, Option<Time>),
    /// A date and a time of day.
    Wall(DateTime),
    /// The same with an offset.
    Instant(DateTime, Stated),
}

/// One time after the other.
#[derive(Debug, Clone)]
pub(super) enum Again {
    /// This long after each other.
    Every(SignedDuration),
    /// At a time of day, or else the present one, on these days of the week, as cron has them.
    Each(&'static str, Option<Time>),
    /// The fields of cron, not yet checked.
    Cron(String),
}

/// The offset that an instant has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stated {
    /// `Z`: it says nothing about the clocks of a zone.
    Utc,
    /// An offset in digits.
    Offset(Offset),
}

/// A day as seen from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Day {
    /// Today if the time of day is still to come, otherwise tomorrow.
    Next,
    Today,
    Tomorrow,
    /// The next one that is not today.
    Weekday(Weekday),
}

/// Days of the week, with their number in cron.
const WEEKDAYS: [(&str, Weekday, &str); 7] = [
    ("monday", Weekday::Monday, "1"),
    ("tuesday", Weekday::Tuesday, "2"),
    ("wednesday", Weekday::Wednesday, "3"),
    ("thursday", Weekday::Thursday, "4"),
    ("friday", Weekday::Friday, "5"),
    ("saturday", Weekday::Saturday, "6"),
    ("sunday", Weekday::Sunday, "0"),
];

const CRON_FIELDS: usize = 5;

/// Reads a text.
pub(super) fn read(text: &str) -> Result<Said, DueError> {
    let not_understood = || DueError::NotUnderstood(quoted(text));
    let (words, zone) = marked_zone(text).ok_or_else(not_understood)?;
    if words.is_empty() {
        return Err(DueError::Empty);
    }
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let with = |form, zone: Option<&str>| Said { form, zone: zone.map(str::to_owned) };
    if let Some(fields) = cron_fields(&lower) {
        let (fields, last) = match (zone, fields) {
            (None, [fields @ .., last]) if fields.len() == CRON_FIELDS && is_cron_zone(last) => {
                (fields, words.last().copied())
            }
            (zone, fields) => (fields, zone),
        };
        return Ok(with(Form::Again(Again::Cron(fields.join(" "))), last));
    }
    if let Some(form) = form(&lower)? {
        // An interval has no use for a zone.
        let idle = zone.is_some() && matches!(form, Form::Again(Again::Every(_)));
        return if idle { Err(not_understood()) } else { Ok(with(form, zone)) };
    }
    match (words.last(), zone, lower.split_last()) {
        (Some(last), None, Some((_, rest))) if zone::is_name(last) => match form(rest)? {
            None | Some(Form::Again(Again::Every(_))) => Err(not_understood()),
            Some(form) => Ok(with(form, Some(last))),
        },
        (..) => Err(not_understood()),
    }
}

/// Splits a text into words, without the zone that it marks as one: `[ZONE]` or `@ZONE` at its end.
fn marked_zone(text: &str) -> Option<(Vec<&str>, Option<&str>)> {
    let text = text.trim_end();
    if let Some(text) = text.strip_suffix(']') {
        let (text, zone) = text.rsplit_once('[')?;
        return Some((text.split_whitespace().collect(), Some(zone)));
    }
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let zone = words.last().and_then(|word| word.strip_prefix('@'));
    if zone.is_some() {
        words.pop();
    }
    Some((words, zone))
}

/// Returns the words that are fields, if it is a cron form or one that went wrong.
fn cron_fields<'a>(words: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let bare = |word: &&str| word.bytes().all(|c| c.is_ascii_digit() || b"*/,-".contains(&c));
    match words {
        ["cron", fields @ ..] => Some(fields),
        // `1 h 20 min 5 s` begins with one number only.
        [minute, hour, ..] if words.len() >= CRON_FIELDS && bare(minute) && bare(hour) => {
            Some(words)
        }
        _ => None,
    }
}

/// Returns whether the sixth word of a cron form is a zone, not the last one of six fields.
fn is_cron_zone(word: &str) -> bool {
    zone::is_name(word) && word.get(..3).is_none_or(|start| weekday(start).is_none())
}

/// Reads the words without a zone. An error is one that another reading cannot mend.
fn form(words: &[&str]) -> Result<Option<Form>, DueError> {
    Ok(match words {
        ["every", rest @ ..] => every(rest)?.map(Form::Again),
        words => once(words).map(Form::Once),
    })
}

fn once(words: &[&str]) -> Option<Once> {
    let at = |day| move |time| Once::On(day, Some(time));
    match words {
        ["in", rest @ ..] => span(rest).map(Once::In),
        ["today", rest @ ..] => clock(rest).map(at(Day::Today)),
        ["tomorrow"] => Some(Once::On(Day::Tomorrow, None)),
        ["tomorrow", rest @ ..] => clock(rest).map(at(Day::Tomorrow)),
        ["on", rest @ ..] => on_weekday(rest).or_else(|| on_date(rest)),
        words => clock(words)
            .map(at(Day::Next))
            .or_else(|| on_weekday(words))
            .or_else(|| on_date(words))
            .or_else(|| span(words).map(Once::In)),
    }
}

fn every(words: &[&str]) -> Result<Option<Again>, DueError> {
    let (days, rest) = match words {
        ["day", rest @ ..] => ("*", rest),
        ["weekday", rest @ ..] => ("1-5", rest),
        [unit @ ("hour" | "minute")] => return every(&["1", unit]),
        [first, rest @ ..] => match weekday(first) {
            Some((_, number)) => (number, rest),
            None => return interval(words),
        },
        [] => return Ok(None),
    };
    Ok(match rest {
        [] => Some(Again::Each(days, None)),
        rest => clock(rest).map(|time| Again::Each(days, Some(time))),
    })
}

fn interval(words: &[&str]) -> Result<Option<Again>, DueError> {
    let Some(span) = span(words) else { return Ok(None) };
    match SignedDuration::try_from(span) {
        Ok(interval) => Ok(Some(Again::Every(interval))),
        Err(_) => Err(DueError::DaysApart(quoted(&format!("every {}", words.join(" "))))),
    }
}

fn on_weekday(words: &[&str]) -> Option<Once> {
    let (day, rest) = words.split_first()?;
    let day = Day::Weekday(weekday(day)?.0);
    match rest {
        [] => Some(Once::On(day, None)),
        rest => clock(rest).map(|time| Once::On(day, Some(time))),
    }
}

/// Reads a weekday, whole or by its first three letters.
fn weekday(word: &str) -> Option<(Weekday, &'static str)> {
    let fits = |name: &str| word == name || word == &name[..3];
    WEEKDAYS.iter().find(|(name, ..)| fits(name)).map(|(_, day, number)| (*day, *number))
}

/// Reads a time of day: `9:00`, `at 9:00`, `9am`, `9:30 pm`.
fn clock(words: &[&str]) -> Option<Time> {
    let (time, half) = match words {
        ["at", rest @ ..] if rest.first() != Some(&"at") => return clock(rest),
        [time, half @ ("am" | "pm")] => (*time, Some(*half)),
        [time] => match (time.strip_suffix("am"), time.strip_suffix("pm")) {
            (Some(time), _) => (time, Some("am")),
            (None, Some(time)) => (time, Some("pm")),
            (None, None) => (*time, None),
        },
        _ => return None,
    };
    let (hour, minute) = match (time.split_once(':'), half) {
        (Some((hour, minute)), _) if minute.len() == 2 => (number(hour)?, number(minute)?),
        (None, Some(_)) => (number(time)?, 0),
        (Some(_), _) | (None, None) => return None,
    };
    let hour = match (half, hour) {
        (None, hour) => hour,
        (Some(_), 0 | 13..) => return None,
        (Some("am"), 12) => 0,
        (Some("pm"), hour @ 1..=11) => hour + 12,
        (Some(_), hour) => hour,
    };
    Time::new(hour, minute, 0, 0).ok()
}

/// Reads a number of one or two digits.
fn number(text: &str) -> Option<i8> {
    let plain = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// Reads a date with a time of day, or a whole RFC 3339.
fn on_date(words: &[&str]) -> Option<Once> {
    let [date, rest @ ..] = words else { return None };
    if !date.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let (Some(time), Ok(date)) = (clock(rest), date.parse::<Date>()) {
        return Some(Once::Wall(date.to_datetime(time)));
    }
    let text = match rest {
        [] => (*date).to_owned(),
        [time] => format!("{date}T{time}"),
        _ => return None,
    };
    let pieces = Pieces::parse(&text).ok().filter(|it| it.time_zone_annotation().is_none())?;
    let at = pieces.date().to_datetime(pieces.time()?);
    Some(match pieces.offset() {
        None => Once::Wall(at),
        Some(PiecesOffset::Zulu) => Once::Instant(at, Stated::Utc),
        Some(offset) => Once::Instant(at, Stated::Offset(offset.to_numeric_offset())),
    })
}

/// Reads a length of time: `2h 30m`, `3 days`, `an hour`, `PT20M`.
fn span(words: &[&str]) -> Option<Span> {
    let text = match words {
        ["a" | "an", unit] => format!("1 {unit}"),
        words => words.join(" "),
    };
    // With a colon it is a time of day.
    if text.contains(':') { None } else { text.parse().ok() }
}
