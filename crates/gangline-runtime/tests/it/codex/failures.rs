//! The real program: what the model's server may refuse, and logins.

use gangline_runtime::{FailureKind, RuntimeEvent, TurnResult};

use super::rig::Rig;

const REFUSALS: &str = r#"
rules:
  - when: {user: 'c401'}
    reply: [http_error: {status: 401, message: "bad key"}]
  - when: {user: 'c403'}
    reply: [http_error: {status: 403, message: "not for you"}]
  - when: {user: 'c429'}
    reply: [http_error: {status: 429, message: "slow down"}]
  - when: {user: 'c500'}
    reply: [http_error: {status: 500, message: "too bad"}]
  - when: {user: 'c400'}
    reply: [http_error: {status: 400, type: invalid_request_error, message: "bad thing"}]
  - when: {user: 'cut'}
    reply: [text: "half of it", drop: {after_blocks: 1}]
  - when: {user: 'too long'}
    reply: [overflow]
  - when: {user: 'nothing'}
    reply: [thinking: "hm"]
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

/// Each refusal of the model's server has its kind and its words; retries are told; the session
/// survives all of them. A turn of success in which nothing was said or done is a failure.
#[tokio::test]
async fn refusals_of_the_server_are_told_apart() {
    let mut rig = Rig::codex(REFUSALS).await;
    rig.start().await;
    for (number, text, kind, words) in [
        (1, "c400", "request", "bad thing"),
        (2, "c429", "limited", ""),
        (3, "c500", "provider", "high demand"),
        (4, "c401", "login", "bad key"),
        (5, "c403", "login", "not for you"),
        (6, "nothing", "other", "neither said nor did"),
        (7, "cut", "provider", "stream disconnected"),
        (8, "fine", "completed", ""),
        (9, "too long", "context_overflow", ""),
    ] {
        let done = rig.ask(number, text).await;
        assert_eq!(kind_of(done.result()), kind, "{text}: {done:?}");
        match done.result() {
            TurnResult::Failed { why: said, .. } | TurnResult::NeedsLogin { hint: said } => {
                assert!(said.contains(words) && !said.contains('\n'), "{text}: {done:?}");
            }
            TurnResult::RateLimited { .. } | TurnResult::Completed | TurnResult::Interrupted => {}
        }
        let retried = done.notices().iter().any(|text| text.contains("it is asked again"));
        assert_eq!(retried, ["c500", "c401", "c403", "cut"].contains(&text), "{text}: {done:?}");
    }
}

/// R2-43: without a login nothing is asked of the model and the turn says so; once somebody has
/// logged in that is told, and the next prompt reaches a program that knows it.
#[tokio::test]
async fn a_login_that_comes_later_is_noticed() {
    let mut rig = Rig::codex(REFUSALS).await;
    let address = rig.options.base_url.take().unwrap();
    rig.options.api_key = None;
    let account = rig.path("account");
    rig.options.account_dir = Some(account.clone());
    rig.begin().await;
    let session = rig.until_ready().await.0;
    let done = rig.ask(1, "hello").await;
    let TurnResult::NeedsLogin { hint } = done.result() else { panic!("{done:?}") };
    assert!(hint.contains("codex login") && hint.contains(account.to_str().unwrap()), "{hint}");
    let again = rig.ask(2, "hello").await;
    assert_eq!(kind_of(again.result()), "login", "{again:?}");
    assert_eq!(rig.requests(), [""; 0]);
    let before = rig.runtime.session().unwrap();

    // A provider in the user's configuration that takes the login's key.
    let config = format!(
        "model_provider = \"lab\"\n[model_providers.lab]\nname = \"Lab\"\n\
         base_url = \"{address}\"\nwire_api = \"responses\"\nrequires_openai_auth = true\n"
    );
    std::fs::write(account.join("config.toml"), config).unwrap();
    std::fs::write(account.join("auth.json"), r#"{"OPENAI_API_KEY": "sk-lab"}"#).unwrap();
    assert_eq!(rig.next().await, RuntimeEvent::LoggedIn);
    let done = rig.ask(3, "hello").await;
    assert_eq!(done.text(), "you said hello", "{done:?}");
    let after = rig.runtime.session().unwrap();
    assert_ne!(before.pid, after.pid);
    assert_ne!(after.session, Some(session), "it had no turn, so the program has forgotten it");
}

/// A server that cannot be reached is the provider's failure, told within seconds.
#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    let mut rig = Rig::codex(REFUSALS).await;
    rig.options.base_url = Some("http://127.0.0.1:9/v1".to_owned());
    rig.start().await;
    let done = rig.ask(1, "hello").await;
    let failed = matches!(
        done.result(),
        TurnResult::Failed { kind: FailureKind::Provider, why } if why.contains("Connection failed")
    );
    assert!(failed, "{done:?}");
}
