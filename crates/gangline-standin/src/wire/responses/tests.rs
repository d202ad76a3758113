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
    match read(body.to_string().as_bytes()) {
        Ok(_) => "accepted".to_owned(),
        Err(refusal) => {
            let param = refusal.param.as_deref().unwrap_or("-");
            format!("{} [{param}, {}]", refusal.message, refusal.code.unwrap_or("-"))
        }
    }
}

fn call(id: &str, name: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": name, "arguments": "{}"})
}

fn output(id: &str, text: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": text})
}

fn message(role: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
}

/// What Codex sends: instructions as developer's messages, context before the prompt, tools in
/// namespaces, others added among the items, outputs of every kind.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn a_request_becomes_neutral() {
    let body = json!({
        "model": "m", "stream": true, "store": false, "instructions": "base",
        "include": ["reasoning.encrypted_content"],
        "tools": [
            {"type": "function", "name": "exec_command", "parameters": {}},
            {"type": "namespace", "name": "mcp__gangline", "tools": [{"type": "function", "name": "send"}]},
            {"type": "web_search"}, {"type": "local_shell"}, {"type": "tool_search"},
        ],
        "input": [
            {"type": "additional_tools", "tools": [
                {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}]},
            message("developer", "You are ada"),
            message("user", "<environment_context>here</environment_context>"),
            {"role": "user", "content": "go"},
            {"type": "reasoning", "summary": [], "encrypted_content": "x"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "well"}]},
            {"type": "function_call", "call_id": "1", "namespace": "mcp__gangline", "name": "send", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "2", "name": "exec", "input": "text(1)"},
            {"type": "local_shell_call", "call_id": "3", "action": {}},
            {"type": "tool_search_call", "call_id": "4", "execution": "client", "arguments": {}},
            output("1", "one"),
            {"type": "custom_tool_call_output", "call_id": "2", "output": [{"type": "input_text", "text": "two"}]},
            {"type": "local_shell_call_output", "call_id": "3", "output": {"content": "three", "success": false}},
            {"type": "tool_search_output", "call_id": "4", "tools": [
                {"type": "namespace", "name": "mcp__late", "tools": [{"type": "function", "name": "find"}]}]},
            {"type": "compaction", "encrypted_content": "x"},
        ],
    });
    let asked = read(body.to_string().as_bytes()).unwrap();
    assert_eq!(asked.form, Form::Events);
    let text = |text: &str| Part::Text(text.into());
    let used = |id: &str, name: &str| Part::ToolUse { id: id.into(), name: name.into() };
    let result = |id: &str, text: &str, is_error| Part::ToolResult {
        id: id.into(),
        text: text.into(),
        is_error,
    };
    let expected = Conversation {
        model: "m".into(),
        system: "base\n\nYou are ada".into(),
        messages: vec![
            Message {
                role: Role::User,
                parts: vec![text("<environment_context>here</environment_context>"), text("go")],
            },
            Message {
                role: Role::Assistant,
                parts: vec![
                    Part::Other,
                    text("well"),
                    used("1", "mcp__gangline__send"),
                    used("2", "exec"),
                    used("3", "local_shell"),
                    used("4", "tool_search"),
                ],
            },
            Message {
                role: Role::User,
                parts: vec![
                    result("1", "one", false),
                    result("2", "two", false),
                    result("3", "three", true),
                    result("4", "", false),
                ],
            },
        ],
        tools: [
            "exec_command",
            "mcp__gangline__send",
            "local_shell",
            "tool_search",
            "exec",
            "mcp__late__find",
        ]
        .map(String::from)
        .to_vec(),
        described: vec![],
        input_tokens: asked.conversation.input_tokens,
    };
    assert_eq!(asked.conversation, expected);
    assert_eq!(expected.asked(), "go");
    let plain = read(br#"{"model": "m", "input": "just this"}"#).unwrap();
    assert_eq!((plain.form, plain.conversation.asked()), (Form::Whole, "just this"));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn wrong_requests_are_refused_in_the_words_of_the_real_interface() {
    let user = message("user", "x");
    let input = |items: Value| json!({"model": "m", "input": items});
    let with = |field: &str, value: Value| {
        let mut body = input(json!([user]));
        body[field] = value;
        body
    };
    let continued = |items: Value| {
        let mut body = input(items);
        body["previous_response_id"] = "resp_1".into();
        body
    };
    let mut out = String::new();
    for (what, body) in [
        ("a list", json!([])),
        ("no model", json!({"input": "x"})),
        ("no input", json!({"model": "m"})),
        ("input of the wrong type", input(json!(1))),
        ("no item", input(json!([]))),
        ("item as text", input(json!(["x"]))),
        ("type of the wrong type", input(json!([{"type": 1}]))),
        ("message without content", input(json!([{"role": "user"}]))),
        ("content of the wrong type", input(json!([{"role": "user", "content": 1}]))),
        ("unknown role", input(json!([message("tool", "x")]))),
        (
            "call without arguments",
            input(json!([{"type": "function_call", "call_id": "1", "name": "b"}])),
        ),
        (
            "call without an id",
            input(json!([{"type": "function_call", "name": "b", "arguments": "{}"}])),
        ),
        (
            "custom call without input",
            input(json!([{"type": "custom_tool_call", "call_id": "1", "name": "b"}])),
        ),
        (
            "output without an id",
            input(json!([user, {"type": "function_call_output", "output": "x"}])),
        ),
        ("unknown field", with("frobnicate", json!(1))),
        ("in the background", with("background", json!(true))),
        ("a kept conversation", with("conversation", json!("conv_1"))),
        ("a kept prompt", with("prompt", json!({"id": "pmpt_1"}))),
        ("fields that are passed over", with("client_metadata", json!({}))),
        ("not in the background", with("background", json!(false))),
        ("tool without a type", with("tools", json!([{"name": "x"}]))),
        ("tool without a name", with("tools", json!([{"type": "function"}]))),
        ("namespace without tools", with("tools", json!([{"type": "namespace", "name": "x"}]))),
        ("call without output", input(json!([user, call("1", "b")]))),
        ("output without call", input(json!([user, output("1", "x")]))),
        (
            "output of another kind",
            input(
                json!([user, call("1", "b"), {"type": "custom_tool_call_output", "call_id": "1", "output": "x"}]),
            ),
        ),
        ("all well", input(json!([user, call("1", "b"), output("1", "x")]))),
        ("an unknown item", input(json!([user, {"type": "something_new", "content": 1}]))),
        ("output of a response before", continued(json!([output("1", "x")]))),
        ("call without output, of a response before", continued(json!([call("1", "b")]))),
    ] {
        out.push_str(&format!("{what}: {}\n", refusal(&body)));
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(out) });
}

