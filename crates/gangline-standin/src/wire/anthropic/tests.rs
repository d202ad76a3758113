//! Requests that pass and that do not; the bytes of answers.

use serde_json::{Value, json};

use super::*;
use crate::{
    reply::{Conversation, Cut, HttpError, Message, Part, Reply, Role, Step},
    wire::{self, Chunk, Form, Ids, Refusal, body::cut_after},
};

fn request(messages: Value) -> Vec<u8> {
    json!({ "model": "m", "max_tokens": 10, "messages": messages }).to_string().into_bytes()
}

fn refusal(body: &[u8]) -> String {
    read(body).err().map_or_else(|| "accepted".to_owned(), |Refusal { message, .. }| message)
}

#[test]
fn a_request_becomes_neutral() {
    let body = json!({
        "model": "m", "max_tokens": 10, "stream": true,
        "system": [{"type": "text", "text": "You are"}, {"type": "text", "text": "ada"}],
        "tools": [{"name": "Bash", "input_schema": {}}, {"type": "web_search_20250305", "name": "web_search"}],
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "a reminder"},
            {"role": "user", "content": [{"type": "text", "text": "there"}, {"type": "image", "source": {}}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "tool_use", "id": "1", "name": "Bash", "input": {}},
            ]},
            {"role": "system", "content": "another"},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": [{"type": "text", "text": "no"}]},
            ]},
        ],
    });
    let asked = read(body.to_string().as_bytes()).unwrap();
    assert_eq!(asked.form, Form::Events);
    let Conversation { input_tokens, ref messages, .. } = asked.conversation;
    assert!(input_tokens > 100);
    let text = |text: &str| Part::Text(text.into());
    let call = Part::ToolUse { id: "1".into(), name: "Bash".into() };
    let result = Part::ToolResult { id: "1".into(), text: "no".into(), is_error: true };
    assert_eq!(
        *messages,
        [
            Message { role: Role::User, parts: vec![text("hi"), text("there"), Part::Other] },
            Message { role: Role::Assistant, parts: vec![Part::Other, call] },
            Message { role: Role::User, parts: vec![result] },
        ]
    );
    assert_eq!(asked.conversation.system, "You are\nada");
    assert_eq!(asked.conversation.tools, ["Bash", "web_search"]);
    assert_eq!(asked.conversation.result().map(|result| result.tool), Some("Bash".into()));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn wrong_requests_are_refused_in_the_words_of_the_real_interface() {
    let user = json!({"role": "user", "content": "hi"});
    let uses = |ids: &[&str]| {
        let block = |id: &&str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}});
        json!({"role": "assistant", "content": ids.iter().map(block).collect::<Vec<_>>()})
    };
    let results = |ids: &[&str]| {
        let block = |id: &&str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
        json!({"role": "user", "content": ids.iter().map(block).collect::<Vec<_>>()})
    };
    let with = |field: &str, value: Value| {
        let mut body = json!({"model": "m", "max_tokens": 10, "messages": [user]});
        body[field] = value;
        body.to_string().into_bytes()
    };
    let mut out = String::new();
    for (what, body) in [
        ("no JSON", b"{".to_vec()),
        ("no object", b"[]".to_vec()),
        ("no model", br#"{"max_tokens":1,"messages":[]}"#.to_vec()),
        ("no max_tokens", br#"{"model":"m","messages":[]}"#.to_vec()),
        ("zero max_tokens", with("max_tokens", json!(0))),
        ("no messages", br#"{"model":"m","max_tokens":1}"#.to_vec()),
        ("empty messages", request(json!([]))),
        ("only system entries", request(json!([{"role": "system", "content": "x"}]))),
        ("stream as text", with("stream", json!("yes"))),
        ("a field that is none", with("made_up", json!(1))),
        ("tool without schema", with("tools", json!([{"name": "Bash"}]))),
        ("tool without name", with("tools", json!([{"input_schema": {}}]))),
        (
            "tool twice",
            with(
                "tools",
                json!([{"name": "a", "input_schema": {}}, {"name": "a", "input_schema": {}}]),
            ),
        ),
        ("unknown role", request(json!([{"role": "tool", "content": "x"}]))),
        ("assistant first", request(json!([{"role": "assistant", "content": "x"}, user]))),
        ("empty text", request(json!([{"role": "user", "content": ""}]))),
        (
            "empty block",
            request(json!([{"role": "user", "content": [{"type": "text", "text": ""}]}])),
        ),
        ("use without result", request(json!([user, uses(&["a"]), user]))),
        ("one of two answered", request(json!([user, uses(&["a", "b"]), results(&["b"])]))),
        ("use at the end", request(json!([user, uses(&["a"])]))),
        (
            "result without use",
            request(json!([user, {"role": "assistant", "content": "x"}, results(&["a"])])),
        ),
        ("result first", request(json!([results(&["a"])]))),
        (
            "result too late",
            request(
                json!([user, uses(&["a"]), results(&["a"]), {"role": "assistant", "content": "x"}, results(&["a"])]),
            ),
        ),
        ("result twice", request(json!([user, uses(&["a"]), results(&["a", "a"])]))),
        (
            "id twice",
            request(json!([user, uses(&["a"]), results(&["a"]), uses(&["a"]), results(&["a"])])),
        ),
        (
            "use by the user",
            request(
                json!([{"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {}}]}]),
            ),
        ),
        ("all well", request(json!([user, uses(&["a", "b"]), results(&["b", "a"])]))),
        (
            "a prefix for the answer",
            request(json!([user, {"role": "assistant", "content": "The"}])),
        ),
        (
            "system between use and result",
            request(
                json!([user, uses(&["a"]), {"role": "system", "content": "x"}, results(&["a"])]),
            ),
        ),
    ] {
        out.push_str(&format!("{what}: {}\n", refusal(&body)));
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(out) });
}

fn body(chunks: &[Chunk]) -> String {
    let show = |chunk: &Chunk| match chunk {
        Chunk::Bytes(text) => text.clone(),
        Chunk::Pause(pause) => format!("<<{pause:?}>>\n"),
        Chunk::Cut => "<<cut>>\n".to_owned(),
    };
    chunks.iter().map(show).collect()
}

fn reply() -> Reply {
    Reply {
        steps: vec![
            Step::Thinking("Let me think about it.".into()),
            Step::Text("Grüße aus der Küche, 😀!".into()),
            Step::Delay(std::time::Duration::from_millis(5)),
            Step::ToolUse {
                name: "Bash".into(),
                input: json!({"command": "echo hi && echo there"}),
            },
            Step::ToolUse { name: "Nothing".into(), input: json!({}) },
        ],
        ..Reply::default()
    }
}

fn asked(form: Form) -> Asked {
    let conversation =
        Conversation { model: "m".into(), input_tokens: 12, ..Conversation::default() };
    Asked { conversation, form }
}

fn stream(reply: &Reply) -> Vec<Chunk> {
    wire::Asked::Messages(asked(Form::Events)).answer(reply, &Ids::of(b"x"))
}

/// The exact event sequence: what clients of the real interface rely on.
#[test]
fn a_stream_has_the_event_sequence_of_the_real_interface() {
    let chunks = stream(&reply());
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(body(&chunks)) });
}

#[test]
fn the_plain_object_says_the_same_as_the_stream() {
    let chunks = answer(&asked(Form::Whole), &reply(), &Ids::of(b"x"));
    let [Chunk::Pause(_), Chunk::Bytes(text)] = chunks.as_slice() else { panic!("{chunks:?}") };
    let object: Value = serde_json::from_str(text).unwrap();
    insta::assert_json_snapshot!(object);
    let streamed = body(&stream(&reply()));
    assert_eq!(assemble(&streamed), object["content"]);
}

/// Puts the blocks together from the deltas, as a client does.
fn assemble(stream: &str) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    let mut inputs: Vec<String> = Vec::new();
    for line in stream.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: Value = serde_json::from_str(line).unwrap();
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                blocks.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                let (block, delta) = (blocks.last_mut().unwrap(), &event["delta"]);
                for field in ["text", "thinking", "signature"] {
                    if let Some(piece) = delta[field].as_str() {
                        let whole = block[field].as_str().unwrap_or("").to_owned() + piece;
                        block[field] = whole.into();
                    }
                }
                if let Some(piece) = delta["partial_json"].as_str() {
                    inputs.last_mut().unwrap().push_str(piece);
                }
            }
            _ => {}
        }
    }
    for (block, input) in blocks.iter_mut().zip(&inputs) {
        if !input.is_empty() {
            block["input"] = serde_json::from_str(input).unwrap();
        }
    }
    blocks.into()
}

