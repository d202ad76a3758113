//! The clock: the only place that reads the time of day or the monotonic time.
//!
//! Everybody else is handed a [`SharedClock`] or a value of [`UnixMicros`].

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[cfg(test)]
mod tests;

const MICROS: i64 = 1_000_000;

/// A moment of the wall clock: microseconds since 1970-01-01T00:00:00Z, negative before it.
///
/// `Display` is RFC 3339 as [`rfc3339`] writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMicros(pub i64);

impl UnixMicros {
    /// Returns the moment that lies this many whole seconds after 1970; saturates.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(MICROS))
    }

    /// Returns the whole seconds since 1970, rounded down.
    #[must_use]
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(MICROS)
    }

    /// Returns the moment that lies `duration` later; saturates.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros))
    }

    /// Returns the moment that lies `duration` earlier; saturates.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(micros))
    }

    /// Returns how long ago `earlier` was; zero when it lies in the future.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for UnixMicros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&rfc3339(*self))
    }
}

/// A source of time, handed to whoever needs one.
pub trait Clock: Send + Sync + 'static {
    /// Returns the time of day; it may jump when the machine's clock is set.
    fn now(&self) -> UnixMicros;

    /// Returns the time since an arbitrary start; never goes back. For time-outs.
    fn monotonic(&self) -> Duration;

    /// Waits until [`Clock::monotonic`] has reached `until`. Must be polled within a tokio runtime.
    ///
    /// Cancel-safe: yes; called again it waits for the same moment.
    fn sleep_until(&self, until: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(until.saturating_sub(self.monotonic())))
    }
}

/// A wait for a moment: [`Clock::sleep_until`].
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A clock that many parts hold.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[allow(clippy::disallowed_methods, reason = "this is the clock that the ban points to")]
impl Clock for SystemClock {
    fn now(&self) -> UnixMicros {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => UnixMicros(0).plus(after),
            Err(before) => {
                let micros = i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX);
                UnixMicros(-micros)
            }
        }
    }

    fn monotonic(&self) -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}

/// Returns the machine's clock, shared.
#[must_use]
pub fn system() -> SharedClock {
    Arc::new(SystemClock)
}

/// Waits for `limit`, by this clock.
///
/// Cancel-safe: yes, but called again it waits anew.
pub async fn sleep(clock: &SharedClock, limit: Duration) {
    clock.sleep_until(clock.monotonic().saturating_add(limit)).await;
}

/// Waits for a result, but not longer than `limit` by this clock; `None` when the time is over.
///
/// Cancel-safe: as `work` is, which is dropped when the time is over.
pub async fn within<T>(
    clock: &SharedClock,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        done = work => Some(done),
        () = sleep(clock, limit) => None,
    }
}

/// Returns the moment in RFC 3339 with milliseconds, in UTC: `2026-11-21T21:33:48.123Z`.
///
/// Years outside 0–9999 are written with their sign and as many digits as they need.
#[must_use]
pub fn rfc3339(at: UnixMicros) -> String {
    let seconds = at.as_seconds();
    let millis = at.0.rem_euclid(MICROS) / 1_000;
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Returns the date and the minute of a moment as clocks on this machine's walls show it:
/// `2026-11-21` and `17:36`.
#[must_use]
pub fn local_minute(at: UnixMicros) -> (String, String) {
    match jiff::Timestamp::from_microsecond(at.0) {
        Ok(moment) => {
            let local = moment.to_zoned(jiff::tz::TimeZone::system());
            (local.strftime("%Y-%m-%d").to_string(), local.strftime("%H:%M").to_string())
        }
        // Farther than a calendar reaches.
        Err(_) => (String::new(), "--:--".to_owned()),
    }
}

/// Reads RFC 3339, in UTC (`Z`) or with an offset; digits after the sixth of a fraction are dropped
/// and a leap second is none. `None` for everything else.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<UnixMicros> {
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let end = rest.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = rest.split_at(end);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let offset = offset_seconds(zone)?;
    let days = (days_before_month(year, month)? + day) - 1;
    let in_range = hour < 24 && minute < 60 && second < 60;
    if !in_range || civil(days) != (year, month, day) {
        return None;
    }
    let of_day = hour * 3_600 + minute * 60 + second;
    Some(UnixMicros((days * 86_400 + of_day - offset) * MICROS + fraction_micros(fraction)?))
}

fn offset_seconds(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'Z' | b'z' => return (zone.len() == 1).then_some(0),
        b'-' => -1,
        _ => 1,
    };
    let [hours, minutes] = numbers(&zone[1..], ':', [2, 2])?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn fraction_micros(digits: &str) -> Option<i64> {
    let fine = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    fine.then(|| format!("{digits:0<6.6}").parse().ok())?
}

/// Reads `N` numbers of so many digits each, with a separator between them.
fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        *number = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(numbers)
}

/// Returns the days from 1970 to the first day of a month; the inverse of [`civil`].
fn days_before_month(year: i64, month: i64) -> Option<i64> {
    if !(1..=12).contains(&month) {
        return None;
    }
    let (year, from_march) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(365 * year + leap_days + (153 * from_march + 2) / 5 - 719_468)
}

/// Returns year, month and day of the proleptic Gregorian calendar for a day counted from 1970.
///
/// Years are counted from March, so that the leap day is a year's last; an era has 400 years.
fn civil(days_since_1970: i64) -> (i64, i64, i64) {
    const DAYS_PER_ERA: i64 = 146_097;
    let days = days_since_1970 + 719_468; // since 0000-03-01
    let era = days.div_euclid(DAYS_PER_ERA);
    let of_era = days.rem_euclid(DAYS_PER_ERA);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}
