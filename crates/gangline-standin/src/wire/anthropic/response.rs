//! Messages answers: the event stream, the plain object and the error form.

use serde_json::{Value, json};

use crate::{
    reply::{Conversation, Cut, HttpError, Reply, Step, tokens},
    wire::{Chunk, cut_after},
};

/// How many characters of text one delta carries.
const TEXT_DELTA: usize = 16;
/// How many characters of a tool's input one delta carries.
const JSON_DELTA: usize = 24;

/// Ids of one answer. They follow from the request, so the same request gets the same ids and a
/// conversation never sees one twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ids {
    digest: u64,
}

impl Ids {
    pub(crate) fn of(body: &[u8]) -> Self {
        // FNV-1a: stable over versions, which the standard hasher does not promise.
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Self { digest: body.iter().fold(0xcbf2_9ce4_8422_2325, step) }
    }

    /// Returns the id of the request, for the `request-id` header.
    pub(crate) fn request(&self) -> String {
        format!("req_standin{:016x}", self.digest)
    }

    fn message(&self) -> String {
        format!("msg_standin{:016x}", self.digest)
    }

    fn call(&self, number: usize) -> String {
        format!("toolu_standin{:016x}_{number}", self.digest)
    }
}

/// A block as the wire has it.
enum Block<'a> {
    Text(&'a str),
    Thinking { text: &'a str, signature: String },
    ToolUse { id: String, name: &'a str, input: &'a Value },
}

fn block<'a>(step: &'a Step, ids: &Ids, number: usize) -> Option<Block<'a>> {
    match step {
        Step::Text(text) => Some(Block::Text(text)),
        Step::Thinking(text) => {
            Some(Block::Thinking { text, signature: format!("standin{:016x}", ids.digest) })
        }
        Step::ToolUse { name, input } => Some(Block::ToolUse { id: ids.call(number), name, input }),
        Step::Delay(_) => None,
    }
}

/// Returns the answer as one JSON object.
pub(crate) fn message(conversation: &Conversation, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    let mut content = Vec::new();
    let mut chunks = Vec::new();
    for (number, step) in reply.steps.iter().enumerate() {
        match block(step, ids, number) {
            Some(Block::Text(text)) => content.push(json!({ "type": "text", "text": text })),
            Some(Block::Thinking { text, signature }) => content
                .push(json!({ "type": "thinking", "thinking": text, "signature": signature })),
            Some(Block::ToolUse { id, name, input }) => {
                content.push(json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
            }
            None => {}
        }
        if let Step::Delay(delay) = step {
            chunks.push(Chunk::Pause(*delay));
        }
    }
    let body = json!({
        "id": ids.message(),
        "type": "message",
        "role": "assistant",
        "model": conversation.model,
        "content": content,
        "stop_reason": stop_reason(reply),
        "stop_sequence": null,
        "usage": usage(conversation, reply, output_tokens(reply)),
    });
    let body = body.to_string();
    let half = body.len() / 2;
    chunks.push(Chunk::Bytes(body));
    match reply.cut {
        None => chunks,
        Some(Cut::Bytes(bytes)) => cut_after(chunks, bytes),
        // There are no blocks to count in one object.
        Some(Cut::Blocks(_)) => cut_after(chunks, half),
    }
}

/// Returns the answer as server-sent events.
pub(crate) fn stream(conversation: &Conversation, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    let mut events = vec![event(
        "message_start",
        json!({ "type": "message_start", "message": {
            "id": ids.message(),
            "type": "message",
            "role": "assistant",
            "model": conversation.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": usage(conversation, reply, 1),
        }}),
    )];
    let mut index = 0;
    for (number, step) in reply.steps.iter().enumerate() {
        if reply.cut == Some(Cut::Blocks(index)) {
            break;
        }
        match block(step, ids, number) {
            Some(block) => {
                block_events(&mut events, index, &block);
                index += 1;
            }
            None => {
                if let Step::Delay(delay) = step {
                    events.push(Chunk::Pause(*delay));
                }
            }
        }
    }
    if let Some(Cut::Blocks(_)) = reply.cut {
        events.push(Chunk::Cut);
        return events;
    }
    let end = json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop_reason(reply), "stop_sequence": null },
        "usage": { "output_tokens": reply.usage.output_tokens.unwrap_or(output_tokens(reply)) },
    });
    events.push(event("message_delta", end));
    events.push(event("message_stop", json!({ "type": "message_stop" })));
    match reply.cut {
        Some(Cut::Bytes(bytes)) => cut_after(events, bytes),
        Some(Cut::Blocks(_)) | None => events,
    }
}

