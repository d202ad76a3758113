//! What is found of a daemon from outside, over time.

use std::time::Duration;

use super::{Presence, Watched};
use crate::time::Now;
use Presence::{Away, GivenUp, Unwanted, Up};

/// Looks at these seconds; what each changes is written as `+kind@seconds` and `-kind`.
fn check(looks: &[(u64, Presence)], expect: &str) {
    let mut watched = Watched::default();
    let mut told = Vec::new();
    for (second, presence) in looks {
        let changes = watched.look(Now(Duration::from_secs(*second)), *presence);
        let found = changes.found.iter().map(|it| format!("+{}@{}", it.kind, it.after.as_secs()));
        let over = changes.over.iter().map(|kind| format!("-{kind}"));
        told.extend(found.chain(over).map(|it| format!("{second}:{it}")));
    }
    assert_eq!(told.join(" "), expect);
}

#[test]
fn a_daemon_that_stops_to_show_life_is_found_and_found_alive_again() {
    let dies = [(0, Up(Some(1))), (30, Up(Some(2))), (149, Up(Some(2))), (150, Up(Some(2)))];
    check(&dies, "0:-not_running 150:+no_heartbeat@120");
    let back = [(0, Up(Some(1))), (30, Up(Some(2))), (150, Up(Some(2))), (180, Up(Some(3)))];
    check(&back, "0:-not_running 150:+no_heartbeat@120 180:-no_heartbeat");
    let ends = [(0, Up(Some(1))), (30, Up(Some(2))), (150, Up(Some(2))), (151, Unwanted)];
    check(&ends, "0:-not_running 150:+no_heartbeat@120 151:-no_heartbeat");
}

/// A daemon of an older program shows no life at all, and one whose file cannot be read is not judged.
#[test]
fn a_daemon_that_never_showed_life_is_not_missed() {
    check(&[(0, Up(Some(1))), (999, Up(Some(1)))], "0:-not_running");
    check(&[(0, Up(None)), (999, Up(None))], "0:-not_running");
}

#[test]
fn a_daemon_that_is_to_run_and_does_not_is_found_after_a_while_or_when_it_is_given_up() {
    let away = [(0, Away), (59, Away), (60, Away), (61, Away), (62, Up(None))];
    check(&away, "0:-no_heartbeat 60:+not_running@60 62:-not_running");
    check(
        &[(0, Up(None)), (1, GivenUp), (2, Unwanted)],
        "0:-not_running 1:+not_running@0 2:-not_running",
    );
    let restarts = [(0, Up(None)), (10, Away), (30, Up(None)), (60, Away), (100, Up(None))];
    check(&restarts, "0:-not_running");
    check(&[(0, Unwanted), (99, Unwanted)], "0:-no_heartbeat 0:-not_running");
}
