//! A stream, put together as a client does it, is the whole answer.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::requests::good;
use crate::{
    reply::{Cut, Reply, Step},
    wire::{Asked, Chunk, Form, Ids, anthropic, chat, gemini, responses},
};

fn asked(wire: usize, form: Form) -> Asked {
    let mut request = good()[wire].clone();
    if wire != 3 {
        request["stream"] = (form == Form::Events).into();
    }
    if form == Form::Whole && wire == 1 {
        request.as_object_mut().unwrap().remove("stream_options");
    }
    let body = request.to_string().into_bytes();
    match wire {
        0 => Asked::Messages(anthropic::read(&body).unwrap()),
        1 => Asked::Chat(chat::read(&body).unwrap()),
        2 => Asked::Responses(responses::read(&body).unwrap()),
        _ => Asked::Gemini(gemini::read(&body, "m", form).unwrap()),
    }
}

fn bytes(chunks: &[Chunk]) -> String {
    let text = |chunk: &Chunk| match chunk {
        Chunk::Bytes(text) => text.clone(),
        Chunk::Pause(_) | Chunk::Cut => String::new(),
    };
    chunks.iter().map(text).collect()
}

/// Returns the data of every event.
fn events(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|line| *line != "[DONE]").map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn add(whole: &mut Value, piece: &Value) {
    if let Some(piece) = piece.as_str() {
        *whole = (whole.as_str().unwrap_or("").to_owned() + piece).into();
    }
}

/// Returns texts, thoughts and calls of a Messages stream or object, in order.
fn messages(events: &[Value]) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    for event in events {
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                let mut block = event["content_block"].clone();
                if block["type"] == "tool_use" {
                    block["input"] = "".into();
                }
                blocks.push(block);
            }
            "content_block_delta" => {
                let block = blocks.last_mut().unwrap();
                for (field, piece) in [
                    ("text", "text"),
                    ("thinking", "thinking"),
                    ("signature", "signature"),
                    ("input", "partial_json"),
                ] {
                    add(&mut block[field], &event["delta"][piece]);
                }
                block.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            }
            _ => {}
        }
    }
    for block in blocks.iter_mut().filter(|block| block["type"] == "tool_use") {
        block["input"] = serde_json::from_str(block["input"].as_str().unwrap()).unwrap();
    }
    blocks.into()
}

fn chat_message(events: &[Value]) -> Value {
    let mut message = json!({"content": "", "reasoning_content": null});
    let mut calls: Vec<Value> = Vec::new();
    for event in events.iter().filter(|event| event["choices"] != json!([])) {
        let delta = &event["choices"][0]["delta"];
        add(&mut message["content"], &delta["content"]);
        add(&mut message["reasoning_content"], &delta["reasoning_content"]);
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            match calls.get_mut(index) {
                None => calls.push(call.clone()),
                Some(known) => {
                    add(&mut known["function"]["arguments"], &call["function"]["arguments"]);
                }
            }
        }
    }
    for call in &mut calls {
        call.as_object_mut().unwrap().remove("index");
    }
    message["tool_calls"] = calls.into();
    message
}

/// Returns the items of a Responses stream, put together from what came before each was done.
fn items(events: &[Value]) -> Value {
    let mut items: Vec<Value> = Vec::new();
    for event in events {
        let at = event["output_index"].as_u64().map(|at| usize::try_from(at).unwrap());
        let (Some(at), Some(kind)) = (at, event["type"].as_str()) else { continue };
        match kind {
            "response.output_item.added" => items.push(event["item"].clone()),
            "response.content_part.added" => {
                items[at]["content"] = json!([event["part"].clone()]);
            }
            "response.reasoning_summary_part.added" => {
                items[at]["summary"] = json!([event["part"].clone()]);
            }
            "response.output_text.delta" => {
                add(&mut items[at]["content"][0]["text"], &event["delta"]);
            }
            "response.reasoning_summary_text.delta" => {
                add(&mut items[at]["summary"][0]["text"], &event["delta"]);
            }
            "response.function_call_arguments.delta" => {
                add(&mut items[at]["arguments"], &event["delta"]);
            }
            "response.custom_tool_call_input.delta" => {
                add(&mut items[at]["input"], &event["delta"]);
            }
            "response.output_item.done" => {
                let mut begun = items[at].clone();
                for field in ["status", "encrypted_content"] {
                    if !begun[field].is_null() || !event["item"][field].is_null() {
                        begun[field] = event["item"][field].clone();
                    }
                }
                begun.as_object_mut().unwrap().retain(|_, value| !value.is_null());
                assert_eq!(begun, event["item"]);
            }
            _ => {}
        }
    }
    events.last().unwrap()["response"]["output"].clone()
}

