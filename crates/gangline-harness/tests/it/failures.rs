//! An API that fails: what is repeated, what is not, and what the caller learns.

use std::sync::Arc;
use std::time::Duration;

use gangline_harness::{ApiError, ApiErrorKind, Harness, PromptError};
use serde_json::{Value, json};

use crate::fake::*;

fn refusal(status: u16, kind: &str, message: &str) -> Reply {
    let body = json!({"type": "error", "error": {"type": kind, "message": message}});
    Reply::Refusal(status, vec![("request-id", "req_9")], body)
}

async fn fails(script: Vec<Reply>) -> (ApiError, Arc<Recorder>, Fake) {
    let fake = Fake::start(script).await;
    let (harness, told) = fake.harness(puppet());
    match within(harness.prompt("go")).await {
        Err(PromptError::Api(error)) => (error, told, fake),
        other => panic!("expected an API error, got {other:?}"),
    }
}

/// R4-07, R4-16: the prompt fails with the API.
#[tokio::test]
async fn a_refused_key_is_an_auth_error_at_once() {
    for status in [401, 403] {
        let (error, told, fake) =
            fails(vec![refusal(status, "authentication_error", "invalid x-api-key")]).await;
        assert_eq!(error.kind, ApiErrorKind::Auth);
        assert_eq!(error.to_string(), "the API key was refused: invalid x-api-key");
        assert_eq!(error.request_id.as_deref(), Some("req_9"));
        assert_eq!(fake.requests().len(), 1);
        assert_eq!(
            told.lines().last().unwrap(),
            "status idle: the API key was refused: invalid x-api-key"
        );
    }
}

/// C24: a model that is no longer served names its successor.
#[tokio::test]
async fn a_retired_model_is_a_clear_error_that_names_the_alias() {
    let fake = Fake::start(vec![refusal(404, "not_found_error", "model: x")]).await;
    let mut config = fake.config();
    config.model = "claude-3-haiku-20240307".into();
    let harness = Harness::new(config, vec![], None).unwrap();
    let Err(PromptError::Api(error)) = within(harness.prompt("go")).await else { panic!() };
    assert_eq!(error.kind, ApiErrorKind::ModelNotFound);
    let text = error.to_string();
    assert!(text.contains("`claude-3-haiku-20240307` was retired on 2026-04-20"), "{text}");
    assert!(text.contains("use `haiku` (claude-haiku-5-5)"), "{text}");
    assert_eq!(fake.requests()[0]["model"], "claude-3-haiku-20240307");
}

/// R4-16.
#[tokio::test]
async fn a_conversation_that_is_too_long_is_an_overflow() {
    let too_long = "prompt is too long: 1200000 tokens > 1000000 maximum";
    let (error, ..) = fails(vec![refusal(400, "invalid_request_error", too_long)]).await;
    assert_eq!(error.kind, ApiErrorKind::ContextOverflow);
    let cut = whole(
        &[text(0, "and then"), tool(1, "t", "puppet", &json!({}))],
        "model_context_window_exceeded",
    );
    let (error, told, _) = fails(vec![cut]).await;
    assert_eq!(error.kind, ApiErrorKind::ContextOverflow);
    assert_eq!(told.only(&["text", "result", "error"]), ["text and then"]);
    let (error, ..) = fails(vec![refusal(400, "invalid_request_error", "bad thing")]).await;
    assert_eq!(error.kind, ApiErrorKind::Invalid);
}

#[tokio::test]
async fn the_wait_that_the_api_asks_for_is_kept() {
    let body = json!({"error": {"type": "rate_limit_error", "message": "slow down"}});
    let limited = Reply::Refusal(429, vec![("retry-after", "0.3")], body);
    let fake = Fake::start(vec![limited, says("ok")]).await;
    let (harness, told) = fake.harness(vec![]);
    let clock = gangline_os::clock::system();
    let before = clock.monotonic();
    within(harness.prompt("go")).await.unwrap();
    assert!(clock.monotonic() - before >= Duration::from_millis(300));
    assert_eq!(told.only(&["retry"]), ["retry 1 RateLimited { retry_after: Some(300ms) }"]);
}

