//! The hours in which an agent sleeps (`sleep_start`, `sleep_end`; R0-52). Pure: the zone comes with
//! the time. Start at [`Schedule::asleep`].

use std::{fmt, str::FromStr};

use jiff::{ToSpan, Zoned, civil::Time};
use serde::{Serialize, Serializer};

use crate::time::WallMicros;

/// A time of day, `23:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeOfDay(Time);

/// Why hours of sleep cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// It is no time of day.
    #[error("`{0}` is not a time of day; write hours and minutes, as in `23:00`")]
    NoTime(String),
    /// The start is the end.
    #[error("the sleep starts and ends at {0}; leave both out for an agent that never sleeps")]
    Same(TimeOfDay),
}

impl FromStr for TimeOfDay {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let wrong = || ScheduleError::NoTime(text.to_owned());
        let (hour, minute) = text.trim().split_once(':').ok_or_else(wrong)?;
        let number = |digits: &str, lengths: &[usize]| {
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            let fits = lengths.contains(&digits.len()) && plain;
            digits.parse::<i8>().ok().filter(|_| fits)
        };
        let (hour, minute) = (number(hour, &[1, 2]), number(minute, &[2]));
        let (hour, minute) = (hour.ok_or_else(wrong)?, minute.ok_or_else(wrong)?);
        Time::new(hour, minute, 0, 0).map(Self).map_err(|_| wrong())
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0.hour(), self.0.minute())
    }
}

impl Serialize for TimeOfDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The hours in which an agent sleeps, each day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Schedule {
    start: TimeOfDay,
    end: TimeOfDay,
}

/// An agent sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Asleep {
    /// Until when.
    pub until: WallMicros,
}

impl Schedule {
    /// Returns the hours from `start` to `end`, over midnight if the end is the earlier one.
    ///
    /// # Errors
    /// [`ScheduleError::Same`].
    pub fn new(start: TimeOfDay, end: TimeOfDay) -> Result<Self, ScheduleError> {
        match start == end {
            true => Err(ScheduleError::Same(start)),
            false => Ok(Self { start, end }),
        }
    }

    /// Returns whether it sleeps now, in the zone of `now`. A start or an end that clocks skip is as
    /// much later as they skip; one that they show twice is the first.
    #[must_use]
    pub fn asleep(&self, now: &Zoned) -> Option<Asleep> {
        let over_midnight = self.end.0 <= self.start.0;
        // The night that began yesterday, or today's.
        [-1_i64, 0].into_iter().find_map(|days| {
            let first = now.date().checked_add(days.days()).ok()?;
            let last = if over_midnight { first.tomorrow().ok()? } else { first };
            let at = |time: Time, date: jiff::civil::Date| {
                date.to_datetime(time).to_zoned(now.time_zone().clone()).ok()
            };
            let (start, end) = (at(self.start.0, first)?, at(self.end.0, last)?);
            let asleep = start <= *now && *now < end;
            let until = WallMicros(end.timestamp().as_microsecond());
            asleep.then_some(Asleep { until })
        })
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.start, self.end)
    }
}
