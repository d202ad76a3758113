//! Messages answers: the event stream, the plain object and the error form.

use serde_json::{Value, json};

use super::Asked;
use crate::{
    reply::{HttpError, Reply, Stop},
    wire::{
        Chunk, Form, Ids, WINDOW,
        body::{self, At, Block, event, input_pieces, text_pieces},
        figures::Counts,
    },
};

/// Returns the answer in the form that is wanted.
pub(crate) fn answer(asked: &Asked, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    match asked.form {
        Form::Whole => message(asked, reply, ids),
        Form::Events | Form::List => stream(asked, reply, ids),
    }
}

fn call_id(ids: &Ids, at: At) -> String {
    ids.of_many("toolu_", at.step)
}

/// Returns the answer as one JSON object.
fn message(asked: &Asked, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    let (id, content) = said(reply, ids);
    let counts = Counts::of(&asked.conversation, reply);
    let object = json!({
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": asked.conversation.model,
        "content": content,
        "stop_reason": stop_reason(reply),
        "stop_sequence": null,
        "usage": usage(&counts, counts.output),
    });
    body::whole(reply, object)
}

/// Returns an answer's id and its blocks, whole.
pub(crate) fn said(reply: &Reply, ids: &Ids) -> (String, Vec<Value>) {
    let content = body::blocks(reply)
        .map(|(at, block)| match block {
            Block::Text(text) => json!({ "type": "text", "text": text }),
            Block::Thinking(text) => {
                json!({ "type": "thinking", "thinking": text, "signature": ids.one("") })
            }
            Block::ToolUse { name, input } => {
                json!({ "type": "tool_use", "id": call_id(ids, at), "name": name, "input": input })
            }
        })
        .collect();
    (ids.one("msg_"), content)
}

/// Returns the answer as server-sent events.
fn stream(asked: &Asked, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    let counts = Counts::of(&asked.conversation, reply);
    let so_far = reply.usage.output_tokens.unwrap_or(1);
    let begin = event(
        "message_start",
        json!({ "type": "message_start", "message": {
            "id": ids.one("msg_"),
            "type": "message",
            "role": "assistant",
            "model": asked.conversation.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": usage(&counts, so_far),
        }}),
    );
    let block = |out: &mut Vec<Chunk>, at, block: Block<'_>| block_events(out, ids, at, block);
    body::stream(reply, vec![begin], block, |out| match &reply.fault {
        Some(fault) => out.push(event("error", error_object(fault, &ids.request()))),
        None => {
            let end = json!({
                "type": "message_delta",
                "delta": { "stop_reason": stop_reason(reply), "stop_sequence": null },
                "usage": { "output_tokens": counts.output },
            });
            out.push(event("message_delta", end));
            out.push(event("message_stop", json!({ "type": "message_stop" })));
        }
    })
}

fn block_events(out: &mut Vec<Chunk>, ids: &Ids, at: At, block: Block<'_>) {
    let (start, deltas) = match block {
        Block::Text(text) => (
            json!({ "type": "text", "text": "" }),
            text_pieces(text)
                .map(|piece| json!({ "type": "text_delta", "text": piece }))
                .collect::<Vec<_>>(),
        ),
        Block::Thinking(text) => (
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            text_pieces(text)
                .map(|piece| json!({ "type": "thinking_delta", "thinking": piece }))
                .chain([json!({ "type": "signature_delta", "signature": ids.one("") })])
                .collect(),
        ),
        Block::ToolUse { name, input } => {
            let text = input.to_string();
            let deltas = [""].into_iter().chain(input_pieces(&text));
            (
                json!({ "type": "tool_use", "id": call_id(ids, at), "name": name, "input": {} }),
                deltas
                    .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }))
                    .collect(),
            )
        }
    };
    let named = |kind: &str, field: &str, value: Value| {
        let mut body = json!({ "type": kind, "index": at.block });
        if !value.is_null() {
            body[field] = value;
        }
        event(kind, body)
    };
    out.push(named("content_block_start", "content_block", start));
    if at.block == 0 {
        out.push(ping());
    }
    out.extend(deltas.into_iter().map(|delta| named("content_block_delta", "delta", delta)));
    out.push(named("content_block_stop", "", Value::Null));
}

/// Returns the event that keeps a silent stream alive.
pub(crate) fn ping() -> Chunk {
    event("ping", json!({ "type": "ping" }))
}

fn stop_reason(reply: &Reply) -> &str {
    match (&reply.stop_reason, reply.stop()) {
        (Some(reason), _) => reason,
        (None, Stop::Tools) => "tool_use",
        (None, Stop::End | Stop::Length | Stop::Refused | Stop::Paused | Stop::Other(_)) => {
            "end_turn"
        }
    }
}

fn usage(counts: &Counts, output: u64) -> Value {
    json!({
        "input_tokens": counts.fresh,
        "cache_creation_input_tokens": counts.cache_written,
        "cache_read_input_tokens": counts.cache_read,
        "output_tokens": output,
    })
}

/// Returns the refusal of a prompt that is too long.
pub(crate) fn overflow(tokens: u64) -> HttpError {
    HttpError::new(400, format!("prompt is too long: {tokens} tokens > {WINDOW} maximum"))
}

/// Returns the body of a refusal.
pub(crate) fn error_body(error: &HttpError, request_id: &str) -> String {
    body::json_text(error_object(error, request_id))
}

fn error_object(error: &HttpError, request_id: &str) -> Value {
    let kind = error.kind.as_deref().unwrap_or(match error.status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500..=599 => "api_error",
        _ => "invalid_request_error",
    });
    let message = match error.message.as_str() {
        "" if error.status == 529 => "Overloaded",
        "" => "the stand-in was told to refuse this",
        message => message,
    };
    json!({
        "type": "error",
        "error": { "type": kind, "message": message },
        "request_id": request_id,
    })
}

/// Returns the list of models: the one that is none.
pub(crate) fn models() -> Value {
    json!({
        "data": [model("stand-in")],
        "has_more": false,
        "first_id": "stand-in",
        "last_id": "stand-in",
    })
}

/// Returns one model.
pub(crate) fn model(id: &str) -> Value {
    json!({
        "type": "model",
        "id": id,
        "display_name": "Stand-in (no model behind it)",
        "created_at": "2026-01-01T00:00:00Z",
    })
}