#[tokio::test]
async fn a_wait_beyond_the_budget_is_handed_to_the_caller() {
    let body = json!({"error": {"type": "rate_limit_error", "message": "come back later"}});
    let (error, _, fake) =
        fails(vec![Reply::Refusal(429, vec![("retry-after", "3600")], body)]).await;
    let retry_after = Some(Duration::from_secs(3600));
    assert_eq!(error.kind, ApiErrorKind::RateLimited { retry_after });
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn what_passes_is_repeated_with_the_same_request() {
    let overloaded = || refusal(529, "overloaded_error", "Overloaded");
    let broken =
        Reply::Broken(vec![start(), open_block(0, json!({"type": "text", "text": ""}), vec![])]);
    let cut = Reply::Stream(vec![start()]);
    let event = Reply::Stream(vec![
        start(),
        event(&json!({"type": "error", "error": {"type": "overloaded_error", "message": "x"}})),
    ]);
    let fake = Fake::start(vec![overloaded(), broken, cut, event, says("ok")]).await;
    let (harness, told) = fake.harness(vec![]);
    within(harness.prompt("go")).await.unwrap();
    assert_eq!(
        told.only(&["retry", "text"]),
        [
            "retry 1 Overloaded { retry_after: None }",
            "retry 2 Dropped",
            "retry 3 Dropped",
            "retry 4 Overloaded { retry_after: None }",
            "text ok",
        ]
    );
    let requests = fake.requests();
    assert!(requests.iter().all(|request| *request == requests[0]));
}

#[tokio::test]
async fn repetition_ends_after_five() {
    let script = (0..9).map(|_| refusal(500, "api_error", "oops")).collect();
    let (error, told, fake) = fails(script).await;
    assert_eq!(error.status, Some(500));
    assert_eq!(told.only(&["retry"]).len(), 5);
    assert_eq!(fake.requests().len(), 6);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_again_then_named() {
    let fake = Fake::start(vec![]).await;
    let mut config = fake.config();
    // Nobody listens at a port that is only bound, and nobody else gets it.
    let bound = tokio::net::TcpSocket::new_v4().unwrap();
    bound.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    config.base_url = format!("http://{}", bound.local_addr().unwrap());
    config.retry.max_retries = 1;
    let told = Arc::new(Recorder::default());
    let harness = Harness::new(config, vec![], Some(Arc::clone(&told) as _)).unwrap();
    let Err(PromptError::Api(error)) = within(harness.prompt("go")).await else { panic!() };
    assert_eq!(error.kind, ApiErrorKind::Connect);
    assert_eq!(told.only(&["retry"]), ["retry 1 Connect"]);
}

#[tokio::test]
async fn silence_is_a_lost_connection() {
    let fake = Fake::start(vec![Reply::Mute, Reply::Silent(vec![start()]), says("ok")]).await;
    let mut config = fake.config();
    // Long enough for the answer that is none of them.
    config.limits.idle = Duration::from_secs(2);
    let told = Arc::new(Recorder::default());
    let harness = Harness::new(config, vec![], Some(Arc::clone(&told) as _)).unwrap();
    within(harness.prompt("go")).await.unwrap();
    assert_eq!(told.only(&["retry"]), ["retry 1 Dropped", "retry 2 Dropped"]);
}

/// A block that was told is never told again: the prompt fails, the next one goes on.
#[tokio::test]
async fn a_response_that_breaks_after_a_block_is_not_repeated() {
    let broken = Reply::Broken(vec![
        start(),
        text(0, "first"),
        tool(1, "t", "puppet", &json!({})),
        open_block(2, json!({"type": "text", "text": "half"}), vec![]),
    ]);
    let fake = Fake::start(vec![broken, says("ok")]).await;
    let (harness, told) = fake.harness(puppet());
    let Err(PromptError::Api(error)) = within(harness.prompt("go")).await else { panic!() };
    assert_eq!(error.kind, ApiErrorKind::Dropped);
    assert_eq!(fake.requests().len(), 1);
    let told_of = ["text", "call", "result", "error", "message"];
    assert_eq!(told.only(&told_of), ["text first", "call t puppet {}", "message 2 cut"]);

    within(harness.prompt("again")).await.unwrap();
    let content = &fake.requests()[1]["messages"][2]["content"];
    assert_eq!(content[0]["tool_use_id"], "t");
    assert_eq!(content[0]["is_error"], true);
    assert_eq!(content[1]["text"], "again");
}

#[tokio::test]
async fn unknown_events_are_skipped_and_nonsense_is_repeated() {
    let nonsense = |data: &str| Reply::Stream(vec![start(), format!("data: {data}\n\n")]);
    let odd = vec![
        ": comment\n\n".into(),
        event(&json!({"type": "ping"})),
        start(),
        event(&json!({"type": "weather", "sky": "blue"})),
        "event: strange\nid: 7\nretry: 9\ndata: {}\n\n".into(),
        text(0, "ok"),
        end("end_turn"),
    ];
    let fake = Fake::start(vec![
        nonsense("{broken"),
        nonsense(r#"{"type": "content_block_stop", "index": 3}"#),
        nonsense(r#"{"type": "content_block_start", "index": 0}"#),
        Reply::Stream(odd),
    ])
    .await;
    let (harness, told) = fake.harness(vec![]);
    within(harness.prompt("go")).await.unwrap();
    let malformed = ["retry 1 Malformed", "retry 2 Malformed", "retry 3 Malformed", "text ok"];
    assert_eq!(told.only(&["retry", "text"]), malformed);
}

#[tokio::test]
async fn an_event_or_a_response_beyond_the_bounds_ends_the_request() {
    for (event_bytes, response_bytes, words) in
        [(500, 1 << 20, "an event of the response"), (1 << 20, 2000, "the response is longer")]
    {
        let long = |length: usize| text(0, &"x".repeat(length));
        let script = vec![Reply::Stream(vec![start(), long(3000), end("end_turn")])];
        let fake = Fake::start(script).await;
        let mut config = fake.config();
        config.limits.event_bytes = event_bytes;
        config.limits.response_bytes = response_bytes;
        let harness = Harness::new(config, vec![], None).unwrap();
        let Err(PromptError::Api(error)) = within(harness.prompt("go")).await else { panic!() };
        assert_eq!(error.kind, ApiErrorKind::TooLarge);
        assert!(error.message.starts_with(words), "{error}");
        assert_eq!(fake.requests().len(), 1);
    }
}

/// The oracle of these tests is strict: it refuses what the API refuses.
#[test]
fn the_fake_refuses_invalid_conversations() {
    let user = |content: Value| json!({"role": "user", "content": content});
    let assistant = |content: Value| json!({"role": "assistant", "content": content});
    let say = |text: &str| json!([{"type": "text", "text": text}]);
    let call = json!([{"type": "tool_use", "id": "a", "name": "n", "input": {}}]);
    for messages in [
        json!([]),
        json!([assistant(say("x"))]),
        json!([user(say(" "))]),
        json!([user(say("x")), user(say("y"))]),
        json!([user(say("x")), assistant(call.clone())]),
        json!([user(say("x")), assistant(call.clone()), user(say("y"))]),
    ] {
        assert!(refuse(&json!({"messages": messages})).is_some(), "{messages}");
    }
    assert_eq!(refuse(&json!({"messages": [user(say("x"))]})), None);
}
