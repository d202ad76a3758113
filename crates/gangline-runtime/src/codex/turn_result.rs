//! How a turn ended, from the program's last word about it and what was seen before.

use gangline_core::pause::QUOTA_WAIT;
use serde_json::Value;

use super::decode::{Failure, TurnDone};
use crate::{FailureKind, TurnResult, program::one_line};

/// What was seen before the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// We asked for the end.
    pub(super) asked: bool,
    /// The model said or did something.
    pub(super) active: bool,
    /// What a human has to do about a login that was refused.
    pub(super) login: String,
}

/// Returns how the turn ended.
pub(super) fn of(done: &TurnDone, signs: &Signs) -> TurnResult {
    let other = |why: &str| TurnResult::Failed { kind: FailureKind::Other, why: why.to_owned() };
    match done.status.as_str() {
        "interrupted" if signs.asked => TurnResult::Interrupted,
        "interrupted" => other("codex ended the turn by itself"),
        "completed" if signs.active => TurnResult::Completed,
        "completed" if signs.asked => TurnResult::Interrupted,
        "completed" => other("codex reports success, but the model neither said nor did anything"),
        "failed" => match &done.error {
            Some(error) => failed(error, &signs.login),
            None => other("codex names no reason"),
        },
        status => other(&format!("codex ended the turn as `{}`", one_line(status))),
    }
}

/// How long a spent quota is waited for whose end the program does not tell, in seconds.
const QUOTA_WAIT_S: u64 = QUOTA_WAIT.as_secs();

/// Returns what a failure of the model's call means.
fn failed(error: &Failure, login: &str) -> TurnResult {
    let (word, status) = info(error);
    let why = why(error);
    let fail = |kind| TurnResult::Failed { kind, why: why.clone() };
    match (word, status) {
        ("unauthorized", _) | (_, Some(401 | 403)) => {
            TurnResult::NeedsLogin { hint: format!("{why}. {login}") }
        }
        ("contextWindowExceeded", _) => fail(FailureKind::ContextOverflow),
        // What was paid for is used up: it does not come back within minutes.
        ("usageLimitExceeded", _) => {
            TurnResult::RateLimited { retry_after: seconds(&why).or(Some(QUOTA_WAIT_S)) }
        }
        ("rateLimitExceeded" | "flexUnavailable", _) | (_, Some(429)) => {
            TurnResult::RateLimited { retry_after: seconds(&why) }
        }
        ("badRequest" | "modelNotFound" | "cyberPolicy" | "misalignmentPolicyViolation", _)
        | (_, Some(400..=499)) => fail(FailureKind::Request),
        (
            "serverOverloaded"
            | "internalServerError"
            | "policyCapacityUnavailable"
            | "httpConnectionFailed"
            | "responseStreamConnectionFailed"
            | "responseStreamDisconnected"
            | "responseTooManyFailedAttempts",
            _,
        )
        | (_, Some(_)) => fail(FailureKind::Provider),
        _ => fail(by_words(&why)),
    }
}

/// The program calls some failures of a provider `other` and passes its words on.
fn by_words(why: &str) -> FailureKind {
    let lower = why.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["stream disconnected", "idle timeout", "server_error", "stream closed"]) {
        FailureKind::Provider
    } else if has(&["invalid_request", "does not exist", "unsupported parameter"]) {
        FailureKind::Request
    } else {
        FailureKind::Other
    }
}

/// Returns the word for a failure and the status of the answer behind it.
fn info(error: &Failure) -> (&str, Option<u64>) {
    match &error.codex_error_info {
        Some(Value::String(word)) => (word, None),
        Some(Value::Object(fields)) => match fields.iter().next() {
            Some((word, body)) => (word, body.get("httpStatusCode").and_then(Value::as_u64)),
            None => ("", None),
        },
        _ => ("", None),
    }
}

/// Returns the program's words for a failure, in one line.
pub(super) fn why(error: &Failure) -> String {
    let details = error.additional_details.as_deref().unwrap_or_default();
    let text = match (error.message.is_empty(), details.is_empty()) {
        (true, true) => "no reason is given".to_owned(),
        (true, false) => details.to_owned(),
        (false, true) => error.message.clone(),
        (false, false) => format!("{} ({details})", error.message),
    };
    one_line(&text)
}

/// Reads `try again in 1.5s` and `try again in 2 minutes 3 seconds`, rounded up.
fn seconds(why: &str) -> Option<u64> {
    let mut rest = &why[why.find("try again in ")? + "try again in ".len()..];
    let mut total = None;
    loop {
        let (number, tail) = run(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, tail) = run(tail.trim_start(), |c| c.is_ascii_alphabetic());
        let Some(seconds) = part(number, unit) else { return total };
        total = Some(seconds.saturating_add(total.unwrap_or(0)));
        rest = tail.trim_start_matches([' ', ',']);
    }
}

/// Splits behind the first characters that are of a kind.
fn run(text: &str, of: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !of(c)).unwrap_or(text.len()))
}

fn part(number: &str, unit: &str) -> Option<u64> {
    let whole: u64 = number.split('.').next()?.parse().ok()?;
    let whole = whole.saturating_add(u64::from(number.contains('.')));
    match unit {
        "ms" => Some(whole.div_ceil(1000)),
        "s" | "second" | "seconds" => Some(whole),
        "m" | "minute" | "minutes" => Some(whole.saturating_mul(60)),
        "h" | "hour" | "hours" => Some(whole.saturating_mul(3600)),
        "d" | "day" | "days" => Some(whole.saturating_mul(86_400)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
