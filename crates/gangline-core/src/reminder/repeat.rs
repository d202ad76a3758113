//! How a reminder comes again after it has fired: [`Repeat`], which is stored as text.

use std::{fmt, str::FromStr, time::Duration};

use croner::{
    Cron, Weekday,
    parser::{CronParser, Seconds, Year},
};
use jiff::{
    SignedDuration, Timestamp, ToSpan, Zoned,
    civil::Date,
    tz::{AmbiguousOffset, TimeZone},
};

use crate::{
    reminder::{DueError, FURTHEST, OFTEST, Zones, micros, units, zone},
    shown,
    time::WallMicros,
};

/// How a reminder comes again.
///
/// Its text is what is stored, and [`FromStr`] takes it back: `every PT20M`, which counts from the
/// time before, or `cron 0 9 * * 1-5 @Europe/Berlin`, which goes by the clocks of that zone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Repeat(Kind);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Kind {
    /// At least [`OFTEST`].
    Every(SignedDuration),
    /// Five fields that croner has parsed, and the name or offset of a zone.
    Cron { fields: String, zone: String },
}

/// A stored text that is no [`Repeat`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a repeat of a reminder, such as `every PT20M` or `cron 0 9 * * 1-5 @Europe/Berlin`"
)]
pub struct BadRepeat(String);

const CRON_FIELDS: usize = 5;
/// A longer description is left out in favour of the fields.
const DESCRIBED_MAX: usize = 100;

impl Repeat {
    /// Returns the repeat after this long; `None` if that is less than [`OFTEST`].
    pub(super) fn every(interval: SignedDuration) -> Option<Self> {
        let enough = Duration::try_from(interval).is_ok_and(|interval| interval >= OFTEST);
        enough.then_some(Self(Kind::Every(interval)))
    }

    /// Returns the repeat at the times of these five fields.
    pub(super) fn cron(fields: &str, zone: &str) -> Result<Self, DueError> {
        let words: Vec<&str> = fields.split_whitespace().collect();
        if words.len() != CRON_FIELDS {
            let reason = format!("it has {} fields, not {CRON_FIELDS}", words.len());
            return Err(DueError::BadCron(reason));
        }
        let fields = words.join(" ").to_uppercase();
        parse(&fields).map_err(|reason| DueError::BadCron(shown::label(&reason)))?;
        Ok(Self(Kind::Cron { fields, zone: zone.to_owned() }))
    }

    /// Returns the first time after `after`; `None` if no day of the next five years fits, or the
    /// zone is not known.
    ///
    /// Where clocks go forward, a repeat of one time a day, if they skip that time, fires at the
    /// first moment after the gap; one of several times a day leaves out those that are skipped.
    /// Where clocks go back, a time that they show twice counts once, the first time; only a repeat
    /// whose hour begins with `*` goes on through both hours.
    #[must_use]
    pub fn next_after(&self, after: WallMicros, zones: &Zones<'_>) -> Option<WallMicros> {
        match &self.0 {
            Kind::Every(interval) => {
                let interval = i64::try_from(interval.as_micros()).ok()?;
                let at = Timestamp::from_microsecond(after.0.checked_add(interval)?).ok()?;
                Some(micros(at))
            }
            Kind::Cron { fields, zone } => next(fields, after, zone::find(zone, zones)?),
        }
    }

    /// Returns it for people: `every 20 min`, `at 09:00 on weekdays (Europe/Berlin)`.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.0 {
            Kind::Every(interval) => {
                let interval = Duration::try_from(*interval).unwrap_or_default();
                format!("every {}", units(interval))
            }
            Kind::Cron { fields, zone } => match parse(fields) {
                Ok(cron) => format!("{} ({zone})", in_words(&cron, fields)),
                Err(_) => self.to_string(),
            },
        }
    }
}

fn next(fields: &str, after: WallMicros, time_zone: TimeZone) -> Option<WallMicros> {
    let cron = parse(fields).ok()?;
    // Occurrences are whole seconds, so the one after this second is after `after`.
    let after = Timestamp::from_second(after.0.div_euclid(1_000_000)).ok()?;
    let after = after.to_zoned(time_zone);
    if !has_day(&cron, after.date()) {
        return None;
    }
    let mut at = cron.find_next_occurrence(&after, false).ok()?;
    let each_hour = fields.split(' ').nth(1).is_some_and(|hour| hour.starts_with('*'));
    while !each_hour && is_second(&at) {
        at = cron.find_next_occurrence(&at, false).ok()?;
    }
    Some(micros(at.timestamp()))
}

/// Returns whether a day fits, from this one on and within [`FURTHEST`]. Croner itself would
/// look for one through three thousand years.
fn has_day(cron: &Cron, from: Date) -> bool {
    let days = FURTHEST.as_secs() / 86_400;
    let fits = |day: Date| {
        let (year, month) = (i32::from(day.year()), day.month().unsigned_abs().into());
        let weekday = day.weekday().to_sunday_zero_offset().unsigned_abs().into();
        let weekday = Weekday::from_days_from_sunday(weekday);
        let pattern = &cron.pattern;
        pattern.month_match(month).unwrap_or(false)
            && pattern
                .day_match(year, month, day.day().unsigned_abs().into(), weekday)
                .unwrap_or(false)
    };
    from.series(1.day()).zip(0..=days).any(|(day, _)| fits(day))
}

/// Returns whether clocks show this time for the second time.
fn is_second(at: &Zoned) -> bool {
    match at.time_zone().to_ambiguous_timestamp(at.datetime()).offset() {
        AmbiguousOffset::Fold { after, .. } => after == at.offset(),
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Gap { .. } => false,
    }
}

fn parse(fields: &str) -> Result<Cron, String> {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(fields).map_err(|error| {
        let reason = error.to_string();
        let (_, reason) = reason.split_once(": ").unwrap_or(("", &reason));
        uncapitalised(&reason.trim_end_matches('.').replace("CronPattern", "it"))
    })
}

/// Returns croner's description, shorter.
fn in_words(cron: &Cron, fields: &str) -> String {
    let said = uncapitalised(cron.describe().trim_end_matches('.'))
        .replace("Monday, Tuesday, Wednesday, Thursday, and Friday", "weekdays")
        .replace(", on ", " on ")
        .replace(", in ", " in ")
        .replace(", of ", " of ")
        .replace("at every ", "every ");
    if said.len() > DESCRIBED_MAX { format!("cron {fields}") } else { said }
}

fn uncapitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Every(interval) => write!(f, "every {interval}"),
            Kind::Cron { fields, zone } => write!(f, "cron {fields} @{zone}"),
        }
    }
}

impl FromStr for Repeat {
    type Err = BadRepeat;

    fn from_str(text: &str) -> Result<Self, BadRepeat> {
        let stored = |read: &Self| read.to_string() == text;
        let read = match text.split_once(' ') {
            Some(("every", interval)) => interval.parse().ok().and_then(Self::every),
            Some(("cron", rest)) => rest.rsplit_once(" @").and_then(|(fields, zone)| {
                let zone = Some(zone).filter(|zone| zone::is_name(zone))?;
                Self::cron(fields, zone).ok()
            }),
            Some(_) | None => None,
        };
        read.filter(stored).ok_or_else(|| BadRepeat(shown::label(text)))
    }
}
