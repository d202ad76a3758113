//! Tests of steps, detectors and verdicts.

use std::time::Duration;

use super::*;

mod evaluation;
mod prompts;
mod random;
mod scripts;
mod steps;
mod verdicts;

/// The sum of all bounds of what [`Detectors`] remember.
const REMEMBERED_MOST: usize = 32 + 32 + 2 * 64 + OPEN_CALLS_MOST + EPISODES_MOST;

fn at(seconds: u64, what: StepKind) -> Step {
    Step { at: Now(Duration::from_secs(seconds)), what }
}

#[test]
fn a_failed_call_tried_four_times_is_told_once_and_over_when_it_succeeds() {
    let mut detectors = Detectors::default();
    let redactor = Redactor::default();
    let input = serde_json::json!({ "command": "make" });
    let error = Redacted::constant("make: *** No rule to make target 'all'. Stop. after 0.21s");
    let task = Redacted::constant("build it");
    let mut noticed = Vec::new();
    let _ = detectors.observe(&at(0, StepKind::TurnStarted { task }));
    for n in 0..5_u64 {
        let id = n.to_string();
        let call = StepKind::call(&id, "Bash", &input, &redactor);
        noticed.extend(detectors.observe(&at(n, call)));
        noticed.extend(detectors.observe(&at(n, StepKind::failed(&id, &error))));
    }
    let [Noticed::Raised(found)] = &noticed[..] else { panic!("{noticed:?}") };
    assert_eq!((found.kind, found.nth), (crate::finding::FindingKind::RepeatedError, 1));
    let call = StepKind::call("6", "Bash", &input, &redactor);
    let _ = detectors.observe(&at(9, call));
    let over = detectors.observe(&at(9, StepKind::succeeded("6", &Redacted::constant("done"))));
    assert_eq!(over, [Noticed::Cleared { key: found.key.clone() }]);
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut detectors = Detectors::default();
    let redactor = Redactor::default();
    let task = Redacted::constant("everything");
    let _ = detectors.observe(&at(0, StepKind::TurnStarted { task }));
    for n in 0..3_000_u64 {
        let id = n.to_string();
        let old = format!("{}", n % 700);
        let input = serde_json::json!({ "file_path": id, "old_string": old, "new_string": "b" });
        let _ = detectors.observe(&at(n, StepKind::call(&id, "Edit", &input, &redactor)));
        let text = Redacted::derived(format!("this is error or result number {n}"));
        match n % 3 {
            0 => drop(detectors.observe(&at(n, StepKind::succeeded(&id, &text)))),
            1 => drop(detectors.observe(&at(n, StepKind::failed(&id, &text)))),
            _ => {}
        }
    }
    assert!(detectors.remembered() <= REMEMBERED_MOST, "{}", detectors.remembered());
}
