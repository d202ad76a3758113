//! Requests that pass and that do not; the bytes of answers.

use serde_json::{Value, json};

use super::*;
use crate::{
    reply::{Conversation, HttpError, Message, Part, Reply, Role, Step, UsageOverride},
    wire::{
        Chunk, Form, Ids,
        tests::{everything, shown},
    },
};

fn refusal(body: &Value) -> String {
    match read(body.to_string().as_bytes(), "m", Form::Whole) {
        Ok(_) => "accepted\n".to_owned(),
        Err(refusal) => refusal.message.trim_end().to_owned() + "\n",
    }
}

fn user(parts: Value) -> Value {
    json!({"role": "user", "parts": parts})
}

fn model_said(parts: Value) -> Value {
    json!({"role": "model", "parts": parts})
}

fn call(name: &str) -> Value {
    json!({"functionCall": {"name": name, "args": {}}})
}

fn response(name: &str, response: Value) -> Value {
    json!({"functionResponse": {"name": name, "response": response}})
}

/// What Gemini CLI sends, and the older spelling.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn a_request_becomes_neutral() {
    let body = json!({
        "systemInstruction": {"role": "user", "parts": [{"text": "You are"}, {"text": "ada"}]},
        "generationConfig": {"temperature": 1},
        "tools": [
            {"functionDeclarations": [{"name": "run_shell_command"}, {"name": "mcp_gangline_send"}]},
            {"googleSearch": {}},
        ],
        "contents": [
            user(json!([{"text": "<session_context>here</session_context>"}, {"text": "go"}, {"inlineData": {}}])),
            model_said(json!([
                {"text": "let me see", "thought": true}, {"text": "well"},
                {"functionCall": {"id": "7", "name": "a", "args": {}}, "thoughtSignature": "x"},
                {"function_call": {"name": "b", "args": {}}}, call("b"),
            ])),
            user(json!([response("b", json!({"output": "two"})), response("b", json!({"error": "three"}))])),
            {"role": "function", "parts": [
                {"function_response": {"id": "7", "name": "a", "response": {"result": 1}}}]},
        ],
    });
    let asked = read(body.to_string().as_bytes(), "gemini-2.5-pro", Form::Events).unwrap();
    let text = |text: &str| Part::Text(text.into());
    let used = |id: &str, name: &str| Part::ToolUse { id: id.into(), name: name.into() };
    let result = |id: &str, text: &str, is_error| Part::ToolResult {
        id: id.into(),
        text: text.into(),
        is_error,
    };
    let expected = Conversation {
        model: "gemini-2.5-pro".into(),
        system: "You are\nada".into(),
        messages: vec![
            Message {
                role: Role::User,
                parts: vec![
                    text("<session_context>here</session_context>"),
                    text("go"),
                    Part::Other,
                ],
            },
            Message {
                role: Role::Assistant,
                parts: vec![
                    Part::Other,
                    text("well"),
                    used("7", "a"),
                    used("b/1/3", "b"),
                    used("b/1/4", "b"),
                ],
            },
            Message {
                role: Role::User,
                parts: vec![
                    result("b/1/3", "two", false),
                    result("b/1/4", "three", true),
                    result("7", r#"{"result":1}"#, false),
                ],
            },
        ],
        tools: vec!["run_shell_command".into(), "mcp_gangline_send".into()],
        described: vec![],
        input_tokens: asked.conversation.input_tokens,
    };
    assert_eq!(asked.conversation, expected);
    let outcome = expected.result().unwrap();
    assert_eq!((outcome.tool.as_str(), outcome.is_error), ("b", true));
    assert_eq!(outcome.text, "{\"result\":1}\ntwo\nthree");
}