fn asked(form: Form) -> Asked {
    let body = json!({
        "model": "m", "stream": form == Form::Events, "input": "x",
        "tools": [
            {"type": "function", "name": "Bash"},
            {"type": "namespace", "name": "mcp__gangline", "tools": [{"type": "function", "name": "send"}]},
            {"type": "custom", "name": "apply_patch"}, {"type": "local_shell"}, {"type": "tool_search"},
            {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]},
        ],
    });
    let mut asked = read(body.to_string().as_bytes()).unwrap();
    asked.conversation.input_tokens = 12;
    asked
}

fn said(form: Form, reply: &Reply) -> String {
    shown(&answer(&asked(form), reply, &Ids::of(b"x")))
}

/// The exact event sequence, reasoning and parallel calls included.
#[test]
fn a_stream_has_the_event_sequence_of_the_real_interface() {
    let text = said(Form::Events, &everything());
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(text) });
}

#[test]
fn the_whole_response_has_the_form_of_the_real_one() {
    let chunks = answer(&asked(Form::Whole), &everything(), &Ids::of(b"x"));
    let [Chunk::Pause(_), Chunk::Bytes(text)] = chunks.as_slice() else { panic!("{chunks:?}") };
    let object: Value = serde_json::from_str(text).unwrap();
    insta::assert_json_snapshot!(object);
}

fn tool(name: &str, input: Value) -> Step {
    Step::ToolUse { name: name.into(), input }
}

/// Calls that are no functions: what each becomes, streamed.
#[test]
fn every_kind_of_tool_is_called_in_its_own_way() {
    let steps = vec![
        tool("apply_patch", json!("*** Begin Patch\n*** End Patch\n")),
        tool("mcp__gangline__send", json!({"text": "hi"})),
        tool("local_shell", json!({"command": "ls", "timeout_ms": 5})),
        tool("tool_search", json!({"query": "send"})),
    ];
    let text = said(Form::Events, &Reply { steps, ..Reply::default() });
    let events = text.split("\n\n").filter(|event| {
        event.contains("event: response.output_item.") || event.contains("custom_tool_call_input")
    });
    let events = events.collect::<Vec<_>>().join("\n");
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(events) });
}

