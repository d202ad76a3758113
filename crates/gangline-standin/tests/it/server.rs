//! Answers, refusals, cuts and pauses over a real socket.

use std::time::Duration;

use serde_json::{Value, json};

use crate::peer::{Peer, Stream, asked};

#[tokio::test]
async fn the_guide_streams_and_answers_plainly() {
    let peer = Peer::start("", None).await;
    let response = peer.ask("say exactly Hello there, everybody", Stream::Yes).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
    let request_id = response.headers()["request-id"].to_str().unwrap().to_owned();
    assert!(request_id.starts_with("req_"), "{request_id}");
    insta::assert_snapshot!(response.text().await.unwrap());

    let response = peer.ask("say exactly Hello", Stream::No).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    let message: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(message["content"], json!([{"type": "text", "text": "Hello"}]));
    assert_eq!(message["stop_reason"], "end_turn");
}

/// The loop that a harness runs: call, result, final text.
#[tokio::test]
async fn a_tool_loop_ends_with_the_output() {
    let peer = Peer::start("", None).await;
    let mut body = asked("run echo hi", Stream::No);
    let first: Value = peer.post("/v1/messages", body.to_string()).await.json().await.unwrap();
    assert_eq!(first["stop_reason"], "tool_use");
    let call = &first["content"][0];
    assert_eq!(call["input"]["command"], "echo hi");
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": first["content"]}));
    messages.push(json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call["id"], "content": "hi\n"},
    ]}));
    let second: Value = peer.post("/v1/messages", body.to_string()).await.json().await.unwrap();
    assert_eq!(second["content"][0]["text"], "`echo hi` said:\nhi");
    assert_ne!(first["id"], second["id"]);
}

/// The loop of the official SDKs' tool runners: only what is new is sent, whole or streamed.
#[tokio::test]
async fn a_tool_loop_goes_on_by_its_thread() {
    let peer = Peer::start("", None).await;
    let mut body = asked("run echo hi", Stream::No);
    body["thread"] = json!({"type": "create"});
    let first: Value = peer.post("/v1/messages", body.to_string()).await.json().await.unwrap();
    let call = &first["content"][0];
    body["thread"] = json!({"type": "continue", "previous_message_id": first["id"]});
    body["messages"] = json!([{"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call["id"], "content": "hi\n"},
    ]}]);
    let second: Value = peer.post("/v1/messages", body.to_string()).await.json().await.unwrap();
    assert_eq!(second["content"][0]["text"], "`echo hi` said:\nhi");
    body["thread"]["previous_message_id"] = second["id"].clone();
    body["messages"] = json!([{"role": "user", "content": "say exactly Once more"}]);
    body["stream"] = json!(true);
    let third = peer.post("/v1/messages", body.to_string()).await.text().await.unwrap();
    assert!(third.contains("Once more"), "{third}");
    body["thread"]["previous_message_id"] = json!("msg_gone");
    let lost = peer.post("/v1/messages", body.to_string()).await;
    assert_eq!(lost.status(), 404);
    let lost: Value = lost.json().await.unwrap();
    assert_eq!(lost["error"]["details"]["error_code"], "thread_not_found");
}

#[tokio::test]
async fn the_small_endpoints_answer() {
    let peer = Peer::start("", None).await;
    let head = peer.http.head(format!("{}/", peer.base)).send().await.unwrap();
    assert_eq!(head.status(), 200);
    let models: Value = peer
        .http
        .get(format!("{}/v1/models", peer.base))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(models["data"][0]["id"], "stand-in");
    let count = json!({"model": "m", "messages": [{"role": "user", "content": "x".repeat(400)}]});
    let counted: Value = peer
        .post("/v1/messages/count_tokens?beta=true", count.to_string())
        .await
        .json()
        .await
        .unwrap();
    assert!(counted["input_tokens"].as_u64().unwrap() > 100, "{counted}");
}

#[tokio::test]
async fn refusals_have_the_wires_form() {
    let peer = Peer::start("", None).await;
    let response = peer.post("/v1/messages", "{}".into()).await;
    let request_id = response.headers()["request-id"].to_str().unwrap().to_owned();
    assert_eq!(response.status(), 400);
    let error: Value = response.json().await.unwrap();
    assert_eq!(
        error,
        json!({
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "max_tokens: Field required"},
            "request_id": request_id,
        })
    );
    let response = peer.post("/v1/complete", "{}".into()).await;
    assert_eq!(response.status(), 404);
    assert_eq!(response.json::<Value>().await.unwrap()["error"]["type"], "not_found_error");
    let get = peer.http.get(format!("{}/v1/messages", peer.base)).send().await.unwrap();
    assert_eq!(get.status(), 405);
    let bare =
        peer.http.post(format!("{}/v1/messages", peer.base)).body("{}").send().await.unwrap();
    assert_eq!(bare.status(), 400);
    let text = bare.text().await.unwrap();
    assert!(text.contains("anthropic-version: header is required"), "{text}");
}

