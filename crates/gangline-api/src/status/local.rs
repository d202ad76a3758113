//! Moments for people: by the clocks of their zone, to the minute.

use jiff::{Timestamp, Zoned, tz::TimeZone};

/// Returns date and minute of a moment: `2026-11-26 08:00`. `None` if it is not RFC 3339.
pub(super) fn minute(at: &str, zone: &TimeZone) -> Option<String> {
    Some(zoned(at, zone)?.strftime("%Y-%m-%d %H:%M").to_string())
}

/// Returns the minute of a moment without its date: `08:00`. `None` if it is not RFC 3339.
pub(super) fn time(at: &str, zone: &TimeZone) -> Option<String> {
    Some(zoned(at, zone)?.strftime("%H:%M").to_string())
}

fn zoned(at: &str, zone: &TimeZone) -> Option<Zoned> {
    let moment: Timestamp = at.parse().ok()?;
    Some(moment.to_zoned(zone.clone()))
}
