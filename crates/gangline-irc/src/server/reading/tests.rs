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
    reading.enter("#a", 7, Entry::UpToDate);
    reading.shown("#a", 100, 8);
    reading.shown("#a", 200, 9);
    reading.shown("#b", 300, 10);
    assert!(reading.waits());
    assert_eq!(reading.read(99), []);
    assert_eq!(reading.read(199), [("#a".to_owned(), 8)]);
    assert_eq!(reading.read(199), []);
    assert_eq!(reading.read(200), [("#a".to_owned(), 9)]);
    assert!(!reading.waits());
}

/// What is said before the missed lines are shown is not read before they are.
#[test]
fn nothing_is_read_before_what_was_missed() {
    let mut reading = Reading::default();
    reading.enter(PRIVATE, 7, Entry::Behind);
    reading.shown(PRIVATE, 100, 8);
    assert_eq!(reading.read(1000), []);
    assert!(!reading.waits());
    reading.opened(PRIVATE, 1500);
    assert_eq!(reading.read(1000), []);
    assert_eq!(reading.read(1500), [(String::new(), 8)]);
    reading.enter(PRIVATE, 9, Entry::Behind);
    reading.opened(PRIVATE, 1600);
    assert_eq!(reading.read(1600), [(String::new(), 9)]);
}

/// A client that asks for history itself has read what is newer once it was given all that it missed.
#[test]
fn nothing_is_read_before_what_was_missed_was_asked_for() {
    let mut reading = Reading::default();
    reading.enter("#a", 7, Entry::Behind);
    reading.has_to_ask_for("#a", [5, 7].into());
    reading.shown("#a", 100, 8);
    assert!(!reading.given("#a", [7].into_iter()));
    assert!(!reading.given("#b", [5].into_iter()));
    assert!(!reading.waits());
    assert_eq!(reading.read(1000), []);
    assert!(reading.given("#a", [4, 5].into_iter()));
    reading.opened("#a", 1500);
    assert_eq!(reading.read(1499), []);
    assert_eq!(reading.read(1500), [("#a".to_owned(), 8)]);
    assert!(!reading.given("#a", [5].into_iter()), "nothing is missing any more");
}

#[test]
fn lines_beyond_the_bound_are_read_together_and_none_too_early() {
    let mut reading = Reading::default();
    reading.enter("#a", 0, Entry::UpToDate);
    let many = WAITING_MAX as u64 * 2;
    for line in 1..=many {
        reading.shown("#a", line, i64::try_from(line).unwrap());
    }
    let followed = i64::try_from(WAITING_MAX).unwrap() - 1;
    assert_eq!(reading.read(many - 1), [("#a".to_owned(), followed)]);
    assert_eq!(reading.read(many), [("#a".to_owned(), i64::try_from(many).unwrap())]);
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
