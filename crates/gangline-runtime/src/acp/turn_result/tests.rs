//! Ends of turns, as the real programs tell them.

use serde_json::{Value, json};

use super::{Signs, of, one_line};
use crate::{
    FailureKind, TurnResult,
    acp::{
        recipe::{CODEX_ACP, COPILOT, HERMES, OPENCODE, PLAIN, Recipe},
        wire::Refusal,
    },
};

fn short(result: &TurnResult) -> String {
    match result {
        TurnResult::Completed => "completed".to_owned(),
        TurnResult::Interrupted => "interrupted".to_owned(),
        TurnResult::Failed { kind, .. } => kind.as_str().to_owned(),
        TurnResult::RateLimited { .. } => "limited".to_owned(),
        TurnResult::NeedsLogin { .. } => "login".to_owned(),
    }
}

#[test]
fn a_reason_alone_is_no_success() {
    for (reason, asked, busy, expected) in [
        ("end_turn", false, true, "completed"),
        ("end_turn", true, true, "interrupted"),
        ("end_turn", false, false, "other"),
        ("end_turn", true, false, "interrupted"),
        ("cancelled", true, true, "interrupted"),
        ("cancelled", false, true, "other"),
        ("max_tokens", false, true, "completed"),
        ("max_turn_requests", false, true, "other"),
        ("refusal", false, true, "request"),
        ("", false, true, "completed"),
    ] {
        let signs = Signs { asked, busy, ..Signs::default() };
        assert_eq!(short(&of(&PLAIN, Ok(reason), &signs)), expected, "{reason} {asked} {busy}");
    }
    let signs = Signs { asked: true, busy: true, spoke: true, ..Signs::default() };
    assert_eq!(short(&of(&PLAIN, Ok("end_turn"), &signs)), "completed");
}

#[test]
fn refusals_mean_what_their_words_say() {
    let cases: [(&Recipe, i64, &str, Value, &str); 10] = [
        (
            &OPENCODE,
            -32603,
            "Internal error: bad key",
            json!({"errorName": "APIError"}),
            "provider",
        ),
        (
            &OPENCODE,
            -32603,
            "Internal error: x",
            json!({"errorName": "ContextOverflowError"}),
            "context_overflow",
        ),
        (
            &OPENCODE,
            -32603,
            "Internal error: x",
            json!({"errorName": "ProviderAuthError"}),
            "login",
        ),
        (&OPENCODE, -32603, "Internal error: x", json!({"errorName": "UnknownError"}), "provider"),
        (&PLAIN, 401, "no", Value::Null, "login"),
        (&PLAIN, 429, "no", Value::Null, "limited"),
        (&PLAIN, 500, "no", Value::Null, "provider"),
        (&PLAIN, 404, "no", Value::Null, "request"),
        (&PLAIN, -32603, "exceeds the model's context window", Value::Null, "context_overflow"),
        (&PLAIN, -32000, "Authentication required", Value::Null, "login"),
    ];
    for (recipe, code, message, data, expected) in cases {
        let refusal = Refusal { code, message: message.to_owned(), data };
        let result = of(recipe, Err(&refusal), &Signs::default());
        assert_eq!(short(&result), expected, "{message}");
        let asked = Signs { asked: true, ..Signs::default() };
        assert_eq!(of(recipe, Err(&refusal), &asked), TurnResult::Interrupted);
    }
}

#[test]
fn an_error_that_comes_as_a_text_counts_though_the_turn_ends_well() {
    for (text, expected) in [
        ("Error: Authentication failed with provider at http://x (HTTP 401).", "login"),
        ("Error: Model 'x' not found on provider at http://x (HTTP 404).", "request"),
        ("Error: 400 This model's maximum context length is 200000 tokens.", "context_overflow"),
        ("Error: Failed to get response from the AI model; retried 5 times", "provider"),
        ("Error: what", "provider"),
    ] {
        let signs = Signs { busy: true, error: Some(text.to_owned()), ..Signs::default() };
        let result = of(&COPILOT, Ok("end_turn"), &signs);
        assert_eq!(short(&result), expected, "{text}");
    }
    let signs = Signs { error: Some("Error:\nwhat\t x".to_owned()), ..Signs::default() };
    let failed =
        TurnResult::Failed { kind: FailureKind::Provider, why: "Error: what x".to_owned() };
    assert_eq!(of(&COPILOT, Ok("end_turn"), &signs), failed);
    assert_eq!(one_line(&"x ".repeat(400)).chars().count(), 301);
}

/// Two programs tell their provider's errors as words of the model.
#[test]
fn errors_that_are_told_as_answers_are_known_by_the_program() {
    for (recipe, text, expected) in [
        (&CODEX_ACP, "exceeded retry limit, last status: 429 Too Many Requests", "limited"),
        (&CODEX_ACP, "unexpected status 401 Unauthorized: no", "login"),
        (&CODEX_ACP, "stream disconnected before completion: x", "provider"),
        (&HERMES, "HTTP 401: invalid key", "login"),
        (&HERMES, "HTTP 500: broken", "provider"),
        (&HERMES, "API call failed after 3 retries: HTTP 429: slow down", "limited"),
    ] {
        assert!(recipe.errors.iter().any(|mark| text.starts_with(mark)), "{text}");
        let signs = Signs { busy: true, error: Some(text.to_owned()), ..Signs::default() };
        assert_eq!(short(&of(recipe, Ok("end_turn"), &signs)), expected, "{text}");
    }
    let mark = "Warning: Model metadata for `fake-1` not found.";
    assert!(CODEX_ACP.remarks.iter().any(|it| mark.starts_with(it)));
}

/// Where the program opens sessions without a login, nobody sees that there is one: the way back to
/// work is a part of what a human is told.
#[test]
fn a_login_that_is_missing_in_a_turn_is_told_with_the_word_that_goes_on() {
    let refusal = Refusal { code: 401, message: "no key".to_owned(), data: Value::Null };
    let signs = Signs { login: "acme login".to_owned(), ..Signs::default() };
    let TurnResult::NeedsLogin { hint } = of(&PLAIN, Err(&refusal), &signs) else {
        panic!("no login is missing")
    };
    assert!(hint.contains("acme login") && hint.contains("gangline resume"), "{hint}");
}
