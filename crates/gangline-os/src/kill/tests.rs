//! Tests of whom a signal never reaches.

use super::*;

#[test]
fn no_signal_goes_to_our_own_group_or_to_everybody() {
    let ours = getpgrp().as_raw().unsigned_abs();
    for group in [0, 1, ours, u32::MAX] {
        assert!(!signal_group(group, Signal::Kill).unwrap(), "{group}");
    }
    assert!(!signal_pid(0, Signal::Kill).unwrap());
    assert!(!signal_pid(u32::MAX, Signal::Kill).unwrap());
}
