//! What the daemon hears of a loop that ended for a reason of its own.

use gangline_harness::Usage;

use super::*;

#[test]
fn the_limit_of_steps_is_a_failure_that_says_so() {
    let finished = Finished {
        stop: StopReason::MaxTurns,
        usage: Usage::default(),
        context_tokens: 0,
        final_text: String::new(),
    };
    let why = "the turn reached its limit of 200 calls of the model".to_owned();
    let failed = TurnResult::Failed { kind: FailureKind::StepLimit, why };
    assert_eq!(of(Ok(finished)), (failed, None));
}
