//! How many marks wait.

use gangline_os::clock::UnixMicros;

use super::*;
use crate::server::store::Party;

fn mark(nick: &str, place: &str, seq: Option<i64>, at: i64) -> ReadMark {
    let (nick, place) = (nick.to_owned(), place.to_owned());
    ReadMark { party: Party::from_key("owner"), nick, place, seq, at: UnixMicros(at) }
}

#[test]
fn a_later_mark_of_a_reader_and_place_replaces_the_earlier_one() {
    let mut marks = UnkeptMarks::default();
    for number in 0..1_000 {
        marks.add(mark("boss", "#room", Some(number), number));
    }
    marks.add(mark("boss", "#other", Some(7), 2_000));
    marks.add(mark("phone", "#room", Some(8), 2_000));
    marks.add(mark("boss", "#gone", Some(9), 2_000));
    marks.add(mark("boss", "#gone", None, 2_001));
    let left = [
        mark("boss", "#gone", None, 2_001),
        mark("boss", "#other", Some(7), 2_000),
        mark("boss", "#room", Some(999), 999),
        mark("phone", "#room", Some(8), 2_000),
    ];
    assert_eq!(marks.iter().cloned().collect::<Vec<_>>(), left);
    assert_eq!(marks.ages.len(), left.len());
    assert_eq!(marks.take(), left);
    assert!(marks.is_empty() && marks.ages.is_empty());
}

#[test]
fn of_too_many_marks_the_oldest_goes() {
    let mut marks = UnkeptMarks::default();
    // The newest first, so that order of coming and age differ.
    let most = i64::try_from(UNKEPT_MAX).unwrap();
    for number in (1..=most).rev() {
        marks.add(mark(&number.to_string(), "#room", Some(number), number));
    }
    marks.add(mark("one more", "#room", Some(1), most + 1));
    assert_eq!(marks.iter().count(), UNKEPT_MAX);
    let has = |nick: &str| marks.iter().any(|mark| mark.nick == nick);
    assert_eq!([has("1"), has("2"), has("one more")], [false, true, true]);
}
