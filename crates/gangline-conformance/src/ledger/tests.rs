//! Each rule of the order of events catches its own breach and nothing else.

use gangline_core::{Epoch, TurnId};

use super::Ledger;
use gangline_runtime::{RuntimeEvent, SessionId, TurnResult, Usage};

fn turn(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

fn ready() -> RuntimeEvent {
    RuntimeEvent::Ready { session: SessionId("s".to_owned()) }
}

fn accepted(number: i64) -> RuntimeEvent {
    RuntimeEvent::Accepted { turn: turn(number) }
}

fn finished(number: i64) -> RuntimeEvent {
    RuntimeEvent::Finished { turn: turn(number), result: TurnResult::Completed }
}

fn result(number: i64) -> RuntimeEvent {
    RuntimeEvent::ToolResult {
        turn: turn(number),
        id: "1".to_owned(),
        name: "t".to_owned(),
        is_error: false,
        content: String::new(),
    }
}

fn usage(number: i64) -> RuntimeEvent {
    RuntimeEvent::Usage { turn: turn(number), usage: Usage::default() }
}

/// Plays events after turn 1 was prompted; returns the faults.
fn faults(events: &[RuntimeEvent]) -> Vec<String> {
    let mut ledger = Ledger::default();
    ledger.prompted(turn(1));
    for event in events {
        ledger.see(event);
    }
    ledger.take_faults()
}

fn check(events: &[RuntimeEvent], fault: &str) {
    let faults = faults(events);
    assert!(faults.len() == 1 && faults[0].contains(fault), "{fault}: {faults:?}");
}

#[test]
fn a_usual_session_has_no_fault() {
    let events = [
        ready(),
        accepted(1),
        result(1),
        usage(1),
        finished(1),
        RuntimeEvent::Compacting,
        usage(1),
        RuntimeEvent::Compacted { failed: None },
        RuntimeEvent::Exited { code: 0 },
    ];
    assert_eq!(faults(&events), Vec::<String>::new());
}

#[test]
fn each_breach_is_told() {
    let exited = RuntimeEvent::Exited { code: 1 };
    check(&[ready(), ready()], "ready twice");
    check(&[accepted(1), ready()], "before it was ready");
    check(&[ready(), accepted(1), accepted(1)], "accepted twice");
    check(&[ready(), accepted(2)], "no such turn");
    check(&[ready(), result(1)], "before its prompt was accepted");
    check(&[ready(), accepted(1), result(2)], "no such turn");
    check(&[ready(), accepted(1), finished(1), finished(1)], "no such turn");
    check(&[ready(), accepted(1), finished(1), result(1)], "no such turn");
    check(&[ready(), usage(2)], "no such turn");
    check(&[ready(), finished(1), RuntimeEvent::Alive { turn: turn(1) }], "no such turn");
    check(&[ready(), RuntimeEvent::Compacted { failed: None }], "had not begun");
    check(&[ready(), exited.clone(), exited], "after its exit");
}

#[test]
fn a_second_prompt_in_a_turn_is_told() {
    let mut ledger = Ledger::default();
    ledger.prompted(turn(1));
    ledger.prompted(turn(2));
    assert_eq!(ledger.take_faults().len(), 1);
    assert!(ledger.busy());
    ledger.see(&finished(2));
    assert!(!ledger.busy() && !ledger.exited());
}