#[test]
fn wrong_requests_are_refused_in_the_words_of_the_real_interface() {
    let hi = user(json!([{"text": "x"}]));
    let contents = |contents: Value| json!({"contents": contents});
    let mut out = String::new();
    for (what, body) in [
        ("a list", json!([])),
        ("no contents", json!({})),
        ("no content", contents(json!([]))),
        ("contents as text", contents(json!("x"))),
        ("unknown role", contents(json!([{"role": "assistant", "parts": [{"text": "x"}]}]))),
        ("no parts", contents(json!([{"role": "user"}]))),
        ("no part", contents(json!([user(json!([]))]))),
        ("part as text", contents(json!([user(json!(["x"]))]))),
        ("call without a name", contents(json!([hi, model_said(json!([{"functionCall": {}}]))]))),
        ("unknown field", json!({"contents": [hi], "frobnicate": 1})),
        (
            "several candidates",
            json!({"contents": [hi], "generation_config": {"candidateCount": 2}}),
        ),
        ("cached content", json!({"contents": [hi], "cachedContent": "cachedContents/x"})),
        (
            "fields that are passed over",
            json!({"contents": [hi], "generationConfig": {"candidateCount": 1}, "labels": {}}),
        ),
        ("function as text", json!({"contents": [hi], "tools": [{"functionDeclarations": ["x"]}]})),
        (
            "function without a name",
            json!({"contents": [hi], "tools": [{"functionDeclarations": [{}]}]}),
        ),
        ("call without response", contents(json!([hi, model_said(json!([call("a")])), hi]))),
        (
            "one of two answered",
            contents(json!([
                hi,
                model_said(json!([call("a"), call("b")])),
                user(json!([response("a", json!({}))]))
            ])),
        ),
        ("response without call", contents(json!([user(json!([response("a", json!({}))]))]))),
        ("without a role", contents(json!([{"parts": [{"text": "x"}]}]))),
        (
            "all well",
            contents(json!([
                hi,
                model_said(json!([call("a")])),
                user(json!([response("a", json!({}))]))
            ])),
        ),
    ] {
        out.push_str(&format!("{what}: {}", refusal(&body)));
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(out) });
}

#[test]
fn the_text_of_a_function_is_in_its_output_or_its_result() {
    for (response, text) in [
        (json!({"output": "x"}), "x"),
        (json!({"result": "x"}), "x"),
        (json!({"result": 1}), "{\"result\":1}"),
    ] {
        assert_eq!(super::request::outcome(&response), (text.to_owned(), false));
    }
    assert_eq!(super::request::outcome(&json!({"error": "x", "result": "y"})).0, "x");
}

#[test]
fn a_request_is_counted_bare_or_wrapped() {
    let bare = json!({"contents": [user(json!([{"text": "x".repeat(400)}]))]});
    let wrapped = json!({"generateContentRequest": bare});
    for body in [bare, wrapped] {
        let counted = count(body.to_string().as_bytes(), "m").unwrap();
        assert!(counted["totalTokens"].as_u64().unwrap() > 100, "{counted}");
    }
    assert!(count(b"{}", "m").is_err());
    let odd = json!({"generateContentRequest": {}, "frobnicate": 1});
    assert!(count(odd.to_string().as_bytes(), "m").is_err());
}

fn chunks(form: Form, reply: &Reply) -> Vec<Chunk> {
    let conversation =
        Conversation { model: "m".into(), input_tokens: 12, ..Conversation::default() };
    answer(&Asked { conversation, form }, reply, &Ids::of(b"x"))
}

fn said(form: Form, reply: &Reply) -> String {
    shown(&chunks(form, reply))
}

/// The exact chunks, thoughts and parallel calls included.
#[test]
fn a_stream_has_the_chunks_of_the_real_interface() {
    let text = said(Form::Events, &everything());
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(text) });
}

#[test]
fn events_end_as_the_real_interface_ends_them() {
    for chunk in chunks(Form::Events, &Reply::text("hi")) {
        let Chunk::Bytes(text) = chunk else { panic!("{chunk:?}") };
        assert!(text.starts_with("data: {") && text.ends_with("}\r\n\r\n"), "{text:?}");
    }
}

#[test]
fn a_stream_without_events_is_one_list_of_the_same_objects() {
    let list: Vec<Value> =
        serde_json::from_str(&said(Form::List, &everything()).replace("<<5ms>>\n", "")).unwrap();
    let events = said(Form::Events, &everything());
    let events: Vec<Value> = events
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(list, events);
}