const FAULTS: &str = r#"
rules:
  - when: {user: limit}
    times: 1
    reply: [http_error: {status: 429, headers: {retry-after: "2"}}]
  - when: {user: limit}
    reply: [text: fine now]
  - when: {user: raw}
    reply: [http_error: {status: 502, headers: {"bad header": "x"}, body: "<html>"}]
  - when: {user: overflow}
    reply: [overflow]
  - when: {user: cut bytes}
    reply: [text: some words that are never whole, drop: {after_bytes: 700}]
  - when: {user: cut blocks}
    reply: [text: one, text: two, drop: {after_blocks: 1}]
  - when: {user: slow}
    reply: [text: a, delay_ms: 300, text: b, usage: {input_tokens: 5, output_tokens: 6}]
  - when: {user: for ever}
    reply: [delay_ms: 600000]
"#;

#[tokio::test]
async fn a_script_gives_errors_and_then_answers() {
    let peer = Peer::start(FAULTS, None).await;
    let response = peer.ask("limit", Stream::Yes).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["retry-after"]),
        (429, &"2".parse().unwrap())
    );
    assert_eq!(response.json::<Value>().await.unwrap()["error"]["type"], "rate_limit_error");
    let again = peer.ask("limit", Stream::Yes).await.text().await.unwrap();
    assert!(again.contains("fine now"), "{again}");
    let raw = peer.ask("raw", Stream::Yes).await;
    assert_eq!(raw.status(), 502);
    assert_eq!(raw.text().await.unwrap(), "<html>");
    let overflow = peer.ask("overflow", Stream::Yes).await;
    assert_eq!(overflow.status(), 400);
    let text = overflow.text().await.unwrap();
    assert!(text.contains("prompt is too long: 2000"), "{text}");
    let none = peer.ask("nothing fits", Stream::Yes).await;
    assert_eq!(none.status(), 400);
    assert!(none.text().await.unwrap().contains("no rule for turn 1: nothing fits"));
}

/// Reads until the connection breaks; returns what came and whether it broke.
async fn read_all(mut response: reqwest::Response) -> (String, bool) {
    let mut text = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => text.extend_from_slice(&chunk),
            Ok(None) => return (String::from_utf8_lossy(&text).into_owned(), false),
            Err(_) => return (String::from_utf8_lossy(&text).into_owned(), true),
        }
    }
}

#[tokio::test]
async fn a_dropped_answer_breaks_the_connection_where_it_was_told() {
    let peer = Peer::start(FAULTS, None).await;
    let (text, broken) = read_all(peer.ask("cut bytes", Stream::Yes).await).await;
    assert_eq!((text.len(), broken), (700, true), "{text}");
    let (text, broken) = read_all(peer.ask("cut blocks", Stream::Yes).await).await;
    assert!(broken && text.contains("one") && !text.contains("two"), "{text}");
    let (text, broken) = read_all(peer.ask("cut blocks", Stream::No).await).await;
    assert!(broken && !text.is_empty() && serde_json::from_str::<Value>(&text).is_err(), "{text}");
}

#[tokio::test]
async fn a_delay_comes_between_what_is_before_and_after_it() {
    let peer = Peer::start(FAULTS, None).await;
    let clock = gangline_os::clock::system();
    let begun = clock.monotonic();
    let mut response = peer.ask("slow", Stream::Yes).await;
    let mut text = String::new();
    let mut first_seen = None;
    while let Some(chunk) = response.chunk().await.unwrap() {
        text.push_str(&String::from_utf8_lossy(&chunk));
        if text.contains("content_block_stop") && first_seen.is_none() {
            first_seen = Some(text.contains(r#""text":"b""#));
        }
    }
    assert_eq!(first_seen, Some(false), "the first block does not wait for the second");
    assert!(clock.monotonic() - begun >= Duration::from_millis(300));
    assert!(
        text.contains(r#""input_tokens":5"#) && text.contains(r#""output_tokens":6"#),
        "{text}"
    );
}

#[tokio::test]
async fn stopping_cuts_an_answer_that_is_under_way() {
    let peer = Peer::start(FAULTS, None).await;
    let mut response = peer.ask("for ever", Stream::Yes).await;
    let first = response.chunk().await.unwrap().unwrap();
    assert!(first.starts_with(b"event: message_start"));
    peer.stop.cancel();
    let soon = tokio::time::timeout(Duration::from_secs(60), read_all(response)).await;
    assert!(soon.unwrap().1, "the answer was broken off");
    let ends = peer.tasks.stop(Duration::from_secs(60)).await;
    let how: Vec<_> = ends.into_iter().map(|end| end.how).collect();
    assert_eq!(how, [gangline_os::task::HowEnded::Finished]);
}
