//! What the watchdogs find, over time.

use std::time::Duration;

use proptest::prelude::*;

use super::{Changes, KINDS, Limits, Sight, Watchdogs};
use crate::{Epoch, TurnId, finding::FindingKind, time::Now};

const NOTHING: Sight = Sight { turn: None, asks: false, oldest: None, parked: false };

fn at(minutes: u64) -> Now {
    Now(Duration::from_secs(minutes * 60))
}

fn turn(number: i64) -> Sight {
    Sight { turn: Some(TurnId { epoch: Epoch(1), number }), ..NOTHING }
}

fn asks(number: i64) -> Sight {
    Sight { asks: true, ..turn(number) }
}

fn waits(minutes: u64) -> Sight {
    Sight { oldest: Some(Duration::from_secs(minutes * 60)), ..NOTHING }
}

/// What is to happen at which minute.
enum Step {
    Look(Sight),
    Output,
}
use Step::{Look, Output};

/// Runs the steps; what each look changes is written as `+kind@minutes` and `-kind`.
fn check(limits: Limits, steps: &[(u64, Step)], expect: &str) {
    let mut dogs = Watchdogs::new(limits);
    dogs.look(at(0), &NOTHING);
    let mut told = Vec::new();
    for (minute, step) in steps {
        match step {
            Output => dogs.output(at(*minute)),
            Look(sight) => {
                let Changes { found, over } = dogs.look(at(*minute), sight);
                let found =
                    found.iter().map(|it| format!("+{}@{}", it.kind, it.after.as_secs() / 60));
                let over = over.iter().map(|kind| format!("-{kind}"));
                told.extend(found.chain(over).map(|it| format!("{minute}:{it}")));
            }
        }
    }
    assert_eq!(told.join(" "), expect);
}

#[test]
fn a_turn_without_output_is_found_once_and_ends_with_output_or_the_turn() {
    let limits = Limits::default();
    let quiet = [(0, Look(turn(1))), (4, Look(turn(1))), (5, Look(turn(1))), (6, Look(turn(1)))];
    check(limits, &quiet, "5:+silent_turn@5");
    let again = [
        (0, Look(turn(1))),
        (5, Look(turn(1))),
        (6, Output),
        (6, Look(turn(1))),
        (11, Look(turn(1))),
        (12, Look(NOTHING)),
    ];
    check(limits, &again, "5:+silent_turn@5 6:-silent_turn 11:+silent_turn@5 12:-silent_turn");
    let next = [(0, Look(turn(1))), (5, Look(turn(1))), (6, Look(turn(2)))];
    check(limits, &next, "5:+silent_turn@5 6:-silent_turn");
    let busy = [(0, Look(turn(1))), (4, Output), (8, Output), (8, Look(turn(1)))];
    check(limits, &busy, "");
}

#[test]
fn a_turn_that_waits_for_a_person_is_neither_silent_nor_long() {
    let limits = Limits { turn: Some(Duration::from_secs(600)), ..Limits::default() };
    let asked = [
        (0, Look(turn(1))),
        (1, Look(asks(1))),
        (10, Look(asks(1))),
        (12, Look(asks(1))),
        (13, Look(turn(1))),
        (17, Look(turn(1))),
    ];
    check(limits, &asked, "12:+unanswered_approval@11 13:-unanswered_approval");
    let long = [(0, Look(turn(1))), (9, Output), (10, Look(turn(1))), (11, Look(NOTHING))];
    check(limits, &long, "10:+long_turn@10 11:-long_turn");
}

#[test]
fn a_message_that_waits_too_long_and_an_open_breaker_are_found_until_they_end() {
    let limits = Limits::default();
    let inbox = [
        (0, Look(waits(0))),
        (14, Look(waits(14))),
        (15, Look(waits(15))),
        (16, Look(waits(16))),
        (17, Look(NOTHING)),
    ];
    check(limits, &inbox, "15:+waiting_inbox@15 17:-waiting_inbox");
    // While nothing may be given to it, as in a pause, the agent leaves nothing waiting.
    let paused = [(120, Look(waits(120))), (134, Look(waits(134))), (135, Look(waits(135)))];
    check(limits, &paused, "135:+waiting_inbox@15");
    let restarted = Watchdogs::new(limits).look(at(0), &waits(20));
    assert_eq!(restarted.found.len(), 1, "an earlier daemon left it waiting");
    let parked = Sight { parked: true, ..NOTHING };
    let breaker = [(1, Look(parked)), (2, Look(parked)), (3, Look(NOTHING))];
    check(limits, &breaker, "1:+breaker_open@0 3:-breaker_open");
}

#[test]
fn a_watchdog_that_is_off_finds_nothing() {
    let off = Limits { turn_silent: None, turn: None, inbox: None, approval: None };
    let all = [
        (0, Look(turn(1))),
        (999, Look(Sight { oldest: Some(Duration::MAX), ..turn(1) })),
        (9999, Look(asks(1))),
    ];
    check(off, &all, "");
}

#[test]
fn the_first_look_closes_what_an_earlier_daemon_left() {
    let mut dogs = Watchdogs::new(Limits::default());
    let parked = Sight { parked: true, ..NOTHING };
    let Changes { found, over } = dogs.look(at(0), &parked);
    assert_eq!(found.len(), 1);
    let others: Vec<_> = KINDS.into_iter().filter(|it| *it != FindingKind::BreakerOpen).collect();
    assert_eq!(over, others);
    assert_eq!(dogs.look(at(1), &parked), Changes::default());
}

proptest! {
    /// Whatever is seen in whatever order: a kind is found and ended in turns, and never both at once.
    #[test]
    fn what_is_found_is_ended_before_it_is_found_again(
        steps in prop::collection::vec((0_u64..40, 0_i64..3, any::<bool>(), 0_u64..30, any::<bool>()), 1..60)
    ) {
        let mut dogs = Watchdogs::new(Limits::default());
        let mut open = std::collections::BTreeSet::new();
        let mut now = 0;
        for (passed, number, asked, oldest, parked) in steps {
            now += passed;
            let number = TurnId { epoch: Epoch(1), number };
            let sight = Sight {
                turn: (number.number > 0).then_some(number),
                asks: asked && number.number > 0,
                oldest: (oldest > 0).then(|| Duration::from_secs(oldest * 60)),
                parked,
            };
            let first = now == passed && open.is_empty();
            let changes = dogs.look(at(now), &sight);
            for found in &changes.found {
                prop_assert!(open.insert(found.kind));
            }
            for kind in &changes.over {
                prop_assert!(open.remove(kind) || first || KINDS.contains(kind));
            }
            prop_assert_eq!(dogs.is_barking(), !open.is_empty());
        }
    }
}
