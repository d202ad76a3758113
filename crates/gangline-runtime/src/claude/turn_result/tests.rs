//! Ends as they were measured.

use super::*;
use crate::claude::decode::Outcome;

fn outcome(reason: &str, status: Option<u16>, text: &str) -> Outcome {
    Outcome {
        subtype: "success".to_owned(),
        is_error: true,
        terminal_reason: (!reason.is_empty()).then(|| reason.to_owned()),
        api_error_status: status,
        result: Some(text.to_owned()),
        ..Outcome::default()
    }
}

fn kind(outcome: &Outcome, error: &str) -> &'static str {
    let signs = Signs {
        error: (!error.is_empty()).then(|| error.to_owned()),
        retry_after: Some(7),
        ..Signs::default()
    };
    match of(outcome, &signs) {
        TurnResult::Completed => "completed",
        TurnResult::Interrupted => "interrupted",
        TurnResult::Failed { kind, .. } => kind.as_str(),
        TurnResult::RateLimited { retry_after: Some(7) } => "limited",
        TurnResult::RateLimited { .. } => "limited without end",
        TurnResult::NeedsLogin { .. } => "login",
    }
}

/// As measured, each with the words that the program used.
#[test]
fn each_end_has_its_kind() {
    for (reason, status, text, error, expected) in [
        (
            "prompt_too_long",
            Some(400),
            "Prompt is too long · …",
            "invalid_request",
            "context_overflow",
        ),
        ("blocking_limit", None, "Prompt is too long", "", "context_overflow"),
        ("max_turns", None, "", "", "other"),
        ("budget_exhausted", None, "", "", "other"),
        (
            "api_error",
            Some(401),
            "Failed to authenticate. API Error: 401 x",
            "authentication_failed",
            "login",
        ),
        (
            "api_error",
            Some(403),
            "Failed to authenticate. API Error: 403 x",
            "authentication_failed",
            "login",
        ),
        ("api_error", Some(401), "a proxy says no", "", "login"),
        ("api_error", None, "Not logged in · Please run /login", "authentication_failed", "login"),
        ("", None, "Not logged in · Please run /login", "", "login"),
        ("api_error", Some(429), "API Error: Request rejected (429)", "rate_limit", "limited"),
        ("api_error", None, "You've hit your limit", "rate_limit", "limited"),
        ("api_error", Some(400), "Credit balance is too low", "billing_error", "provider"),
        ("api_error", Some(400), "API Error: 400 bad thing", "unknown", "request"),
        ("api_error", Some(404), "model not found", "", "request"),
        ("api_error", Some(500), "API Error: 500", "server_error", "provider"),
        ("api_error", Some(529), "API Error: 529 Overloaded", "server_error", "provider"),
        ("api_error", None, "API Error: Connection refused", "server_error", "provider"),
        ("aborted_tools", None, "", "", "other"),
        ("", None, "", "", "other"),
        ("a_new_reason", None, "?", "", "other"),
    ] {
        assert_eq!(
            kind(&outcome(reason, status, text), error),
            expected,
            "{reason} {status:?} {text}"
        );
    }
}

#[test]
fn only_our_own_interrupt_is_one() {
    let mut aborted = outcome("aborted_tools", None, "");
    aborted.subtype = "error_during_execution".to_owned();
    let asked = Signs { asked: Asked::Yes, ..Signs::default() };
    assert_eq!(of(&aborted, &asked), TurnResult::Interrupted);
    assert!(matches!(of(&aborted, &Signs::default()), TurnResult::Failed { .. }));
    // Asked too late: it was done already.
    let mut done = outcome("completed", None, "fine");
    done.is_error = false;
    assert_eq!(of(&done, &asked), TurnResult::Completed);
    // Ended by another text, without an error.
    aborted.is_error = false;
    assert_eq!(of(&aborted, &Signs::default()), TurnResult::Completed);
}

#[test]
fn words_are_one_line_of_a_bounded_length() {
    assert_eq!(one_line(" a\n\tb\u{1b}[31m c "), "a b [31m c");
    assert_eq!(one_line(&"ä".repeat(300)), "ä".repeat(300));
    assert_eq!(one_line(&"ä".repeat(301)), format!("{}…", "ä".repeat(300)));
    let errors = Outcome {
        subtype: "error_during_execution".to_owned(),
        errors: vec!["No conversation found".to_owned(), "x".to_owned()],
        ..Outcome::default()
    };
    assert_eq!(why(&errors), "No conversation found; x");
    assert_eq!(
        why(&Outcome { subtype: "error_max_turns".to_owned(), ..Outcome::default() }),
        "error_max_turns"
    );
    let hint = hint("Not logged in", "/home/ada/.claude");
    assert!(hint.contains("/login") && hint.contains("/home/ada/.claude"), "{hint}");
}
