//! What is stored of events, and how many wait.

use super::*;

#[test]
fn a_key_is_not_stored_wherever_it_stands() {
    for (changed, stored) in [
        (&["+k", "sesame"][..], &["+k", "*"][..]),
        (&["+ik", "sesame"], &["+ik", "*"]),
        (&["+lk", "5", "sesame"], &["+lk", "5", "*"]),
        (&["+kl", "sesame", "5"], &["+kl", "*", "5"]),
        (&["+ok-l", "ann", "sesame"], &["+ok-l", "ann", "*"]),
        (&["-lk+v", "*", "ann"], &["-lk+v", "*", "ann"]),
        (&["+o", "kk"], &["+o", "kk"]),
    ] {
        let changed: Vec<String> = changed.iter().map(|&word| word.to_owned()).collect();
        assert_eq!(without_keys(&changed), stored, "{changed:?}");
    }
}

#[test]
fn every_kind_is_read_back() {
    for kind in KINDS {
        assert_eq!(EventKind::of(kind.as_str()), Some(kind));
    }
    assert_eq!(EventKind::of("PRIVMSG"), None);
}

#[test]
fn events_wait_in_bounds_while_nothing_can_be_stored() {
    let event = Event {
        msgid: "tags.1.x-1".to_owned(),
        behind: 1,
        at: UnixMicros(1),
        kind: EventKind::Quit,
        source: "ann!a@localhost".to_owned(),
        account: None,
        words: Vec::new(),
        text: None,
    };
    let new = NewEvent { room: "#room".parse().unwrap(), event: Arc::new(event) };
    let mut waiting = Waiting::default();
    assert!(!waiting.add(new.clone(), Duration::ZERO));
    let mut due = false;
    for _ in 0..2 * WAITING_MAX {
        due = waiting.add(new.clone(), Duration::ZERO);
    }
    assert!(due);
    assert_eq!(waiting.take().len(), WAITING_MAX);
    assert!(waiting.is_empty());
}
