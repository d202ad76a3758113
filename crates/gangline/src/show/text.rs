//! Small pieces of text: safe for terminals, ages, times of day, colours.

use std::time::Duration;

use gangline_core::shown;
use gangline_os::clock::UnixMicros;
use jiff::{Timestamp, tz::TimeZone};

#[cfg(test)]
mod tests;

/// How a piece of text is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Of less weight.
    Dim,
    /// A heading.
    Bold,
    /// All is well.
    Green,
    /// Somebody should look.
    Yellow,
    /// It failed.
    Red,
    /// As it is.
    Plain,
}

/// Returns the text painted.
pub(crate) fn paint(paint: Paint, text: &str) -> String {
    let code = match paint {
        Paint::Dim => "2",
        Paint::Bold => "1",
        Paint::Green => "32",
        Paint::Yellow => "33",
        Paint::Red => "31",
        Paint::Plain => return text.to_owned(),
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// See [`shown::one_line`].
pub(crate) fn one_line(text: &str) -> String {
    shown::one_line(text)
}

/// Returns the same with its lines and tabs kept.
pub(crate) fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c => shown::push(&mut out, c),
        }
    }
    out
}

/// Breaks a text between words into lines of at most `room` columns. What is in backticks is not
/// broken: people copy it.
pub(crate) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in words(text) {
        let long = word.chars().count();
        if used > 0 && used + 1 + long > room {
            lines.push(String::new());
            used = 0;
        }
        let Some(line) = lines.last_mut() else { continue };
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += long;
    }
    lines
}

/// Splits at spaces that are not between backticks.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c: char| {
        quoted ^= c == '`';
        c == ' ' && !quoted
    })
    .filter(|word| !word.is_empty())
}

/// See [`shown::cut`].
pub(crate) fn cut(text: &str, most: usize) -> String {
    shown::cut(text, most)
}

/// Returns a duration in its largest unit: `3s`, `12m`, `5h`, `2d`.
pub(crate) fn age(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Returns the day, local.
pub(crate) fn day(at: UnixMicros, zone: &TimeZone) -> String {
    format(at, zone, "%Y-%m-%d")
}

/// Returns the time of day with milliseconds, local.
pub(crate) fn time(at: UnixMicros, zone: &TimeZone) -> String {
    format(at, zone, "%H:%M:%S%.3f")
}

fn format(at: UnixMicros, zone: &TimeZone, form: &str) -> String {
    match Timestamp::from_microsecond(at.0) {
        Ok(stamp) => stamp.to_zoned(zone.clone()).strftime(form).to_string(),
        Err(_) => at.to_string(),
    }
}
