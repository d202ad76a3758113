//! Reading of the wire's times: `2026-11-21T21:33:48.123Z`.

use gangline_os::clock::UnixMicros;

/// Returns the moment; `None` for anything else than RFC 3339 in UTC.
pub(super) fn parse(text: &str) -> Option<UnixMicros> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers::<3>(date, '-')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = numbers::<3>(clock, ':')?;
    let in_range = (0..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !in_range || fraction.len() > 9 {
        return None;
    }
    let micros = if fraction.is_empty() {
        0
    } else {
        let digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
        let padded: String = fraction.chars().chain("000000".chars()).take(6).collect();
        if digits { padded.parse::<i64>().ok()? } else { return None }
    };
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(UnixMicros(seconds * 1_000_000 + micros))
}

fn numbers<const N: usize>(text: &str, between: char) -> Option<[i64; N]> {
    let mut out = [0; N];
    let mut parts = text.split(between);
    for slot in &mut out {
        let part = parts.next()?;
        let digits = !part.is_empty() && part.len() <= 4;
        if !digits || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *slot = part.parse().ok()?;
    }
    if parts.next().is_none() { Some(out) } else { None }
}

/// Returns the days since 1970-01-01 of a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests;
