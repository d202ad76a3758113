//! Ends of turns as the program tells them.

use serde_json::json;

use super::*;

fn of_status(status: &str, asked: bool, active: bool) -> TurnResult {
    let done = TurnDone { id: "u".to_owned(), status: status.to_owned(), error: None };
    of(&done, &Signs { asked, active, login: String::new() })
}

fn of_error(info: Value, message: &str) -> TurnResult {
    let error = Failure {
        message: message.to_owned(),
        codex_error_info: Some(info),
        additional_details: None,
    };
    let done = TurnDone { id: "u".to_owned(), status: "failed".to_owned(), error: Some(error) };
    of(&done, &Signs { login: "log in".to_owned(), ..Signs::default() })
}

#[test]
fn an_end_is_believed_only_with_its_signs() {
    assert_eq!(of_status("completed", false, true), TurnResult::Completed);
    assert_eq!(of_status("completed", true, true), TurnResult::Completed);
    assert_eq!(of_status("completed", true, false), TurnResult::Interrupted);
    assert_eq!(of_status("interrupted", true, true), TurnResult::Interrupted);
    for (status, asked) in
        [("completed", false), ("interrupted", false), ("failed", false), ("inProgress", true)]
    {
        let result = of_status(status, asked, false);
        let other = matches!(result, TurnResult::Failed { kind: FailureKind::Other, .. });
        assert!(other, "{status}: {result:?}");
    }
}

#[test]
fn failures_are_told_apart() {
    let status = |word: &str, status: u16| json!({word: {"httpStatusCode": status}});
    let http = "httpConnectionFailed";
    for (info, message, expected) in [
        (json!("contextWindowExceeded"), "m", FailureKind::ContextOverflow),
        (json!("serverOverloaded"), "m", FailureKind::Provider),
        (json!("internalServerError"), "m", FailureKind::Provider),
        (json!({http: {"httpStatusCode": null}}), "m", FailureKind::Provider),
        (status("responseStreamDisconnected", 503), "m", FailureKind::Provider),
        (status(http, 404), "m", FailureKind::Request),
        (json!("badRequest"), "m", FailureKind::Request),
        (json!("modelNotFound"), "m", FailureKind::Request),
        (json!("other"), "stream disconnected before completion", FailureKind::Provider),
        (json!("other"), "{\"type\": \"invalid_request_error\"}", FailureKind::Request),
        (json!("other"), "who knows", FailureKind::Other),
        (json!("a word of tomorrow"), "m", FailureKind::Other),
        (json!({}), "m", FailureKind::Other),
        (json!(7), "m", FailureKind::Other),
    ] {
        let why = message.to_owned();
        assert_eq!(
            of_error(info.clone(), message),
            TurnResult::Failed { kind: expected, why },
            "{info}"
        );
    }
    for info in
        [json!("unauthorized"), status(http, 401), status("responseStreamDisconnected", 403)]
    {
        let hint = "m. log in".to_owned();
        assert_eq!(of_error(info, "m"), TurnResult::NeedsLogin { hint });
    }
    // A spent quota whose end is not told is waited for; a throttle is tried again soon.
    let quota = TurnResult::RateLimited { retry_after: Some(30 * 60) };
    assert_eq!(of_error(json!("usageLimitExceeded"), "m"), quota);
    for info in [json!("rateLimitExceeded"), status("responseTooManyFailedAttempts", 429)] {
        assert_eq!(of_error(info, "m"), TurnResult::RateLimited { retry_after: None });
    }
}

#[test]
fn the_time_to_wait_is_read_and_never_too_short() {
    for (text, expected) in [
        ("Rate limit reached. Please try again in 1.5s. Visit", Some(2)),
        ("try again in 20 seconds", Some(20)),
        ("try again in 300ms", Some(1)),
        ("try again in 2 minutes 3 seconds", Some(123)),
        ("try again in 1m2.5s.", Some(63)),
        ("try again in 1 day, 1 hour or later", Some(90_000)),
        ("try again in 1 hour", Some(3600)),
        ("try again in 18446744073709551615.5 hours", Some(u64::MAX)),
        ("try again in 99999999999999999999 s", None),
        ("try again in a while", None),
        ("try again in ", None),
        ("later", None),
    ] {
        assert_eq!(seconds(text), expected, "{text}");
    }
}

#[test]
fn the_words_of_a_failure_are_one_line() {
    let failure = |message: &str, details: Option<&str>| Failure {
        message: message.to_owned(),
        codex_error_info: None,
        additional_details: details.map(str::to_owned),
    };
    assert_eq!(why(&failure("a\nb", Some("c"))), "a b (c)");
    assert_eq!(why(&failure("", Some("c"))), "c");
    assert_eq!(why(&failure("", None)), "no reason is given");
}
