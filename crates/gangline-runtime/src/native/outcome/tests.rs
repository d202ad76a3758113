//! What the daemon hears of a loop that ended for a reason of its own.

use gangline_harness::{ApiError, Usage};

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

/// The cause is read from these words, so that the room is told it.
#[test]
fn a_server_that_is_not_reached_is_told_in_words_that_are_known() {
    use gangline_core::unreached::Unreached;
    let known = |kind: ApiErrorKind| {
        let api = ApiError { kind, message: "x".to_owned(), status: None, request_id: None };
        match failed(&PromptError::Api(api)) {
            TurnResult::Failed { kind: FailureKind::Provider, why } => Unreached::of(&why),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(known(ApiErrorKind::Connect), Some(Unreached::Away));
    assert_eq!(known(ApiErrorKind::Untrusted), Some(Unreached::Away));
    for answered in [
        ApiErrorKind::Overloaded { retry_after: None },
        ApiErrorKind::Server { retry_after: None },
        ApiErrorKind::Dropped,
    ] {
        assert_eq!(known(answered), None, "{answered}");
    }
}
