//! `watchdogs`: after what time an agent counts as stuck.

use std::time::Duration;

use gangline_core::watchdog::Limits;

use super::declared::section;

/// The most minutes of a limit: a week.
const MINUTES_MAX: i128 = 7 * 24 * 60;

section! {
    /// `watchdogs`: after how many minutes an agent is reported as stuck; 0 = never. What they find is in
    /// `gangline attention`.
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Watchdogs() |reader, key, node| {
        /// Minutes that a turn may be open without output, 0 to 10080. After 10 minutes a turn is ended for
        /// that, whatever is written here.
        pub turn_silent_minutes: u32 = 5 => reader.integer(key, &node, 0..=MINUTES_MAX),
        /// Minutes that a turn may take, without those in which it waits for a person, 0 to 10080.
        pub turn_minutes: u32 = 60 => reader.integer(key, &node, 0..=MINUTES_MAX),
        /// Minutes that a message may wait for its turn, 0 to 10080.
        pub inbox_minutes: u32 = 15 => reader.integer(key, &node, 0..=MINUTES_MAX),
        /// Minutes that an approval may wait for a person, 0 to 10080.
        pub approval_minutes: u32 = 10 => reader.integer(key, &node, 0..=MINUTES_MAX),
    }
}

impl Watchdogs {
    /// Returns the limits as the watchdogs have them.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let of = |minutes: u32| (minutes > 0).then(|| Duration::from_secs(u64::from(minutes) * 60));
        Limits {
            turn_silent: of(self.turn_silent_minutes),
            turn: of(self.turn_minutes),
            inbox: of(self.inbox_minutes),
            approval: of(self.approval_minutes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, Watchdogs};

    #[test]
    fn the_defaults_are_the_core_s_and_0_is_never() {
        assert_eq!(Watchdogs::default().limits(), Limits::default());
        let off = Watchdogs { turn_minutes: 0, ..Watchdogs::default() };
        assert_eq!(off.limits(), Limits { turn: None, ..Limits::default() });
    }
}
