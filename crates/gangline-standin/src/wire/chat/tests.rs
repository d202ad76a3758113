//! Requests that pass and that do not; the bytes of answers.

use serde_json::{Value, json};

use super::*;
use crate::{
    reply::{Conversation, HttpError, Message, Part, Reply, Role, Step, UsageOverride},
    wire::{
        Chunk, Ids,
        tests::{everything, shown},
    },
};

fn request(messages: Value) -> Value {
    json!({ "model": "m", "messages": messages })
}

fn refusal(body: &Value) -> String {
    match read(body.to_string().as_bytes()) {
        Ok(_) => "accepted".to_owned(),
        Err(refusal) => {
            let param = refusal.param.as_deref().unwrap_or("-");
            format!("{} [{param}, {}]", refusal.message, refusal.code.unwrap_or("-"))
        }
    }
}

/// An OpenAI Chat Completions request as a coding agent sends it.
#[test]
fn a_request_becomes_neutral() {
    let call = |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}});
    let body = json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true},
        "tools": [
            {"type": "function", "function": {"name": "bash", "parameters": {}}},
            {"type": "custom", "custom": {"name": "patch"}},
        ],
        "messages": [
            {"role": "system", "content": "You are"},
            {"role": "user", "content": "hi"},
            {"role": "developer", "content": [{"type": "text", "text": "ada"}]},
            {"role": "user", "content": [
                {"type": "text", "text": "there"}, {"type": "image_url", "image_url": {}}]},
            {"role": "assistant", "content": "well", "reasoning_content": "hm",
                "tool_calls": [call("1", "bash"), {"id": "2", "type": "custom", "custom": {"name": "patch", "input": "x"}}]},
            {"role": "tool", "tool_call_id": "2", "content": [{"type": "text", "text": "two"}]},
            {"role": "tool", "tool_call_id": "1", "content": "one"},
        ],
    });
    let asked = read(body.to_string().as_bytes()).unwrap();
    assert_eq!(asked.form, crate::wire::Form::Events);
    let text = |text: &str| Part::Text(text.into());
    let used = |id: &str, name: &str| Part::ToolUse { id: id.into(), name: name.into() };
    let result = |id: &str, text: &str| Part::ToolResult {
        id: id.into(),
        text: text.into(),
        is_error: false,
    };
    let expected = Conversation {
        model: "m".into(),
        system: "You are\n\nada".into(),
        messages: vec![
            Message { role: Role::User, parts: vec![text("hi"), text("there"), Part::Other] },
            Message {
                role: Role::Assistant,
                parts: vec![text("well"), used("1", "bash"), used("2", "patch")],
            },
            Message { role: Role::User, parts: vec![result("2", "two"), result("1", "one")] },
        ],
        tools: vec!["bash".into(), "patch".into()],
        described: vec![],
        input_tokens: asked.conversation.input_tokens,
    };
    assert_eq!(asked.conversation, expected);
    assert!(expected.input_tokens > 100);
    let outcome = asked.conversation.result().unwrap();
    assert_eq!((outcome.tool.as_str(), outcome.text.as_str()), ("patch", "one\ntwo"));
}

#[test]
fn wrong_requests_are_refused_in_the_words_of_the_real_interface() {
    let user = json!({"role": "user", "content": "x"});
    let calls = |ids: &[&str]| {
        let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "b", "arguments": "{}"}});
        json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
    };
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "y"});
    let with = |field: &str, value: Value| {
        let mut request = request(json!([user]));
        request[field] = value;
        request
    };
    let mut out = String::new();
    for (what, body) in [
        ("a list", json!([])),
        ("no model", json!({"messages": [user]})),
        ("model of the wrong type", with("model", json!(1))),
        ("several choices", with("n", json!(2))),
        ("no choice", with("n", json!(0))),
        ("choices as a text", with("n", json!("2"))),
        ("one choice", with("n", json!(1))),
        ("no messages", json!({"model": "m"})),
        ("messages as text", request(json!("x"))),
        ("no message", request(json!([]))),
        ("stream of the wrong type", with("stream", json!("yes"))),
        ("stream options without stream", with("stream_options", json!({"include_usage": true}))),
        ("no role", request(json!([{"content": "x"}]))),
        ("unknown role", request(json!([{"role": "robot", "content": "x"}]))),
        ("no content", request(json!([{"role": "user"}]))),
        ("content of the wrong type", request(json!([{"role": "user", "content": 1}]))),
        ("assistant without content", request(json!([user, {"role": "assistant"}]))),
        ("tool without a type", with("tools", json!([{"function": {"name": "x"}}]))),
        ("tool of an unknown type", with("tools", json!([{"type": "web"}]))),
        ("tool without a function", with("tools", json!([{"type": "function"}]))),
        ("tool without a name", with("tools", json!([{"type": "function", "function": {}}]))),
        ("tools as text", with("tools", json!("x"))),
        (
            "arguments as an object",
            request(
                json!([user, {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "b", "arguments": {}}}]}, result("1")]),
            ),
        ),
        ("call without result", request(json!([user, calls(&["a"]), user]))),
        ("one of two answered", request(json!([user, calls(&["a", "b"]), result("b"), user]))),
        ("call at the end", request(json!([user, calls(&["a"])]))),
        ("result without call", request(json!([user, result("a")]))),
        ("result of another call", request(json!([user, calls(&["a"]), result("b")]))),
        ("result too late", request(json!([user, calls(&["a"]), result("a"), user, result("a")]))),
        ("all well", request(json!([user, calls(&["a", "b"]), result("b"), result("a")]))),
        ("the system alone", request(json!([{"role": "system", "content": "x"}]))),
    ] {
        out.push_str(&format!("{what}: {}\n", refusal(&body)));
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(out) });
}

