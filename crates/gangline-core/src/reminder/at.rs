//! From a form to the moment that it means, seen from now. Start at [`due`].

use jiff::{
    SignedDuration, Timestamp, ToSpan, Zoned,
    civil::{DateTime, Time},
    tz::{AmbiguousOffset, Offset},
};

use crate::reminder::{
    Due, DueError, FURTHEST, Zones,
    form::{Again, Day, Form, Once, Said, Stated},
    micros, quoted,
    repeat::Repeat,
    zone::Zone,
};

/// Returns when what was said is due.
pub(super) fn due(
    said: &Said,
    text: &str,
    now: &Zoned,
    zones: &Zones<'_>,
) -> Result<Due, DueError> {
    let zone = match &said.zone {
        Some(name) => Zone::named(name, zones)?,
        None => Zone::of(now),
    };
    let here = Here { now: now.with_time_zone(zone.time_zone().clone()), zone };
    let again = match &said.form {
        Form::Once(once) => {
            let at = here.once(once, said.zone.as_deref())?;
            return Ok(Due { at: micros(here.to_come(at)?), repeats: None });
        }
        Form::Again(again) => again,
    };
    let never = || DueError::Never(quoted(text));
    let (repeat, none) = match again {
        Again::Every(interval) => {
            let too_often = || DueError::TooOften(quoted(text));
            (Repeat::every(*interval).ok_or_else(too_often)?, here.too_far())
        }
        Again::Each(days, time) => {
            let time = time.unwrap_or(here.now.time());
            let fields = format!("{} {} * * {days}", time.minute(), time.hour());
            (Repeat::cron(&fields, here.zone.stored(zones)?)?, never())
        }
        Again::Cron(fields) => (Repeat::cron(fields, here.zone.stored(zones)?)?, never()),
    };
    let first = repeat.next_after(micros(now.timestamp()), zones).ok_or(none)?;
    let first = Timestamp::from_microsecond(first.0).map_err(|_| here.too_far())?;
    Ok(Due { at: micros(here.to_come(first)?), repeats: Some(repeat) })
}

/// Now, in the zone that counts.
struct Here {
    now: Zoned,
    zone: Zone,
}

impl Here {
    /// Returns the moment that is meant. `named`: the zone that the text names.
    fn once(&self, once: &Once, named: Option<&str>) -> Result<Timestamp, DueError> {
        match once {
            Once::In(span) => {
                self.now.checked_add(*span).map(|at| at.timestamp()).map_err(|_| self.too_far())
            }
            Once::On(day, time) => self.on(*day, *time),
            Once::Wall(at) => self.wall(*at),
            Once::Instant(at, Stated::Utc) => {
                Offset::UTC.to_timestamp(*at).map_err(|_| self.too_far())
            }
            Once::Instant(at, Stated::Offset(offset)) => {
                let instant = offset.to_timestamp(*at).map_err(|_| self.too_far())?;
                let right = self.zone.time_zone().to_offset(instant);
                if named.is_none() || right == *offset {
                    return Ok(instant);
                }
                Err(DueError::OtherOffset {
                    offset: offset.to_string(),
                    zone: self.zone.shown().to_owned(),
                    right: right.to_string(),
                })
            }
        }
    }

    fn on(&self, day: Day, time: Option<Time>) -> Result<Timestamp, DueError> {
        let today = self.now.date();
        let days = match day {
            Day::Next | Day::Today => 0,
            Day::Tomorrow => 1,
            Day::Weekday(day) => match today.weekday().until(day) {
                0 => 7,
                days => i64::from(days),
            },
        };
        let Some(time) = time else {
            let at = self.now.checked_add(days.days()).map_err(|_| self.too_far())?;
            return Ok(at.timestamp());
        };
        let on = |days: i64| match today.checked_add(days.days()) {
            Ok(date) => Ok(date.to_datetime(time)),
            Err(_) => Err(self.too_far()),
        };
        if day != Day::Next {
            return self.wall(on(days)?);
        }
        let at = on(0)?;
        match self.wall(at) {
            Ok(at) if at > self.now.timestamp() => Ok(at),
            // Clocks will skip it today.
            Err(gap) if at > self.now.datetime() => Err(gap),
            Ok(_) | Err(_) => self.wall(on(1)?),
        }
    }

    /// Returns when clocks show this. Of two times it is the earlier one, or the later one if that
    /// alone is still to come.
    fn wall(&self, at: DateTime) -> Result<Timestamp, DueError> {
        let time_zone = self.zone.time_zone();
        let out = |_| self.too_far();
        match time_zone.to_ambiguous_timestamp(at).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(at).map_err(out),
            AmbiguousOffset::Fold { before, after } => {
                let first = before.to_timestamp(at).map_err(out)?;
                if first > self.now.timestamp() {
                    return Ok(first);
                }
                after.to_timestamp(at).map_err(out)
            }
            AmbiguousOffset::Gap { before, after } => {
                // Too early by as much as clocks skip, so the change comes next.
                let early = after.to_timestamp(at).map_err(out)?;
                let late = before.to_timestamp(at).map_err(out)?;
                let change = time_zone.following(early).next().map_or(late, |it| it.timestamp());
                let minute = SignedDuration::from_mins(1);
                let show = |at: Timestamp| minute_of(&at.to_zoned(time_zone.clone()));
                Err(DueError::Gap {
                    time: at.strftime(MINUTE).to_string(),
                    zone: self.zone.shown().to_owned(),
                    before: show(change.saturating_sub(minute).unwrap_or(early)),
                    after: show(change),
                })
            }
        }
    }

    /// Returns the moment if it is still to come, and not too far away.
    fn to_come(&self, at: Timestamp) -> Result<Timestamp, DueError> {
        let now = self.now.timestamp();
        // As it is stored.
        let at = Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at);
        if at <= now {
            let at = minute_of(&at.to_zoned(self.zone.time_zone().clone()));
            return Err(DueError::Past { at, now: self.shown_now() });
        }
        match SignedDuration::try_from(FURTHEST) {
            Ok(furthest) if at.duration_since(now) > furthest => Err(self.too_far()),
            Ok(_) | Err(_) => Ok(at),
        }
    }

    fn too_far(&self) -> DueError {
        DueError::TooFar { now: self.shown_now() }
    }

    fn shown_now(&self) -> String {
        format!("{} ({})", minute_of(&self.now), self.zone.shown())
    }
}

const MINUTE: &str = "%Y-%m-%d %H:%M";

fn minute_of(at: &Zoned) -> String {
    at.strftime(MINUTE).to_string()
}
