//! Events on a terminal: the lines of `gangline logs`.

use gangline_agent::log::{Depth, lines};
use gangline_api::event::EventRecord;
use jiff::tz::TimeZone;

use super::text::{Paint, paint};

#[cfg(test)]
mod tests;

/// Returns the lines of `logs`; none if nothing of that depth has happened.
pub(crate) fn list(events: &[EventRecord], depth: Depth, zone: &TimeZone) -> String {
    let dim = |text: &str| paint(Paint::Dim, text);
    lines(events, depth, (zone, &dim)).into_iter().map(|line| line + "\n").collect()
}
