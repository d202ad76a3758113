//! What is kept, and what is told of the rest.

use super::*;

fn kept(count: usize, bytes: usize) -> Kept {
    let mut kept = Kept::new("a1".into());
    for _ in 0..count {
        kept.push(Bytes::from(vec![b'x'; bytes]));
    }
    kept
}

fn after(kept: &Kept, id: &str) -> (u64, Vec<u64>) {
    let missed = kept.after(id);
    (missed.lost, missed.events.iter().map(|event| event.number).collect())
}

#[test]
fn a_client_gets_what_came_after_the_event_that_it_saw() {
    let few = kept(3, 5);
    assert_eq!(after(&few, "a1-1"), (0, vec![2, 3]));
    assert_eq!(after(&few, "a1-3"), (0, vec![]));
    assert_eq!(after(&few, "a1-0"), (0, vec![1, 2, 3]));
    let event = few.after("a1-2").events.remove(0);
    assert_eq!(few.with_id(&event), "id: a1-3\nxxxxx");
}

/// Another life's events, and ids that are none, leave a gap whose length nobody knows.
#[test]
fn what_is_not_known_is_a_gap() {
    let few = kept(2, 5);
    for id in ["b2-1", "a1-3", "a1-x", "a1", "", "7", "a1--1"] {
        assert_eq!(after(&few, id), (1, vec![1, 2]), "{id}");
    }
    assert_eq!(after(&kept(0, 0), "b2-9"), (1, vec![]));
}

#[test]
fn so_many_events_and_so_many_bytes_are_kept() {
    let many = kept(EVENTS_MAX + 10, 5);
    let (lost, events) = after(&many, "a1-4");
    assert_eq!((lost, events.len(), events[0]), (6, EVENTS_MAX, 11));
    assert_eq!(after(&many, "a1-10").0, 0);
    assert_eq!(after(&many, "a1-9").0, 1);
    let full = kept(4, BYTES_MAX / 4);
    assert_eq!(after(&full, "a1-0"), (0, vec![1, 2, 3, 4]));
    let large = kept(5, BYTES_MAX / 4);
    assert_eq!(after(&large, "a1-0"), (1, vec![2, 3, 4, 5]));
    assert_eq!(after(&kept(1, BYTES_MAX + 1), "a1-0"), (1, vec![]), "one that is larger than all");
}
