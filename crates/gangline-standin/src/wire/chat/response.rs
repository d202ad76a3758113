//! Chat Completions answers: the chunks of a stream, and the whole completion.

use serde_json::{Value, json};

use super::request::{Asked, Usage};
use crate::{
    reply::{HttpError, Reply, Stop},
    wire::{
        Chunk, Form, Ids, WINDOW,
        body::{self, At, Block, input_pieces, input_text, json_text, text_pieces},
        figures::{CREATED, Counts},
        openai,
    },
};

/// Returns the answer in the form that is wanted.
pub(crate) fn answer(asked: &Asked, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    match asked.form {
        Form::Whole => completion(asked, reply, ids),
        Form::Events | Form::List => stream(asked, reply, ids),
    }
}

/// Returns the whole completion. Its texts are one text: this wire has no blocks.
fn completion(asked: &Asked, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    let mut spoke = false;
    for (at, block) in body::blocks(reply) {
        match block {
            Block::Text(said) => {
                spoke = true;
                text.push_str(said);
            }
            Block::Thinking(thought) => thinking.push_str(thought),
            Block::ToolUse { name, input } => {
                calls.push(call(asked, ids, at, name, &input_text(input)));
            }
        }
    }
    let content = if spoke || calls.is_empty() { json!(text) } else { Value::Null };
    let mut message = json!({
        "role": "assistant", "content": content, "refusal": null, "annotations": [],
    });
    if !thinking.is_empty() {
        message["reasoning_content"] = thinking.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let mut object = frame(asked, ids, "chat.completion");
    object["choices"] = json!([{
        "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(reply),
    }]);
    object["usage"] = usage(asked, reply);
    body::whole(reply, object)
}

fn call(asked: &Asked, ids: &Ids, at: At, name: &str, input: &str) -> Value {
    let id = ids.of_many("call_", at.step);
    match asked.freeform.contains(name) {
        true => json!({
            "id": id, "type": "custom", "custom": { "name": name, "input": input },
        }),
        false => json!({
            "id": id, "type": "function", "function": { "name": name, "arguments": input },
        }),
    }
}

/// Returns the answer as server-sent events: chunks, and `[DONE]`.
fn stream(asked: &Asked, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    let chunk = |choices: Value, used: Value| {
        let mut object = frame(asked, ids, "chat.completion.chunk");
        object["choices"] = choices;
        if asked.usage == Usage::Included {
            object["usage"] = used;
        }
        data(object)
    };
    let delta = |delta: Value| {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": null });
        chunk(json!([choice]), Value::Null)
    };
    let mut calls = 0;
    let begin = vec![delta(json!({ "role": "assistant", "content": "" }))];
    let block = |out: &mut Vec<Chunk>, at: At, block: Block<'_>| match block {
        Block::Text(text) => {
            out.extend(text_pieces(text).map(|piece| delta(json!({ "content": piece }))));
        }
        Block::Thinking(text) => {
            let piece = |piece| delta(json!({ "reasoning_content": piece }));
            out.extend(text_pieces(text).map(piece));
        }
        Block::ToolUse { name, input } => {
            let deltas = call_deltas(call(asked, ids, at, name, ""), &input_text(input), calls);
            out.extend(deltas.into_iter().map(|call| delta(json!({ "tool_calls": [call] }))));
            calls += 1;
        }
    };
    body::stream(reply, begin, block, |out| {
        if let Some(fault) = &reply.fault {
            out.push(data(json!({ "error": openai::error_object(fault) })));
            return;
        }
        let reason = finish_reason(reply);
        let choice = json!({ "index": 0, "delta": {}, "logprobs": null, "finish_reason": reason });
        out.push(chunk(json!([choice]), Value::Null));
        if asked.usage == Usage::Included {
            out.push(chunk(json!([]), usage(asked, reply)));
        }
        out.push(Chunk::Bytes("data: [DONE]\n\n".to_owned()));
    })
}

/// Returns the deltas of one call: first the call without input, then the input in pieces.
fn call_deltas(mut call: Value, input: &str, index: usize) -> Vec<Value> {
    let (kind, field) = match call.get("custom") {
        Some(_) => ("custom", "input"),
        None => ("function", "arguments"),
    };
    call["index"] = index.into();
    let piece = |piece: &str| json!({ "index": index, kind: { field: piece } });
    [call].into_iter().chain(input_pieces(input).map(piece)).collect()
}

/// Returns what the completion and each chunk have in common.
fn frame(asked: &Asked, ids: &Ids, object: &str) -> Value {
    json!({
        "id": ids.one("chatcmpl-"),
        "object": object,
        "created": CREATED,
        "model": asked.conversation.model,
        "service_tier": "default",
        "system_fingerprint": "fp_standin",
    })
}

fn data(object: Value) -> Chunk {
    Chunk::Bytes(format!("data: {}\n\n", json_text(object)))
}

fn finish_reason(reply: &Reply) -> &str {
    match reply.stop() {
        Stop::End | Stop::Paused => "stop",
        Stop::Tools => "tool_calls",
        Stop::Length => "length",
        Stop::Refused => "content_filter",
        Stop::Other(reason) => reason,
    }
}

fn usage(asked: &Asked, reply: &Reply) -> Value {
    let counts = Counts::of(&asked.conversation, reply);
    json!({
        "prompt_tokens": counts.read(),
        "completion_tokens": counts.output,
        "total_tokens": counts.total(),
        "prompt_tokens_details": { "cached_tokens": counts.cache_read, "audio_tokens": 0 },
        "completion_tokens_details": {
            "reasoning_tokens": counts.thinking,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

/// Returns the refusal of a prompt that is too long.
pub(crate) fn overflow(tokens: u64) -> HttpError {
    HttpError {
        code: Some("context_length_exceeded".to_owned()),
        param: Some("messages".to_owned()),
        ..HttpError::new(
            400,
            format!(
                "This model's maximum context length is {WINDOW} tokens. However, your messages \
                 resulted in {tokens} tokens. Please reduce the length of the messages."
            ),
        )
    }
}
