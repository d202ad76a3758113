//! The real program: what the model's server may refuse, and logins.

use gangline_runtime::{FailureKind, RuntimeEvent, TurnResult};

use super::rig::Rig;

const REFUSALS: &str = r#"
rules:
  - when: {user: 'c401'}
    reply: [http_error: {status: 401, type: authentication_error, message: "bad key"}]
  - when: {user: 'c403'}
    reply: [http_error: {status: 403, type: permission_error, message: "not for you"}]
  - when: {user: 'c429'}
    reply: [http_error: {status: 429, type: rate_limit_error, message: "slow down", headers: {retry-after: "1"}}]
  - when: {user: 'c529'}
    reply: [http_error: {status: 529, type: overloaded_error, message: "too many"}]
  - when: {user: 'c400'}
    reply: [http_error: {status: 400, type: invalid_request_error, message: "bad thing"}]
  - when: {user: 'broke'}
    reply: [http_error: {status: 400, type: invalid_request_error, message: "Your credit balance is too low to access the Anthropic API."}]
  - when: {user: 'too long'}
    reply: [overflow]
  - reply: [text: "you said ${user}"]
"#;

fn kind_of(result: &TurnResult) -> &'static str {
    match result {
        TurnResult::Completed => "completed",
        TurnResult::Interrupted => "interrupted",
        TurnResult::Failed { kind, .. } => kind.as_str(),
        TurnResult::RateLimited { .. } => "limited",
        TurnResult::NeedsLogin { .. } => "login",
    }
}

/// Each refusal of the model's server has its kind and its words; the program's words are not the
/// model's; each retry is told; the session survives all of them.
#[tokio::test]
async fn refusals_of_the_server_are_told_apart() {
    let mut rig = Rig::claude(REFUSALS).await;
    rig.start().await;
    for (number, text, kind, words, retries) in [
        (1, "too long", "context_overflow", "Prompt is too long", 0),
        (2, "c400", "request", "bad thing", 0),
        (3, "c429", "limited", "", 1),
        (4, "c529", "provider", "too many", 1),
        (5, "c401", "login", "bad key", 1),
        (6, "c403", "login", "not for you", 0),
        (7, "broke", "provider", "Credit balance is too low", 0),
        (8, "fine", "completed", "", 0),
    ] {
        let done = rig.ask(number, text).await;
        assert_eq!(kind_of(done.result()), kind, "{text}: {done:?}");
        match done.result() {
            TurnResult::Failed { why: said, .. } | TurnResult::NeedsLogin { hint: said } => {
                assert!(said.contains(words) && !said.contains('\n'), "{text}: {said}");
            }
            TurnResult::RateLimited { retry_after } => {
                assert!(retry_after.is_some_and(|after| (1..=3).contains(&after)), "{done:?}");
            }
            TurnResult::Completed | TurnResult::Interrupted => {}
        }
        if kind != "completed" {
            assert_eq!(done.text(), "", "{text}");
        }
        let notices: Vec<_> = done
            .0
            .iter()
            .filter(|event| matches!(event, RuntimeEvent::Notice { text } if text.contains("did not answer")))
            .collect();
        assert_eq!(notices.len(), retries, "{text}: {notices:?}");
    }
}

/// R2-43: without a login nothing is asked of the model and the turn says so; once somebody has
/// logged in that is told, and the same process answers.
#[tokio::test]
async fn a_login_that_comes_later_is_noticed() {
    let mut rig = Rig::claude(REFUSALS).await;
    rig.options.api_key = None;
    let account = rig.path("account");
    rig.options.account_dir = Some(account.clone());
    rig.start().await;
    let done = rig.ask(1, "hello").await;
    let TurnResult::NeedsLogin { hint } = done.result() else { panic!("{done:?}") };
    assert!(hint.contains("Not logged in") && hint.contains(account.to_str().unwrap()), "{hint}");
    assert_eq!(rig.requests(), [""; 0]);

    let login = r#"{"claudeAiOauth":{"accessToken":"sk-ant-oat01-x","refreshToken":"sk-ant-ort01-x",
        "expiresAt":99999999999999,"scopes":["user:inference"],"subscriptionType":"max"}}"#;
    std::fs::write(account.join(".credentials.json"), login).unwrap();
    assert_eq!(rig.next().await, RuntimeEvent::LoggedIn);
    assert_eq!(rig.ask(2, "hello").await.text(), "you said hello");
}

/// A server that cannot be reached is the provider's failure.
#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    let mut rig = Rig::claude(REFUSALS).await;
    rig.options.base_url = Some("http://127.0.0.1:9".to_owned());
    rig.start().await;
    let done = rig.ask(1, "hello").await;
    let failed = matches!(
        done.result(),
        TurnResult::Failed { kind: FailureKind::Provider, why } if why.contains("refused")
    );
    assert!(failed, "{done:?}");
}
