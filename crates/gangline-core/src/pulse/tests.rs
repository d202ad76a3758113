//! The table of a turn's signs of life.

use super::*;
use crate::id::Epoch;

fn at(seconds: u64) -> Now {
    Now(Duration::from_secs(seconds))
}

fn turn(number: i64) -> Option<TurnId> {
    Some(TurnId { epoch: Epoch(1), number })
}

/// Everything that is shown up to a second, each with its second; the clock goes in whole seconds.
fn shown(pulse: &mut Pulse, seconds: std::ops::RangeInclusive<u64>) -> Vec<(u64, Beat)> {
    let mut all = Vec::new();
    for second in seconds {
        // Nothing is shown but at a deadline, so that an idle agent sleeps.
        let due = pulse.next_deadline().is_some_and(|due| due <= at(second));
        let beats = pulse.due(at(second));
        assert_eq!(due, !beats.is_empty(), "{second}");
        all.extend(beats.into_iter().map(|beat| (second, beat)));
    }
    all
}

fn progress(all: &[(u64, Beat)]) -> Vec<(u64, u64, u32)> {
    let one = |(second, beat): &(u64, Beat)| match beat {
        Beat::Typing => None,
        Beat::Progress { after, number } => Some((*second, after.as_secs(), *number)),
    };
    all.iter().filter_map(one).collect()
}

#[test]
fn a_turn_types_every_three_seconds_and_says_what_it_does_after_one_minute_and_every_five() {
    let mut pulse = Pulse::default();
    assert_eq!(pulse.next_deadline(), None);
    pulse.see(at(100), turn(1), Waits::ForNobody);
    let all = shown(&mut pulse, 100..=800);
    let typing: Vec<u64> =
        all.iter().filter(|(_, beat)| *beat == Beat::Typing).map(|(second, _)| *second).collect();
    assert_eq!(typing, (103..=800).step_by(3).collect::<Vec<u64>>());
    assert_eq!(progress(&all), [(160, 60, 1), (460, 360, 2), (760, 660, 3)]);
    pulse.see(at(800), None, Waits::ForNobody);
    assert_eq!((pulse.next_deadline(), pulse.due(at(9_999))), (None, Vec::new()));
}

#[test]
fn the_next_turn_begins_anew() {
    let mut pulse = Pulse::default();
    pulse.see(at(0), turn(1), Waits::ForNobody);
    shown(&mut pulse, 0..=59);
    pulse.see(at(59), turn(2), Waits::ForNobody);
    assert_eq!(progress(&shown(&mut pulse, 59..=119)), [(119, 60, 1)]);
}

/// Somebody who has to decide is not told that something is being done.
#[test]
fn a_turn_that_waits_for_a_human_shows_nothing() {
    let mut pulse = Pulse::default();
    pulse.see(at(0), turn(1), Waits::ForNobody);
    pulse.see(at(10), turn(1), Waits::ForHuman);
    assert_eq!(shown(&mut pulse, 10..=4_000), []);
    pulse.see(at(4_000), turn(1), Waits::ForNobody);
    let all = shown(&mut pulse, 4_000..=4_100);
    assert_eq!(all.first(), Some(&(4_000, Beat::Typing)));
    assert_eq!(progress(&all), [(4_060, 4_060, 1)]);
}