#[test]
fn a_call_has_the_form_of_the_tool_or_else_of_its_name_and_input() {
    let item = |name: &str, input: Value| {
        let reply = Reply { steps: vec![tool(name, input)], ..Reply::default() };
        let whole: Value = serde_json::from_str(&said(Form::Whole, &reply)).unwrap();
        let mut item = whole["output"][0].clone();
        let fields = item.as_object_mut().unwrap();
        fields.retain(|name, _| !matches!(name.as_str(), "id" | "call_id" | "status"));
        item
    };
    for (name, input, expected) in [
        (
            "unknown",
            json!({}),
            json!({"type": "function_call", "name": "unknown", "arguments": "{}"}),
        ),
        (
            "unknown",
            json!("text"),
            json!({"type": "custom_tool_call", "name": "unknown", "input": "text"}),
        ),
        (
            "mcp__late__find",
            json!({"a": 1}),
            json!({"type": "function_call", "name": "find", "namespace": "mcp__late", "arguments": "{\"a\":1}"}),
        ),
        (
            "Bash",
            json!("{\"broken"),
            json!({"type": "function_call", "name": "Bash", "arguments": "{\"broken"}),
        ),
        (
            "exec",
            json!("text(1)"),
            json!({"type": "custom_tool_call", "name": "exec", "input": "text(1)"}),
        ),
        (
            "apply_patch",
            json!({"input": "a patch"}),
            json!({"type": "custom_tool_call", "name": "apply_patch", "input": "a patch"}),
        ),
        (
            "apply_patch",
            json!({"other": 1}),
            json!({"type": "custom_tool_call", "name": "apply_patch", "input": "{\"other\":1}"}),
        ),
    ] {
        assert_eq!(item(name, input), expected, "{name}");
    }
    let command = |input: Value| item("local_shell", input)["action"]["command"].clone();
    assert_eq!(command(json!({"command": ["ls", "-a"]})), json!(["ls", "-a"]));
    assert_eq!(command(json!({"command": "ls -a"})), json!(["bash", "-lc", "ls -a"]));
    assert_eq!(command(json!("ls -a")), json!(["bash", "-lc", "ls -a"]));
}

/// Returns the name of the last event, and its response.
fn end(reply: &Reply) -> (String, Value) {
    let text = said(Form::Events, reply);
    let last = text.trim_end().rsplit("event: ").next().unwrap();
    let (name, data) = last.split_once("\ndata: ").unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    (name.to_owned(), data["response"].clone())
}

#[test]
fn a_response_ends_completed_incomplete_or_failed() {
    for (told, name, reason, again) in [
        (None, "response.completed", json!(null), json!(null)),
        (Some("tool_use"), "response.completed", json!(null), json!(null)),
        (Some("pause_turn"), "response.completed", json!(null), json!(false)),
        (
            Some("max_tokens"),
            "response.incomplete",
            json!({"reason": "max_output_tokens"}),
            json!(null),
        ),
        (Some("refusal"), "response.incomplete", json!({"reason": "content_filter"}), json!(null)),
        (Some("whatever"), "response.incomplete", json!({"reason": "whatever"}), json!(null)),
    ] {
        let reply = Reply { stop_reason: told.map(str::to_owned), ..Reply::text("hi") };
        let (event, response) = end(&reply);
        assert_eq!(
            (event.as_str(), &response["incomplete_details"], &response["end_turn"]),
            (name, &reason, &again),
            "{told:?}"
        );
        assert_eq!(format!("response.{}", response["status"].as_str().unwrap()), name);
        assert_eq!(response["output"][0]["content"][0]["text"], "hi");
    }
    let fault = HttpError::new(429, "Rate limit reached. Please try again in 1.5s.");
    let (event, response) = end(&Reply { fault: Some(fault), ..Reply::text("half") });
    let error = json!({
        "code": "rate_limit_exceeded",
        "message": "Rate limit reached. Please try again in 1.5s.",
    });
    assert_eq!((event.as_str(), &response["error"]), ("response.failed", &error));
    assert_eq!((&response["status"], &response["usage"]), (&json!("failed"), &json!(null)));
}

#[test]
fn usage_counts_the_cache_among_what_was_read() {
    let told = UsageOverride {
        input_tokens: Some(60),
        output_tokens: Some(20),
        cache_read_input_tokens: Some(40),
        cache_creation_input_tokens: Some(7),
    };
    let steps = vec![Step::Thinking("12345678".into()), Step::Text("hi".into())];
    let (_, response) = end(&Reply { usage: told, steps, ..Reply::default() });
    let expected = json!({
        "input_tokens": 107,
        "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 7},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 127,
    });
    assert_eq!(response["usage"], expected);
}

#[test]
fn a_prompt_that_is_too_long_is_refused_with_the_code_that_clients_look_for() {
    let error = overflow();
    assert_eq!(
        (error.status, error.code.as_deref(), error.param.as_deref()),
        (400, Some("context_length_exceeded"), Some("input"))
    );
}