#[test]
fn the_whole_response_has_the_form_of_the_real_one() {
    let chunks = chunks(Form::Whole, &everything());
    let [Chunk::Pause(_), Chunk::Bytes(text)] = chunks.as_slice() else { panic!("{chunks:?}") };
    let object: Value = serde_json::from_str(text).unwrap();
    insta::assert_json_snapshot!(object);
}

fn end(reply: &Reply) -> Value {
    let text = said(Form::Events, reply);
    serde_json::from_str(text.trim_end().rsplit("data: ").next().unwrap()).unwrap()
}

#[test]
fn reasons_of_the_messages_wire_are_translated_and_others_kept() {
    for (told, finish) in [
        (None, "STOP"),
        (Some("tool_use"), "STOP"),
        (Some("pause_turn"), "STOP"),
        (Some("max_tokens"), "MAX_TOKENS"),
        (Some("refusal"), "SAFETY"),
        (Some("MALFORMED_FUNCTION_CALL"), "MALFORMED_FUNCTION_CALL"),
    ] {
        let reply = Reply { stop_reason: told.map(str::to_owned), ..Reply::text("hi") };
        assert_eq!(end(&reply)["candidates"][0]["finishReason"], finish, "{told:?}");
    }
    let wordless = Reply { stop_reason: Some("refusal".into()), ..Reply::default() };
    let blocked = end(&wordless);
    assert_eq!(blocked["promptFeedback"]["blockReason"], "SAFETY");
    assert_eq!(blocked.get("candidates"), None);
}

#[test]
fn usage_tells_thoughts_and_cache_apart() {
    let told = UsageOverride {
        input_tokens: Some(60),
        output_tokens: Some(20),
        cache_read_input_tokens: Some(40),
        cache_creation_input_tokens: None,
    };
    let steps = vec![Step::Thinking("12345678".into()), Step::Text("hi".into())];
    let reply = Reply { usage: told, steps, ..Reply::default() };
    let usage = &end(&reply)["usageMetadata"];
    let expected = json!({
        "promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 18,
        "thoughtsTokenCount": 2, "totalTokenCount": 120,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}],
    });
    assert_eq!(usage, &expected);
    let less = UsageOverride { output_tokens: Some(1), ..told };
    let usage = &end(&Reply { usage: less, ..reply })["usageMetadata"];
    assert_eq!([&usage["candidatesTokenCount"], &usage["thoughtsTokenCount"]], [0, 1]);
}

#[test]
fn arguments_that_are_no_object_are_put_into_one() {
    let step = Step::ToolUse { name: "a".into(), input: json!("text") };
    let text = said(Form::Events, &Reply { steps: vec![step], ..Reply::default() });
    assert!(text.contains(r#""args":{"input":"text"}"#), "{text}");
}

/// Clients know an error in a stream by its being no event, and coming alone.
#[test]
fn an_error_in_the_stream_is_a_bare_object_at_its_end() {
    let reply = Reply { fault: Some(HttpError::new(503, "")), ..Reply::text("half") };
    let chunks = chunks(Form::Events, &reply);
    let [.., Chunk::Pause(_), Chunk::Bytes(last)] = chunks.as_slice() else { panic!("{chunks:?}") };
    let expected = r#"{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}"#;
    assert_eq!(last, expected);
    assert!(!shown(&chunks).contains("finishReason"));
    let list = said(Form::List, &reply).replace("<<20ms>>\n", "");
    let list: Vec<Value> = serde_json::from_str(&list).unwrap();
    assert_eq!(list.last().unwrap()["error"]["status"], "UNAVAILABLE");
}

#[test]
fn a_prompt_that_is_too_long_is_an_invalid_argument() {
    let error = overflow(200_012);
    assert_eq!(error.status, 400);
    assert!(error.message.contains("(200012) exceeds the maximum"), "{}", error.message);
}
