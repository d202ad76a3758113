use std::{cell::Cell, time::Duration};

use super::{after_changes, within};

#[test]
fn a_costly_look_waits_for_a_change() {
    let asked = Cell::new(0);
    let stamp = || {
        asked.set(asked.get() + 1);
        u64::from(asked.get() > 3)
    };
    let mut looks = 0;
    after_changes("the change", stamp, || {
        looks += 1;
        if asked.get() > 3 { Ok(()) } else { Err("too early".to_owned()) }
    });
    assert!(looks < asked.get(), "{looks} looks, though nothing had changed");
}

#[test]
fn what_does_not_come_is_nothing_and_what_comes_is_found_at_once() {
    let mut looks = 0;
    assert_eq!(
        within(Duration::ZERO, || {
            looks += 1;
            None::<()>
        }),
        None
    );
    assert_eq!(looks, 1, "a patience of nothing is one look");
    assert_eq!(within(Duration::ZERO, || Some(7)), Some(7));
}
