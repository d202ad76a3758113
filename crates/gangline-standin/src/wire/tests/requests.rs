//! Any request is read or refused: arbitrary JSON, and good requests with one value replaced.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    guide,
    wire::{Asked, Form, Ids, Refusal, anthropic, chat, gemini, responses},
};

/// Words that mean something on some wire: a request of only random ones would never get far.
const WORDS: [&str; 54] = [
    "model",
    "messages",
    "input",
    "contents",
    "role",
    "user",
    "assistant",
    "system",
    "developer",
    "tool",
    "model",
    "content",
    "parts",
    "text",
    "type",
    "function",
    "custom",
    "name",
    "tools",
    "tool_calls",
    "tool_call_id",
    "id",
    "call_id",
    "arguments",
    "output",
    "message",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell",
    "local_shell_call",
    "namespace",
    "tool_use",
    "tool_result",
    "tool_use_id",
    "input_schema",
    "functionCall",
    "functionResponse",
    "functionDeclarations",
    "response",
    "error",
    "thought",
    "stream",
    "stream_options",
    "include_usage",
    "max_tokens",
    "instructions",
    "additional_tools",
    "previous_response_id",
    "systemInstruction",
    "reasoning",
    "args",
    "1",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![9 => proptest::sample::select(WORDS.to_vec()).prop_map(str::to_owned), 1 => ".*"]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map(word(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A good request of each wire.
pub(super) fn good() -> [Value; 4] {
    [
        json!({
            "model": "m", "max_tokens": 10, "stream": true,
            "system": [{"type": "text", "text": "be"}],
            "tools": [{"name": "Bash", "input_schema": {}}],
            "messages": [
                {"role": "user", "content": "run ls"},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "1", "name": "Bash", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "1", "content": "a"}]},
            ],
        }),
        json!({
            "model": "m", "stream": true, "stream_options": {"include_usage": true},
            "tools": [
                {"type": "function", "function": {"name": "bash", "parameters": {}}},
                {"type": "custom", "custom": {"name": "patch"}},
            ],
            "messages": [
                {"role": "system", "content": "be"},
                {"role": "user", "content": [{"type": "text", "text": "run ls"}]},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}},
                    {"id": "2", "type": "custom", "custom": {"name": "patch", "input": "x"}}]},
                {"role": "tool", "tool_call_id": "2", "content": "b"},
                {"role": "tool", "tool_call_id": "1", "content": "a"},
            ],
        }),
        json!({
            "model": "m", "stream": true, "instructions": "be",
            "tools": [
                {"type": "function", "name": "exec_command"},
                {"type": "namespace", "name": "mcp__x", "tools": [{"type": "function", "name": "send"}]},
                {"type": "custom", "name": "apply_patch"}, {"type": "local_shell"},
            ],
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "run ls"}]},
                {"type": "reasoning", "summary": []},
                {"type": "function_call", "call_id": "1", "name": "exec_command", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "1", "output": "a"},
                {"type": "custom_tool_call", "call_id": "2", "name": "apply_patch", "input": "x"},
                {"type": "custom_tool_call_output", "call_id": "2", "output": "b"},
                {"type": "additional_tools", "tools": [{"type": "custom", "name": "exec"}]},
            ],
        }),
        json!({
            "systemInstruction": {"parts": [{"text": "be"}]},
            "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}],
            "contents": [
                {"role": "user", "parts": [{"text": "run ls"}]},
                {"role": "model", "parts": [
                    {"text": "so", "thought": true},
                    {"functionCall": {"name": "run_shell_command", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {
                    "name": "run_shell_command", "response": {"output": "a"}}}]},
            ],
        }),
    ]
}

/// Replaces the `at`-th value of a tree, counted from its root.
fn replace(tree: &mut Value, at: &mut usize, with: &Value) {
    if *at == 0 {
        *tree = with.clone();
        *at = usize::MAX;
        return;
    }
    *at -= 1;
    match tree {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, at, with)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, at, with)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Reads a body on every wire.
fn read(body: &[u8]) -> [Result<Asked, Refusal>; 4] {
    [
        anthropic::read(body).map(Asked::Messages),
        chat::read(body).map(Asked::Chat),
        responses::read(body).map(Asked::Responses),
        gemini::read(body, "m", Form::Events).map(Asked::Gemini),
    ]
}

/// Reads a body on every wire; what was understood is answered too.
fn check(body: &[u8]) {
    for asked in read(body).into_iter().flatten() {
        let reply = guide::answer(asked.conversation());
        assert!(!asked.answer(&reply, &Ids::of(body)).is_empty());
        assert!(!asked.overflow().message.is_empty());
    }
    let _ = anthropic::count(body);
    let _ = gemini::count(body, "m");
}

#[test]
fn every_wire_understands_the_good_request_of_its_own() {
    for (number, request) in good().iter().enumerate() {
        let asked = read(request.to_string().as_bytes());
        let Ok(asked) = &asked[number] else { panic!("{number}: {:?}", asked[number]) };
        let conversation = asked.conversation();
        let result = conversation.result().unwrap();
        assert_eq!(
            (conversation.asked(), conversation.system.as_str(), conversation.turn()),
            ("run ls", "be", if number == 2 { 3 } else { 2 }),
            "{number}"
        );
        assert!(result.text.starts_with(if number == 2 { "b" } else { "a" }), "{number}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(body: Vec<u8>) {
        check(&body);
    }

    #[test]
    fn any_json_is_read_or_refused(body in any_json()) {
        check(body.to_string().as_bytes());
    }

    #[test]
    fn a_good_request_with_one_value_replaced_is_read_or_refused(
        wire in 0..4_usize, at in 0..60_usize, with in any_json(),
    ) {
        let mut request = good()[wire].clone();
        replace(&mut request, &mut { at }, &with);
        check(request.to_string().as_bytes());
    }
}
