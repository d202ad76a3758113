//! Prompts that go well: text, tools, thinking, bounds of the loop.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use gangline_harness::{
    Authorization, Authorizer, EventHandler, Harness, PromptError, Status, StopReason, Thinking,
    ToolCall,
};
use serde_json::{Value, json};

use crate::fake::*;

/// R4-05, R4-07, R4-10, R4-12, R4-13, R4-14, R4-16, R2-41, C25: the order of events, each with the
/// whole block.
#[tokio::test]
async fn a_tool_call_is_run_and_its_result_goes_back_until_the_model_only_speaks() {
    let fake = Fake::start(vec![
        whole(
            &[text(0, "I will look."), tool(1, "id1", "puppet", &json!({"say": "42"}))],
            "tool_use",
        ),
        says("It is 42."),
    ])
    .await;
    let (harness, told) = fake.harness(puppet());
    let finished = within(harness.prompt("what is it?")).await.unwrap();

    assert_eq!(finished.stop, StopReason::EndTurn);
    assert_eq!(finished.final_text, "It is 42.");
    assert_eq!((finished.usage.input_tokens, finished.usage.output_tokens), (20, 14));
    assert_eq!(finished.context_tokens, 15);
    assert_eq!(
        told.lines(),
        [
            "user what is it?",
            "status thinking: ",
            "text I will look.",
            r#"call id1 puppet {"say":"42"}"#,
            "usage 15+7",
            "message 2 tool_use",
            "status running tool: puppet",
            "result id1 42",
            "status thinking: ",
            "text It is 42.",
            "usage 15+7",
            "message 1 end_turn",
            "status idle: ",
        ]
    );
    assert_eq!(
        fake.requests()[1]["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "what is it?"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": "id1", "name": "puppet", "input": {"say": "42"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "id1", "content": "42", "is_error": false,
                 "cache_control": {"type": "ephemeral"}},
            ]},
        ])
    );
}

/// R4-01, R4-02, R4-06, R4-12, R4-15, C24: what every request carries; there is no handler.
#[tokio::test]
async fn a_request_carries_key_version_model_system_tools_and_cache_marks() {
    let fake = Fake::start(vec![says("hi"), says("hi")]).await;
    let mut config = fake.config();
    config.system_prompt = "be brief".into();
    config.thinking = Thinking::Budget(1000);
    let harness = Harness::new(config, puppet(), None).unwrap();
    within(harness.prompt("hello")).await.unwrap();
    harness.set_model("opus");
    within(harness.prompt("again")).await.unwrap();

    let headers = fake.headers(0);
    assert_eq!(headers["x-api-key"], "sk-test");
    assert_eq!(headers["anthropic-version"], "2023-06-01");
    let cached = json!({"type": "ephemeral"});
    assert_eq!(
        fake.requests()[0],
        json!({
            "model": "claude-haiku-5-5",
            "max_tokens": 5096,
            "stream": true,
            "system": [{"type": "text", "text": "be brief", "cache_control": cached}],
            "thinking": {"type": "enabled", "budget_tokens": 1000},
            "tools": [{"name": "puppet", "description": "Does what it is told.",
                "input_schema": {"type": "object"}, "cache_control": cached}],
            "tool_choice": {"type": "auto"},
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "hello", "cache_control": cached}]}],
        })
    );
    assert_eq!(fake.requests()[1]["model"], "claude-opus-5-5");
    assert_eq!(fake.peers()[0], fake.peers()[1], "one connection serves both");
    assert_eq!(fake.requests()[1]["tools"], fake.requests()[0]["tools"]);
}

/// R4-01, R4-06: the defaults; no tools and no handler.
#[tokio::test]
async fn without_options_a_request_has_the_defaults_and_nothing_empty() {
    let fake = Fake::start(vec![says("hi")]).await;
    let harness = Harness::new(fake.config(), vec![], None).unwrap();
    assert_eq!(fake.config().max_turns, 10);
    within(harness.prompt("hello")).await.unwrap();
    let request = fake.requests()[0].as_object().unwrap().clone();
    let names: Vec<&str> = request.keys().map(String::as_str).collect();
    assert_eq!(names, ["max_tokens", "messages", "model", "stream"]);
    assert_eq!(request["max_tokens"], 4096);
}

