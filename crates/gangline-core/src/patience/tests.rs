//! Tests of who is told what, and how often.

use super::*;

fn at(millis: u64) -> Now {
    Now(Duration::from_millis(millis))
}

fn waiting(id: i64) -> Waiting {
    Waiting { message: MessageId(id), nick: "ori".to_owned(), place: "#lab".to_owned() }
}

#[test]
fn a_line_is_owed_its_reason_within_two_seconds_and_its_position_after_ten() {
    assert!(REASON_AFTER < Duration::from_secs(2));
    let mut patience = Patience::default();
    assert_eq!(patience.next_deadline(), None);
    patience.accepted(at(0), waiting(1));
    patience.accepted(at(500), waiting(2));
    assert_eq!(patience.next_deadline(), Some(at(1_500)));
    assert_eq!(patience.due(at(1_499)), []);
    assert_eq!(patience.due(at(1_500)), [(Owed::Reason, waiting(1))]);
    patience.goes_on(at(1_500), waiting(1));
    assert_eq!(patience.due(at(9_999)), [(Owed::Reason, waiting(2))]);
    assert_eq!(patience.next_deadline(), Some(at(10_000)));
    assert_eq!(patience.due(at(10_000)), [(Owed::Position, waiting(1))]);
    assert_eq!(patience.next_deadline(), None);
}

#[test]
fn lines_beyond_the_bound_are_not_watched() {
    let mut patience = Patience::default();
    for id in 0..=i64::try_from(WATCHED_MAX).unwrap() {
        patience.accepted(at(0), waiting(id));
    }
    let batches: Vec<usize> =
        std::iter::from_fn(|| Some(patience.due(at(2_000)).len()).filter(|told| *told > 0))
            .collect();
    assert!(batches.iter().all(|told| *told <= AT_ONCE), "{batches:?}");
    assert_eq!(batches.iter().sum::<usize>(), WATCHED_MAX);
}

#[test]
fn somebody_is_told_five_reasons_a_minute() {
    let mut patience = Patience::default();
    let told: Vec<bool> =
        (0..7).map(|second| patience.may_notify(at(second * 1000), "Ori")).collect();
    assert_eq!(told, [true, true, true, true, true, false, false]);
    assert!(patience.may_notify(at(6_000), "bob"));
    assert!(!patience.may_notify(at(59_999), "ori"));
    assert!(!patience.could_notify(at(59_999), "ori") && patience.could_notify(at(59_999), "bob"));
    assert!(patience.could_notify(at(60_000), "ori") && patience.could_notify(at(60_000), "new"));
    // The first one is a minute old now; the second is not.
    assert!(patience.may_notify(at(60_000), "ori"));
    assert!(!patience.may_notify(at(60_001), "ori"));
}

#[test]
fn a_stranger_is_told_once_an_hour() {
    let mut told = Notified::default();
    let mut may = |minute: u64| told.may(at(minute * 60_000), "eve", (STRANGER_EVERY, 1));
    assert_eq!([may(0), may(1), may(59), may(60), may(61)], [true, false, false, true, false]);
}

#[test]
fn people_beyond_the_bound_are_told_nothing_until_others_are_forgotten() {
    let mut told = Notified::default();
    let limit = (MINUTE, 1);
    for number in 0..PEOPLE_MAX {
        assert!(told.may(at(0), &format!("n{number}"), limit));
    }
    assert!(!told.may(at(59_000), "one-more", limit));
    assert!(told.may(at(60_000), "one-more", limit));
    assert_eq!(told.people.len(), 1);
}
