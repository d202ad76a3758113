//! How the loop's end is told to the daemon. Pure.

use gangline_harness::{ApiErrorKind, Finished, PromptError, StopReason};

use super::{build::MAX_TURNS, events::with_causes};
use crate::{FailureKind, TurnResult};

/// Returns the turn's result, and what the operator may want to know of it.
pub(super) fn of(result: Result<Finished, PromptError>) -> (TurnResult, Option<String>) {
    let finished = match result {
        Ok(finished) => finished,
        Err(error) => return (failed(&error), None),
    };
    let notice = match finished.stop {
        StopReason::EndTurn => None,
        StopReason::Refusal => {
            let why = "the model declined to continue with this".to_owned();
            return (TurnResult::Failed { kind: FailureKind::Other, why }, None);
        }
        StopReason::MaxTurns => {
            let why = format!("the turn reached its limit of {MAX_TURNS} calls of the model");
            return (TurnResult::Failed { kind: FailureKind::StepLimit, why }, None);
        }
        StopReason::MaxTokens => Some("the answer was cut off at its longest".to_owned()),
        StopReason::Other(reason) => Some(format!("the model stopped: {reason}")),
    };
    (TurnResult::Completed, notice)
}

fn failed(error: &PromptError) -> TurnResult {
    let kind = match error {
        PromptError::Cancelled => return TurnResult::Interrupted,
        PromptError::Busy | PromptError::Empty | PromptError::Session(_) => FailureKind::Other,
        PromptError::Api(api) => match api.kind {
            ApiErrorKind::RateLimited { .. } => {
                let retry_after = api.kind.retry_after().map(|wait| wait.as_secs());
                return TurnResult::RateLimited { retry_after };
            }
            ApiErrorKind::Auth => FailureKind::Auth,
            ApiErrorKind::ContextOverflow => FailureKind::ContextOverflow,
            ApiErrorKind::ModelNotFound | ApiErrorKind::StaleThoughts | ApiErrorKind::Invalid => {
                FailureKind::Request
            }
            ApiErrorKind::Overloaded { .. }
            | ApiErrorKind::Server { .. }
            | ApiErrorKind::Connect
            | ApiErrorKind::Untrusted
            | ApiErrorKind::Dropped
            | ApiErrorKind::Malformed
            | ApiErrorKind::TooLarge => FailureKind::Provider,
        },
    };
    TurnResult::Failed { kind, why: with_causes(error) }
}

#[cfg(test)]
mod tests;