/// R4-17, C26: the row stops at the first error, and every call has an answer.
#[tokio::test]
async fn calls_after_a_failed_one_are_not_run_and_are_answered_with_stubs() {
    let blocks = [
        tool(0, "a", "puppet", &json!({"say": "one"})),
        tool(1, "b", "puppet", &json!({"fail": "no luck"})),
        tool(2, "c", "puppet", &json!({"say": "three"})),
        tool(3, "d", "puppet", &json!({"say": "four"})),
    ];
    let fake = Fake::start(vec![whole(&blocks, "tool_use"), says("I see.")]).await;
    let (harness, told) = fake.harness(puppet());
    within(harness.prompt("go")).await.unwrap();

    assert_eq!(told.only(&["result", "error"]), ["result a one", "error b no luck"]);
    let stub = "not executed: earlier tool failed";
    let results: Vec<Value> = fake.requests()[1]["messages"][2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| json!([block["tool_use_id"], block["content"], block["is_error"]]))
        .collect();
    assert_eq!(
        results,
        [
            json!(["a", "one", false]),
            json!(["b", "no luck", true]),
            json!(["c", stub, true]),
            json!(["d", stub, true]),
        ]
    );
}

/// R4-04, R4-18: an unknown tool, a panic and unreadable input are results, not failures.
#[tokio::test]
async fn whatever_goes_wrong_in_a_tool_is_told_to_the_model() {
    let half = json!({"type": "input_json_delta", "partial_json": "{\"say\": \"ha"});
    let cut = json!({"type": "tool_use", "id": "3", "name": "puppet", "input": {}});
    let fake = Fake::start(vec![
        calls("1", "unheard", &json!({})),
        calls("2", "puppet", &json!({"panic": true})),
        whole(&[block(0, cut, vec![half])], "max_tokens"),
        says("enough"),
    ])
    .await;
    let (harness, told) = fake.harness(puppet());
    let finished = within(harness.prompt("go")).await.unwrap();
    assert_eq!(finished.final_text, "enough");
    let errors = told.only(&["error"]);
    assert_eq!(errors[0], "error 1 there is no tool named `unheard`");
    assert_eq!(errors[1], "error 2 the tool panicked");
    assert!(errors[2].starts_with("error 3 invalid input: the input is not a JSON object"));
}

/// R4-16, C27: the loop ends well after `max_turns` requests, and the next prompt goes on.
#[tokio::test]
async fn the_loop_ends_at_max_turns_with_a_valid_history() {
    let again = || calls("x", "puppet", &json!({}));
    let fake = Fake::start(vec![again(), again(), says("on we go")]).await;
    let mut config = fake.config();
    config.max_turns = 2;
    let told = Arc::new(Recorder::default());
    let harness = Harness::new(config, puppet(), Some(Arc::clone(&told) as _)).unwrap();
    let finished = within(harness.prompt("go")).await.unwrap();
    assert_eq!(finished.stop, StopReason::MaxTurns);
    assert_eq!(told.lines().last().unwrap(), "status idle: max turns (2) reached");
    assert_eq!(fake.requests().len(), 2);
    assert_eq!(within(harness.prompt("more")).await.unwrap().final_text, "on we go");
}

/// R4-16: other reasons of the API to stop.
#[tokio::test]
async fn the_reason_to_stop_is_told() {
    for (reason, stop) in [
        ("end_turn", StopReason::EndTurn),
        ("stop_sequence", StopReason::EndTurn),
        ("max_tokens", StopReason::MaxTokens),
        ("refusal", StopReason::Refusal),
        ("tired", StopReason::Other("tired".into())),
    ] {
        let fake = Fake::start(vec![whole(&[text(0, "so")], reason)]).await;
        let (harness, _) = fake.harness(vec![]);
        assert_eq!(within(harness.prompt("go")).await.unwrap().stop, stop, "{reason}");
    }
}

/// C25: thinking with its signature, and blocks of later days, go back as they came.
#[tokio::test]
async fn thinking_and_unknown_blocks_are_kept_and_sent_back() {
    let thinking = block(
        0,
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        vec![
            json!({"type": "thinking_delta", "thinking": "Hm. "}),
            json!({"type": "thinking_delta", "thinking": "Yes."}),
            json!({"type": "signature_delta", "signature": "c2ln"}),
        ],
    );
    let strange = block(
        1,
        json!({"type": "hologram", "size": {"x": 1.5}, "note": "a"}),
        vec![json!({"type": "hologram_delta", "note": "b", "depth": 3})],
    );
    let fake = Fake::start(vec![
        whole(&[thinking, strange, tool(2, "t", "puppet", &json!({}))], "tool_use"),
        says("done"),
    ])
    .await;
    let (harness, told) = fake.harness(puppet());
    within(harness.prompt("go")).await.unwrap();
    assert_eq!(told.only(&["reasoning"]), ["reasoning Hm. Yes."]);
    assert_eq!(told.only(&["message"]), ["message 3 tool_use", "message 1 end_turn"]);
    assert_eq!(
        fake.requests()[1]["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "Hm. Yes.", "signature": "c2ln"},
            {"type": "hologram", "size": {"x": 1.5}, "note": "ab", "depth": 3},
            {"type": "tool_use", "id": "t", "name": "puppet", "input": {}},
        ])
    );
}

