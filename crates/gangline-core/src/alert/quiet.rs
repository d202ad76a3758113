//! Quiet hours: a part of each day, by the clock on the wall of a time zone, in which only errors are
//! sent to webhooks.

use std::{fmt, str::FromStr};

use jiff::{Timestamp, ToSpan, civil::Time, tz::TimeZone};

use crate::time::WallMicros;

/// A part of each day, such as `22:00-7:00`: from the first time on, up to the second one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietHours {
    from: Time,
    to: Time,
}

/// Why a text is no quiet hours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not two different times of day, such as `22:00-7:00`")]
pub struct QuietError(String);

impl FromStr for QuietHours {
    type Err = QuietError;

    fn from_str(text: &str) -> Result<Self, QuietError> {
        let refused = || QuietError(text.to_owned());
        let (from, to) = text.split_once('-').ok_or_else(refused)?;
        let (from, to) = (time(from).ok_or_else(refused)?, time(to).ok_or_else(refused)?);
        (from != to).then_some(Self { from, to }).ok_or_else(refused)
    }
}

impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        write!(f, "{}:{:02}-{}:{:02}", from.hour(), from.minute(), to.hour(), to.minute())
    }
}

impl QuietHours {
    /// Returns when the quiet hours end that `now` is in; `None` if it is in none. A change of the
    /// clock (daylight saving) may make them longer or shorter.
    #[must_use]
    pub fn end(self, now: WallMicros, zone: &TimeZone) -> Option<WallMicros> {
        let now = Timestamp::from_microsecond(now.0).ok()?;
        if !self.holds(now, zone) {
            return None;
        }
        let today = now.to_zoned(zone.clone()).date();
        let ends = [today, today.saturating_add(1.day())].into_iter().flat_map(|date| {
            let at = zone.to_ambiguous_zoned(date.to_datetime(self.to));
            [at.clone().compatible(), at.later()]
        });
        let ends = ends.filter_map(|at| Some(at.ok()?.timestamp()));
        // A time that the clock skips never comes: then they end where it goes on.
        let changes = zone.following(now).take(1).map(|change| change.timestamp());
        let over = ends.chain(changes).filter(|at| *at > now && !self.holds(*at, zone));
        over.min().map(|at| WallMicros(at.as_microsecond()))
    }

    fn holds(self, at: Timestamp, zone: &TimeZone) -> bool {
        let time = at.to_zoned(zone.clone()).time();
        match self.from < self.to {
            true => self.from <= time && time < self.to,
            false => self.from <= time || time < self.to,
        }
    }
}

/// Reads `7:00` or `22:30`.
fn time(text: &str) -> Option<Time> {
    let (hour, minute) = text.trim().split_once(':')?;
    let digits = |part: &str, most: usize| {
        (1..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !digits(hour, 2) || !digits(minute, 2) || minute.len() != 2 {
        return None;
    }
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}
