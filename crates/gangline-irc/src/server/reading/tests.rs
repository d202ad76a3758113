//! What counts as read, and the marks of it.

use super::*;

fn reader(party: Party, nick: &str) -> Reader {
    Reader { party, nick: nick.to_owned() }
}

fn owner(nick: &str) -> Reader {
    reader(Party::Account("owner".to_owned()), nick)
}

#[test]
fn a_line_is_read_when_something_was_heard_after_it_was_written() {
    let mut reading = Reading::default();
    assert!(!reading.shown(50, 7), "nobody is followed anywhere");
    reading.enter("#a", 7, Entry::UpToDate);
    reading.enter("#b", 7, Entry::UpToDate);
    for (bytes, seq) in [(100, 8), (200, 9), (300, 10)] {
        assert!(reading.shown(bytes, seq));
    }
    // The last of them is in the other room.
    let newest = |room: &str| if room == "#a" { 9 } else { 10 };
    let (a, b) = (|seq| ("#a".to_owned(), seq), |seq| ("#b".to_owned(), seq));
    assert!(reading.waits());
    assert_eq!(reading.read(99, newest), []);
    assert_eq!(reading.read(199, newest), [a(8), b(8)], "what was shown before is read anywhere");
    assert_eq!(reading.read(199, newest), []);
    assert_eq!(reading.read(200, newest), [a(9), b(9)]);
    assert_eq!(reading.read(300, newest), [b(10)]);
    assert!(!reading.waits());
}

/// What is said before the missed lines are shown is not read before they are.
#[test]
fn nothing_is_read_before_what_was_missed() {
    let mut reading = Reading::default();
    let newest = |_: &str| 0;
    reading.enter(PRIVATE, 7, Entry::Behind);
    reading.shown_alone(100, 8);
    assert_eq!(reading.read(1000, newest), []);
    assert!(!reading.waits());
    reading.opened(PRIVATE, 1500);
    assert_eq!(reading.read(1000, newest), []);
    assert_eq!(reading.read(1500, newest), [(String::new(), 8)]);
    reading.enter(PRIVATE, 9, Entry::Behind);
    reading.opened(PRIVATE, 1600);
    assert_eq!(reading.read(1600, newest), [(String::new(), 9)]);
}

/// A line elsewhere does not make read what is not open yet.
#[test]
fn a_place_that_is_not_open_is_not_read_with_another_one() {
    let mut reading = Reading::default();
    reading.enter("#a", 7, Entry::UpToDate);
    reading.enter("#b", 7, Entry::Behind);
    reading.shown(100, 8);
    let newest = |_: &str| 8;
    assert_eq!(reading.read(100, newest), [("#a".to_owned(), 8)]);
    reading.opened("#b", 200);
    assert_eq!(reading.read(199, newest), []);
    assert_eq!(reading.read(200, newest), [("#b".to_owned(), 8)]);
}

/// A client that asks for history itself has read what is newer once it was given all that it missed.
#[test]
fn nothing_is_read_before_what_was_missed_was_asked_for() {
    let mut reading = Reading::default();
    let newest = |_: &str| 8;
    reading.enter("#a", 7, Entry::Behind);
    reading.has_to_ask_for("#a", [5, 7].into());
    reading.shown(100, 8);
    assert!(!reading.given("#a", [7].into_iter()));
    assert!(!reading.given("#b", [5].into_iter()));
    assert!(!reading.waits());
    assert_eq!(reading.read(1000, newest), []);
    assert!(reading.given("#a", [4, 5].into_iter()));
    reading.opened("#a", 1500);
    assert_eq!(reading.read(1499, newest), []);
    assert_eq!(reading.read(1500, newest), [("#a".to_owned(), 8)]);
    assert!(!reading.given("#a", [5].into_iter()), "nothing is missing any more");
}

#[test]
fn lines_beyond_the_bound_are_read_together_and_none_too_early() {
    let mut reading = Reading::default();
    reading.enter("#a", 0, Entry::UpToDate);
    let many = WAITING_MAX as u64 * 2;
    for line in 1..=many {
        reading.shown(line, i64::try_from(line).unwrap());
    }
    let newest = |_: &str| i64::MAX;
    let followed = i64::try_from(WAITING_MAX).unwrap() - 1;
    assert_eq!(reading.read(many - 1, newest), [("#a".to_owned(), followed)]);
    assert_eq!(reading.read(many, newest), [("#a".to_owned(), i64::try_from(many).unwrap())]);
}

/// Somebody is asked once it is quiet, and now and then while it is not.
#[test]
fn people_are_asked_when_it_is_quiet_or_has_been_loud_for_long() {
    let mut reading = Reading::default();
    reading.enter("#a", 0, Entry::UpToDate);
    reading.shown(1, 1);
    assert!(!reading.is_to_be_asked(), "the line may have come just now");
    assert!(reading.is_to_be_asked());
    let loud = (2..40).map(|line| {
        reading.shown(1, line);
        reading.is_to_be_asked()
    });
    assert_eq!(loud.filter(|asked| *asked).count(), 38 / (usize::from(LOOKS_MAX) + 1));
}

#[test]
fn a_mark_belongs_to_a_party_and_its_nick_and_only_moves_forward() {
    let mut marks = ReadMarks::default();
    let at = UnixMicros(1);
    let (laptop, phone) = (owner("laptop"), owner("phone"));
    assert_eq!(marks.set(&laptop, ("#a", 5), at).len(), 1);
    assert_eq!(marks.set(&laptop, ("#a", 5), at), []);
    assert_eq!(marks.set(&laptop, ("#a", 4), at), []);
    assert_eq!(marks.get(&laptop, "#a"), Some(5));
    assert_eq!(marks.get(&phone, "#a"), Some(5), "the same person under another nick");
    assert_eq!(marks.get(&laptop, PRIVATE), None);
    marks.set(&phone, ("#a", 9), at);
    assert_eq!((marks.get(&laptop, "#a"), marks.get(&owner("new"), "#a")), (Some(5), Some(9)));
    let member = reader(Party::Member("laptop".to_owned()), "laptop");
    assert_eq!(marks.get(&member, "#a"), None);
    let other = reader(Party::Account("owner2".to_owned()), "laptop");
    assert_eq!(marks.get(&other, "#a"), None);
    let gone = marks.forget(&laptop, at);
    assert_eq!(gone.iter().map(|mark| mark.seq).collect::<Vec<_>>(), [None]);
    assert_eq!(marks.get(&laptop, "#a"), Some(9));
}

#[test]
fn the_oldest_mark_goes_when_there_are_too_many() {
    let mut marks = ReadMarks::default();
    let member = |n: usize| reader(Party::Member(format!("m{n}")), &format!("m{n}"));
    for n in 0..MARKS_MAX {
        assert_eq!(marks.set(&member(n), (PRIVATE, 1), UnixMicros(10 + n as i64)).len(), 1);
    }
    let moved = marks.set(&member(0), (PRIVATE, 2), UnixMicros(1_000_000));
    assert_eq!(moved.len(), 1, "it takes no room");
    let changed = marks.set(&member(MARKS_MAX), (PRIVATE, 1), UnixMicros(2_000_000));
    let gone = Party::Member("m1".to_owned());
    assert_eq!((changed.len(), &changed[0].party, changed[0].seq), (2, &gone, None));
    assert_eq!(marks.get(&member(0), PRIVATE), Some(2));
    assert_eq!(marks.get(&member(1), PRIVATE), None);
    assert_eq!(marks.get(&member(MARKS_MAX), PRIVATE), Some(1));
}