#[test]
fn an_empty_reply_is_a_message_without_blocks() {
    let text = body(&stream(&Reply::default()));
    assert!(
        text.contains("message_start")
            && text.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
    );
    assert!(!text.contains("content_block"));
}

#[test]
fn a_cut_comes_exactly_where_it_was_told() {
    let cut = |cut| stream(&Reply { cut: Some(cut), ..reply() });
    let whole = body(&stream(&reply()));
    let none = body(&cut(Cut::Blocks(0)));
    assert!(none.starts_with("event: message_start") && none.ends_with("\n\n<<cut>>\n"));
    assert!(!none.contains("content_block"));
    let two = body(&cut(Cut::Blocks(2)));
    assert_eq!(two.matches("event: content_block_stop").count(), 2);
    assert!(!two.contains("tool_use") && !two.contains("message_delta"));
    let more = body(&cut(Cut::Blocks(99)));
    assert!(more.ends_with("<<cut>>\n") && !more.contains("message_stop"));
    let whole = whole.replace("<<5ms>>\n", "");
    for bytes in [0, 1, 100, 700, whole.len() - 1] {
        let text = body(&cut(Cut::Bytes(bytes))).replace("<<5ms>>\n", "");
        let sent = text.strip_suffix("<<cut>>\n").unwrap();
        assert!(whole.starts_with(sent) && bytes - sent.len() < 4, "{bytes}: {}", sent.len());
    }
    let all = cut_after(vec![Chunk::Bytes("ab".into())], 9);
    assert_eq!(all, [Chunk::Bytes("ab".into()), Chunk::Cut]);
}

#[test]
fn an_error_in_the_stream_takes_the_place_of_its_end() {
    let fault = HttpError::new(529, "");
    let text = body(&stream(&Reply { fault: Some(fault), ..Reply::text("half") }));
    assert!(text.contains("content_block_stop") && !text.contains("message_delta"), "{text}");
    let end = "event: error\ndata: {\"error\":{\"message\":\"Overloaded\",\"type\":\
               \"overloaded_error\"},\"request_id\":\"req_standinaf63f54c86021707\",\"type\":\
               \"error\"}\n\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn a_prompt_that_is_too_long_is_told_with_its_size_and_the_limit() {
    let error = overflow(200_012);
    assert_eq!(error.status, 400);
    assert_eq!(error.message, "prompt is too long: 200012 tokens > 200000 maximum");
}
