//! Tests of steps, detectors and verdicts.

use std::time::Duration;

use super::*;

mod armed;
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
        let call = StepKind::call(&id, "Bash", (&input, &input), &redactor);
        noticed.extend(detectors.observe(&at(n, call)));
        noticed.extend(detectors.observe(&at(n, StepKind::failed(&id, &error))));
    }
    let [Noticed::Raised(found)] = &noticed[..] else { panic!("{noticed:?}") };
    assert_eq!((found.kind, found.nth), (crate::finding::FindingKind::RepeatedError, 1));
    let call = StepKind::call("6", "Bash", (&input, &input), &redactor);
    let _ = detectors.observe(&at(9, call));
    let over = detectors.observe(&at(9, StepKind::succeeded("6", &Redacted::constant("done"))));
    assert_eq!(over, [Noticed::Cleared { key: found.key.clone() }]);
}

/// Calls without edits, then edits; each fills what it fills to its own bound.
#[test]
fn what_is_remembered_is_bounded() {
    let mut detectors = Detectors::default();
    let redactor = Redactor::default();
    let task = Redacted::constant("everything");
    let _ = detectors.observe(&at(0, StepKind::TurnStarted { task }));
    let mut call = |id: u64, input: serde_json::Value, failed: Option<bool>| {
        let id = id.to_string();
        let _ = detectors.observe(&at(0, StepKind::call(&id, "Any", (&input, &input), &redactor)));
        let text = Redacted::derived(format!("this is error or result number {id}"));
        match failed {
            Some(true) => drop(detectors.observe(&at(0, StepKind::failed(&id, &text)))),
            Some(false) => drop(detectors.observe(&at(0, StepKind::succeeded(&id, &text)))),
            None => {}
        }
        detectors.remembered()
    };
    let command = |n: u64| serde_json::json!({ "command": n });
    let edit = |n: u64| serde_json::json!({ "file_path": n.to_string(), "old_string": "a", "new_string": "b" });
    let whole = |n: u64| serde_json::json!({ "file_path": n.to_string(), "content": "a" });
    let each = |of: &mut dyn FnMut(u64) -> usize| (0..300).map(of).last();
    // The same edit in many places of a file is one change.
    assert_eq!(each(&mut |n| call(n, edit(1), Some(false))), Some(1));
    let _ = call(0, edit(2), Some(false));
    assert_eq!(each(&mut |n| call(n, command(n), Some(false))), Some(2 + 32));
    assert_eq!(each(&mut |n| call(n, command(n), Some(true))), Some(2 + 64));
    // A success of the tool ends what its failed calls had in common, which is half of the failures' rows.
    assert_eq!(each(&mut |n| call(n, edit(n), Some(false))), Some(16 + 64));
    assert_eq!(each(&mut |n| call(n, whole(n), Some(false))), Some(16 + 64 + 64));
    assert_eq!(each(&mut |n| call(n, command(n), None)), Some(16 + 64 + 64 + OPEN_CALLS_MOST));
}