/// Returns the parts of Gemini objects, neighbouring pieces of a text put together.
fn parts(objects: &[Value]) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    for object in objects {
        for part in object["candidates"][0]["content"]["parts"].as_array().into_iter().flatten() {
            let alike = |before: &Value| {
                before.get("text").is_some()
                    && part.get("text").is_some()
                    && before.get("thought") == part.get("thought")
            };
            match parts.last_mut().filter(|before| alike(before)) {
                Some(before) => add(&mut before["text"], &part["text"]),
                None if part["text"] == "" => {}
                None => parts.push(part.clone()),
            }
        }
    }
    parts.into()
}

/// Returns what an answer says: streamed, and whole.
fn both(wire: usize, reply: &Reply) -> (Value, Value) {
    let answer = |form| bytes(&asked(wire, form).answer(reply, &Ids::of(b"x")));
    let stream = events(&answer(Form::Events));
    let whole: Value = serde_json::from_str(&answer(Form::Whole)).unwrap();
    match wire {
        0 => (messages(&stream), whole["content"].clone()),
        1 => {
            let message = &whole["choices"][0]["message"];
            let calls = message.get("tool_calls").cloned().unwrap_or(json!([]));
            let content = message["content"].as_str().unwrap_or("");
            let thinking = message["reasoning_content"].clone();
            let object =
                json!({"content": content, "reasoning_content": thinking, "tool_calls": calls});
            (chat_message(&stream), object)
        }
        2 => (items(&stream), whole["output"].clone()),
        _ => (parts(&stream), parts(&[whole])),
    }
}

fn reply() -> impl Strategy<Value = Reply> {
    let step = prop_oneof![
        ".{0,40}".prop_map(Step::Text),
        ".{0,40}".prop_map(Step::Thinking),
        ("[a-z_]{1,9}", proptest::collection::btree_map(".{0,5}", ".{0,40}", 0..3))
            .prop_map(|(name, input)| Step::ToolUse { name, input: json!(input) }),
    ];
    proptest::collection::vec(step, 0..6).prop_map(|steps| Reply { steps, ..Reply::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_stream_says_what_the_whole_answer_says(wire in 0..4_usize, reply in reply()) {
        let (streamed, whole) = both(wire, &reply);
        prop_assert_eq!(streamed, whole);
    }

    /// Every form of every wire breaks exactly where it was told.
    #[test]
    fn a_cut_after_some_byte_leaves_a_beginning_of_the_same_answer(
        wire in 0..4_usize,
        form in proptest::sample::select(vec![Form::Whole, Form::Events, Form::List]),
        reply in reply(),
        bytes_sent in 0..3000_usize,
    ) {
        let form = if form == Form::List && wire != 3 { Form::Events } else { form };
        let asked = asked(wire, form);
        let answer = |cut| asked.answer(&Reply { cut, ..reply.clone() }, &Ids::of(b"x"));
        let (all, cut) = (bytes(&answer(None)), answer(Some(Cut::Bytes(bytes_sent))));
        prop_assert_eq!(cut.last(), Some(&Chunk::Cut));
        let sent = bytes(&cut);
        prop_assert!(all.starts_with(&sent));
        prop_assert!(sent.len() <= bytes_sent && bytes_sent.min(all.len()) - sent.len() < 4);
    }
}

#[test]
fn a_cut_after_blocks_comes_between_them_on_every_wire() {
    let text = |text: &str| Step::Text(text.into());
    let steps = vec![text("first"), text("second"), text("third")];
    for wire in 0..4 {
        for (blocks, said) in [(0, vec![]), (1, vec!["first"]), (2, vec!["first", "second"])] {
            let reply =
                Reply { steps: steps.clone(), cut: Some(Cut::Blocks(blocks)), ..Reply::default() };
            let chunks = asked(wire, Form::Events).answer(&reply, &Ids::of(b"x"));
            assert_eq!(chunks.last(), Some(&Chunk::Cut), "{wire}");
            let sent = bytes(&chunks);
            let seen: Vec<&str> =
                ["first", "second", "third"].into_iter().filter(|it| sent.contains(it)).collect();
            assert_eq!(seen, said, "{wire} after {blocks}");
            let whole = bytes(&asked(wire, Form::Whole).answer(&reply, &Ids::of(b"x")));
            assert!(serde_json::from_str::<Value>(&whole).is_err(), "{wire}: {whole}");
        }
    }
}