/// R4-11: what was sent once is sent again unchanged, as the start of every later request.
#[tokio::test]
async fn the_conversation_only_grows() {
    let fake = Fake::start(vec![
        calls("1", "puppet", &json!({})),
        calls("2", "puppet", &json!({"fail": "x"})),
        says("a"),
        whole(&[], "end_turn"),
        says("c"),
    ])
    .await;
    let (harness, _) = fake.harness(puppet());
    for prompt in ["one", "two", "three"] {
        within(harness.prompt(prompt)).await.unwrap();
    }
    let flat = |request: &Value| -> Vec<Value> {
        let messages = request["messages"].as_array().unwrap();
        let blocks = messages.iter().flat_map(|message| message["content"].as_array().unwrap());
        let mut blocks: Vec<Value> = blocks.cloned().collect();
        blocks.last_mut().unwrap().as_object_mut().unwrap().remove("cache_control");
        blocks
    };
    let requests = fake.requests();
    assert_eq!(requests.len(), 5);
    for pair in requests.windows(2) {
        let (before, after) = (flat(&pair[0]), flat(&pair[1]));
        assert_eq!(before, after[..before.len()]);
    }
}

/// R4-08, C23.
#[tokio::test]
async fn a_second_prompt_is_refused_while_one_runs_and_taken_afterwards() {
    let fake = Fake::start(vec![Reply::Silent(vec![start()]), says("later")]).await;
    let (harness, _) = fake.harness(vec![]);
    let first = harness.prompt("first");
    let second = async {
        fake.seen(1).await;
        assert!(harness.is_busy());
        let refused = harness.prompt("second").await;
        harness.cancel();
        refused
    };
    let (first, second) = within(async { futures::join!(first, second) }).await;
    assert!(matches!(first, Err(PromptError::Cancelled)));
    assert!(matches!(second, Err(PromptError::Busy)));
    assert!(!harness.is_busy());
    assert_eq!(within(harness.prompt("third")).await.unwrap().final_text, "later");
}

/// R4-06, R4-14: whoever hears "idle" may prompt at once.
#[tokio::test]
async fn idle_is_told_when_the_harness_is_free() {
    #[derive(Default)]
    struct Asks(OnceLock<Harness>, AtomicU32);
    impl EventHandler for Asks {
        fn on_status(&self, state: Status, _: &str) {
            let busy = self.0.get().unwrap().is_busy();
            assert_eq!(busy, state != Status::Idle);
            if !busy {
                assert!(self.0.get().unwrap().reserve().is_ok());
                self.1.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    let fake = Fake::start(vec![says("hi")]).await;
    let asks = Arc::new(Asks::default());
    let harness = Harness::new(fake.config(), vec![], Some(Arc::clone(&asks) as _)).unwrap();
    assert!(asks.0.set(harness.clone()).is_ok());
    within(harness.prompt("go")).await.unwrap();
    assert_eq!(asks.1.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_empty_prompt_is_refused_and_leaves_no_trace() {
    let fake = Fake::start(vec![]).await;
    let (harness, told) = fake.harness(vec![]);
    assert!(matches!(harness.prompt(" \n").await, Err(PromptError::Empty)));
    assert_eq!(harness.messages().unwrap(), []);
    assert_eq!(told.lines(), [""; 0]);
}

struct NoFailures;

#[async_trait::async_trait]
impl Authorizer for NoFailures {
    async fn authorize(&self, call: &ToolCall) -> Authorization {
        match call.input.get("fail") {
            Some(_) => Authorization::Deny { reason: "the owner said no".into() },
            None => Authorization::Allow,
        }
    }
}

#[tokio::test]
async fn each_call_is_asked_about_and_a_denied_one_ends_the_row() {
    let blocks = [
        tool(0, "a", "puppet", &json!({"say": "one"})),
        tool(1, "b", "puppet", &json!({"fail": "never seen"})),
        tool(2, "c", "puppet", &json!({})),
    ];
    let fake = Fake::start(vec![whole(&blocks, "tool_use"), says("I see.")]).await;
    let (harness, told) = fake.harness(puppet());
    let harness = harness.authorized_by(Arc::new(NoFailures));
    within(harness.prompt("go")).await.unwrap();
    assert_eq!(told.only(&["result", "error"]), ["result a one", "error b the owner said no"]);
}
