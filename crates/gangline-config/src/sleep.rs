//! Hours of sleep (`sleep_start`, `sleep_end`; R0-52): of the whole file, and of an agent instead.

use gangline_core::pause::{Schedule, TimeOfDay};

use super::{
    error::Place,
    reader::{Reader, Section},
};

/// Returns the hours, if both ends are there.
pub(super) fn hours((start, end): (Option<TimeOfDay>, Option<TimeOfDay>)) -> Option<Schedule> {
    Schedule::new(start?, end?).ok()
}

/// Returns where hours of sleep are said, for their faults.
pub(super) fn place(section: &Section) -> Option<Place> {
    section.place_of("sleep_start").or_else(|| section.place_of("sleep_end"))
}

/// Checks that both ends are there and differ.
pub(super) fn check(
    reader: &mut Reader<'_>,
    place: Option<Place>,
    hours: (Option<TimeOfDay>, Option<TimeOfDay>),
) {
    let Some(place) = place else { return };
    match hours {
        (Some(start), Some(end)) => {
            if let Err(error) = Schedule::new(start, end) {
                reader.fault(place, error.to_string());
            }
        }
        (Some(_), None) | (None, Some(_)) => {
            let help = "write both, as in `sleep_start: \"23:00\"` and `sleep_end: \"8:00\"`";
            reader.fault_help(place, "`sleep_start` and `sleep_end` belong together", help);
        }
        // Neither could be read, which is told already.
        (None, None) => {}
    }
}
