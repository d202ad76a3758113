//! How a turn ended, from the last line of a run and what was seen before it.
//!
//! The program calls a failed model call a success in its subtype; what counts is `is_error`, the
//! reason and the status.

use super::decode::Outcome;
pub(super) use crate::program::one_line;
use crate::{FailureKind, TurnResult};

/// What was seen before the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// We asked for the end.
    pub(super) asked: Asked,
    /// The kind of error that the program gave its own text.
    pub(super) error: Option<String>,
    /// Seconds until the provider takes something again.
    pub(super) retry_after: Option<u64>,
    /// Where the program keeps its login.
    pub(super) login: String,
}

/// Whether we asked for the end of the turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Asked {
    #[default]
    No,
    Yes,
}

/// Returns how the turn ended.
pub(super) fn of(outcome: &Outcome, signs: &Signs) -> TurnResult {
    let reason = outcome.terminal_reason.as_deref().unwrap_or_default();
    let aborted = reason.starts_with("aborted") || outcome.subtype == "error_during_execution";
    if signs.asked == Asked::Yes && aborted {
        return TurnResult::Interrupted;
    }
    if !outcome.is_error {
        return TurnResult::Completed;
    }
    let why = why(outcome);
    let failed = |kind| TurnResult::Failed { kind, why: why.clone() };
    match reason {
        "prompt_too_long" | "blocking_limit" => return failed(FailureKind::ContextOverflow),
        "max_turns" | "budget_exhausted" => return failed(FailureKind::Other),
        _ => {}
    }
    let error = signs.error.as_deref().unwrap_or_default();
    let status = outcome.api_error_status;
    let refused = matches!(status, Some(401 | 403))
        || matches!(error, "authentication_failed" | "oauth_org_not_allowed")
        || why.starts_with("Not logged in");
    if refused {
        return TurnResult::NeedsLogin { hint: hint(&why, &signs.login) };
    }
    if status == Some(429) || error == "rate_limit" {
        return TurnResult::RateLimited { retry_after: signs.retry_after };
    }
    if error == "billing_error" {
        return failed(FailureKind::Provider);
    }
    match status {
        Some(400..=499) => failed(FailureKind::Request),
        Some(_) => failed(FailureKind::Provider),
        None if reason == "api_error" => failed(FailureKind::Provider),
        None => failed(FailureKind::Other),
    }
}

fn hint(why: &str, login: &str) -> String {
    format!(
        "{why}. Run `claude` as the agent's user and log in with /login (its login is kept in \
         {login}), or give the agent a valid key"
    )
}

/// Returns the program's words for a failure, in one line.
pub(super) fn why(outcome: &Outcome) -> String {
    let errors = outcome.errors.join("; ");
    let text = outcome.result.as_deref().filter(|text| !text.is_empty()).unwrap_or(&errors);
    let text = if text.is_empty() { &outcome.subtype } else { text };
    one_line(text)
}

#[cfg(test)]
mod tests;
