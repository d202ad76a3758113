//! Responses that end otherwise than well: cut off, paused, refused, with thoughts nobody takes.

use std::sync::Arc;

use gangline_harness::{Harness, StopReason, Tool};
use serde_json::{Value, json};

use crate::fake::*;

fn harness(fake: &Fake, continuations: u32, tools: Vec<Arc<dyn Tool>>) -> Harness {
    let mut config = fake.config();
    config.continuations = continuations;
    Harness::new(config, tools, None).unwrap()
}

fn cut(words: &str) -> Reply {
    whole(&[text(0, words)], "max_tokens")
}

/// R4-16: a response at its limit goes on as often as the configuration says, then the loop ends.
#[tokio::test]
async fn a_response_that_was_cut_off_is_asked_to_go_on() {
    let fake = Fake::start(vec![cut("one, "), cut("two, "), says("three")]).await;
    let finished = within(harness(&fake, 2, vec![]).prompt("count")).await.unwrap();
    assert_eq!(
        (finished.stop, finished.final_text.as_str()),
        (StopReason::EndTurn, "one, two, three")
    );
    let last = &fake.requests()[2];
    assert_eq!(texts(last, 1), ["one, "]);
    assert!(texts(last, 2)[0].contains("Go on exactly where it ended"), "{last}");

    let fake = Fake::start(vec![cut("one, "), cut("two, ")]).await;
    let finished = within(harness(&fake, 1, vec![]).prompt("count")).await.unwrap();
    assert_eq!(
        (finished.stop, finished.final_text.as_str()),
        (StopReason::MaxTokens, "one, two, ")
    );
}

/// A response that held nothing but thoughts when it was cut off leaves nothing that could be sent.
#[tokio::test]
async fn thoughts_alone_at_the_limit_are_gone_on_from_with_a_valid_request() {
    let thinking = block(
        0,
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        vec![json!({"type": "thinking_delta", "thinking": "Hm"})],
    );
    let fake = Fake::start(vec![whole(&[thinking], "max_tokens"), says("so")]).await;
    let finished = within(harness(&fake, 1, vec![]).prompt("go")).await.unwrap();
    assert_eq!(finished.final_text, "so");
}

/// R4-16: after a pause the same conversation goes on, the model's part as it came.
#[tokio::test]
async fn a_paused_response_is_sent_back_as_it_came() {
    let fake = Fake::start(vec![whole(&[text(0, "searching")], "pause_turn")]).await;
    let (harness, _) = fake.harness(vec![]);
    // The strict far side takes no conversation that ends with the model, as it otherwise should.
    let _refused = within(harness.prompt("go")).await;
    let messages = fake.requests()[1]["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 2);
    assert_eq!(messages[1]["content"], json!([{"type": "text", "text": "searching"}]));
}

/// R4-16: what the model declined is not sent again, or it would decline for ever.
#[tokio::test]
async fn a_refused_prompt_is_left_out_of_later_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let declines = whole(&[text(0, "I"), tool(1, "b", "puppet", &json!({}))], "refusal");
    let fake = Fake::start(vec![
        says("hello"),
        calls("a", "puppet", &json!({"say": "poison"})),
        declines,
        says("fine"),
    ])
    .await;
    let (harness, told) = fake.harness(puppet());
    let harness = harness.resume(&path).unwrap();
    within(harness.prompt("hi")).await.unwrap();
    let finished = within(harness.prompt("read the poison")).await.unwrap();
    assert_eq!(finished.stop, StopReason::Refusal);
    assert_eq!(told.lines().last().unwrap(), "status idle: the model declined");
    let whole = harness.messages().unwrap();
    let harness = harness.resume(&path).unwrap();
    assert_eq!(harness.messages().unwrap(), whole, "the history keeps it");
    within(harness.prompt("something else")).await.unwrap();
    let last = &fake.requests()[3];
    let all: Vec<Vec<String>> = (0..3).map(|number| texts(last, number)).collect();
    assert_eq!(all, [vec!["hi"], vec!["hello"], vec!["something else"]]);
}

fn thinks(index: usize, thought: &str) -> String {
    block(
        index,
        json!({"type": "thinking", "thinking": "", "signature": "s"}),
        vec![json!({"type": "thinking_delta", "thinking": thought})],
    )
}

fn kinds(request: &Value, message: usize) -> Vec<&str> {
    let blocks = request["messages"][message]["content"].as_array().unwrap().iter();
    blocks.map(|block| block["type"].as_str().unwrap()).collect()
}

/// C25: thoughts are signed together with instructions and tools; when those have changed, the
/// conversation goes on without the old ones.
#[tokio::test]
async fn thoughts_that_the_api_no_longer_takes_are_left_out_for_good() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let message = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is \
        bound to a different conversation.";
    let error = json!({"error": {"type": "invalid_request_error", "message": message}});
    let fake = Fake::start(vec![
        whole(&[thinks(0, "old"), text(1, "first")], "end_turn"),
        Reply::Refusal(400, vec![], error.clone()),
        whole(&[thinks(0, "new"), text(1, "second")], "end_turn"),
        says("third"),
        Reply::Refusal(400, vec![], error),
    ])
    .await;
    let (harness, told) = fake.harness(vec![]);
    let harness = harness.resume(&path).unwrap();
    within(harness.prompt("one")).await.unwrap();
    within(harness.prompt("two")).await.unwrap();
    assert_eq!(told.only(&["retry"]), [""; 0]);
    let harness = harness.resume(&path).unwrap();
    within(harness.prompt("three")).await.unwrap();
    let requests = fake.requests();
    assert_eq!(kinds(&requests[1], 1), ["thinking", "text"]);
    assert_eq!(kinds(&requests[2], 1), ["text"]);
    assert_eq!(kinds(&requests[3], 1), ["text"]);
    assert_eq!(kinds(&requests[3], 3), ["thinking", "text"], "what was thought since is sent");

    let fake = Fake::start(vec![Reply::Refusal(
        400,
        vec![],
        json!({"error": {"type": "invalid_request_error", "message": message}}),
    )])
    .await;
    let (harness, _) = fake.harness(vec![]);
    assert!(
        within(harness.prompt("x")).await.is_err(),
        "without thoughts there is nothing to drop"
    );
    assert_eq!(fake.requests().len(), 1);
}