fn block_events(events: &mut Vec<Chunk>, index: usize, block: &Block<'_>) {
    let (start, deltas) = match block {
        Block::Text(text) => (
            json!({ "type": "text", "text": "" }),
            pieces(text, TEXT_DELTA)
                .map(|piece| json!({ "type": "text_delta", "text": piece }))
                .collect::<Vec<_>>(),
        ),
        Block::Thinking { text, signature } => (
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            pieces(text, TEXT_DELTA)
                .map(|piece| json!({ "type": "thinking_delta", "thinking": piece }))
                .chain([json!({ "type": "signature_delta", "signature": signature })])
                .collect(),
        ),
        Block::ToolUse { id, name, input } => {
            let text = input.to_string();
            let deltas = [""].into_iter().chain(pieces(&text, JSON_DELTA));
            (
                json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
                deltas
                    .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }))
                    .collect(),
            )
        }
    };
    let named = |kind: &str, field: &str, value: Value| {
        let mut body = json!({ "type": kind, "index": index });
        if !value.is_null() {
            body[field] = value;
        }
        event(kind, body)
    };
    events.push(named("content_block_start", "content_block", start));
    if index == 0 {
        events.push(ping());
    }
    events.extend(deltas.into_iter().map(|delta| named("content_block_delta", "delta", delta)));
    events.push(named("content_block_stop", "", Value::Null));
}

/// Returns the event that keeps a silent stream alive.
pub(crate) fn ping() -> Chunk {
    event("ping", json!({ "type": "ping" }))
}

fn event(name: &str, mut data: Value) -> Chunk {
    data.sort_all_objects(); // the same bytes, however serde_json was built
    Chunk::Bytes(format!("event: {name}\ndata: {data}\n\n"))
}

/// Splits text after every `size` characters.
fn pieces(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn stop_reason(reply: &Reply) -> &str {
    let calls = reply.steps.iter().any(|step| matches!(step, Step::ToolUse { .. }));
    match &reply.stop_reason {
        Some(reason) => reason,
        None if calls => "tool_use",
        None => "end_turn",
    }
}

fn output_tokens(reply: &Reply) -> u64 {
    let length = |step: &Step| match step {
        Step::Text(text) | Step::Thinking(text) => text.len(),
        Step::ToolUse { name, input } => name.len() + input.to_string().len(),
        Step::Delay(_) => 0,
    };
    tokens(reply.steps.iter().map(length).sum()).max(1)
}

fn usage(conversation: &Conversation, reply: &Reply, output: u64) -> Value {
    let told = reply.usage;
    json!({
        "input_tokens": told.input_tokens.unwrap_or(conversation.input_tokens),
        "cache_creation_input_tokens": told.cache_creation_input_tokens.unwrap_or(0),
        "cache_read_input_tokens": told.cache_read_input_tokens.unwrap_or(0),
        "output_tokens": told.output_tokens.unwrap_or(output),
    })
}

/// Returns the body of a refusal.
pub(crate) fn error_body(error: &HttpError, request_id: &str) -> String {
    if let Some(body) = &error.body {
        return body.clone();
    }
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
    .to_string()
}

/// Returns the list of models: the one that is none.
pub(crate) fn models() -> Value {
    json!({
        "data": [{
            "type": "model",
            "id": "stand-in",
            "display_name": "Stand-in (no model behind it)",
            "created_at": "2026-01-01T00:00:00Z",
        }],
        "has_more": false,
        "first_id": "stand-in",
        "last_id": "stand-in",
    })
}