fn asked(stream: Value) -> Asked {
    let mut body = json!({
        "model": "m", "messages": [{"role": "user", "content": "x"}],
        "tools": [{"type": "custom", "custom": {"name": "patch"}}],
    });
    if stream != json!(null) {
        body["stream"] = true.into();
        body["stream_options"] = stream;
    }
    let mut asked = read(body.to_string().as_bytes()).unwrap();
    asked.conversation.input_tokens = 12;
    asked
}

fn said(asked: &Asked, reply: &Reply) -> String {
    shown(&answer(asked, reply, &Ids::of(b"x")))
}

/// The exact chunks, calls by index with partial arguments: what clients put together.
#[test]
fn a_stream_has_the_chunks_of_the_real_interface() {
    let text = said(&asked(json!({"include_usage": true})), &everything());
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(text) });
}

#[test]
fn the_whole_completion_has_the_form_of_the_real_one() {
    let chunks = answer(&asked(json!(null)), &everything(), &Ids::of(b"x"));
    let [Chunk::Pause(_), Chunk::Bytes(text)] = chunks.as_slice() else { panic!("{chunks:?}") };
    let object: Value = serde_json::from_str(text).unwrap();
    insta::assert_json_snapshot!(object);
}

#[test]
fn usage_is_told_in_a_stream_only_when_it_is_asked_for() {
    let none = said(&asked(json!({})), &Reply::text("hi"));
    assert!(!none.contains("usage") && !none.contains(r#""choices":[]"#), "{none}");
    assert!(none.ends_with("data: [DONE]\n\n"), "{none}");
    let told = UsageOverride {
        input_tokens: Some(60),
        output_tokens: Some(20),
        cache_read_input_tokens: Some(40),
        cache_creation_input_tokens: Some(7),
    };
    let reply = Reply { usage: told, ..Reply::text("hi") };
    let all = said(&asked(json!({"include_usage": true})), &reply);
    let last = all.lines().rev().nth(3).unwrap().strip_prefix("data: ").unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["choices"], json!([]));
    let usage = &last["usage"];
    assert_eq!(
        [&usage["prompt_tokens"], &usage["completion_tokens"], &usage["total_tokens"]],
        [107, 20, 127]
    );
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 40);
    assert_eq!(all.matches(r#""usage":null"#).count(), 3, "{all}");
}

#[test]
fn reasons_of_the_messages_wire_are_translated_and_others_kept() {
    for (told, finish) in [
        (None, "stop"),
        (Some("end_turn"), "stop"),
        (Some("tool_use"), "tool_calls"),
        (Some("max_tokens"), "length"),
        (Some("refusal"), "content_filter"),
        (Some("pause_turn"), "stop"),
        (Some("whatever"), "whatever"),
    ] {
        let reply = Reply { stop_reason: told.map(str::to_owned), ..Reply::text("hi") };
        let text = said(&asked(json!({})), &reply);
        assert!(text.contains(&format!(r#""finish_reason":"{finish}""#)), "{told:?}: {text}");
    }
}

#[test]
fn a_freeform_tool_gets_its_text_and_a_function_even_broken_arguments() {
    let call = |name: &str| Step::ToolUse { name: name.into(), input: json!("*** Begin") };
    let reply = Reply { steps: vec![call("patch"), call("bash")], ..Reply::default() };
    let whole: Value = serde_json::from_str(&said(&asked(json!(null)), &reply)).unwrap();
    let calls = &whole["choices"][0]["message"]["tool_calls"];
    assert_eq!(calls[0]["custom"], json!({"name": "patch", "input": "*** Begin"}));
    assert_eq!(calls[1]["function"], json!({"name": "bash", "arguments": "*** Begin"}));
    let stream = said(&asked(json!({})), &reply);
    for piece in
        [r#"{"custom":{"input":"*** Begin"},"index":0}"#, r#""function":{"arguments":"*** Begin"}"#]
    {
        assert!(stream.contains(piece), "{stream}");
    }
}

#[test]
fn an_error_in_the_stream_takes_the_place_of_its_end() {
    let fault = HttpError::new(529, "");
    let reply = Reply { fault: Some(fault), ..Reply::text("half") };
    let text = said(&asked(json!({"include_usage": true})), &reply);
    assert!(text.contains("half"));
    let end = "data: {\"error\":{\"code\":\"server_is_overloaded\",\"message\":\"Our servers are \
               currently overloaded. Please try again later.\",\"param\":null,\"type\":\
               \"service_unavailable_error\"}}\n\n";
    assert!(text.ends_with(end), "{text}");
    assert!(!text.contains("[DONE]") && !text.contains(r#""finish_reason":"stop""#), "{text}");
}

#[test]
fn a_prompt_that_is_too_long_is_refused_with_the_code_that_clients_look_for() {
    let error = overflow(200_012);
    assert_eq!(
        (error.status, error.code.as_deref(), error.param.as_deref()),
        (400, Some("context_length_exceeded"), Some("messages"))
    );
    assert!(error.message.contains("resulted in 200012 tokens"), "{}", error.message);
}
