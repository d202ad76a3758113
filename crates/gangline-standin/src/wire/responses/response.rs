//! Responses answers: the event stream, and the whole response.

use serde_json::{Value, json};

use super::{events::Sequence, item::Item, request::Asked};
use crate::{
    reply::{HttpError, Reply, Stop},
    wire::{
        Chunk, Form, Ids,
        body::{self, At, Block},
        figures::{CREATED, Counts},
        openai,
    },
};

/// Returns the answer in the form that is wanted.
pub(crate) fn answer(asked: &Asked, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    match asked.form {
        Form::Whole => body::whole(reply, ended(asked, reply, ids)),
        Form::Events | Form::List => stream(asked, reply, ids),
    }
}

fn stream(asked: &Asked, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    let mut sequence = Sequence::default();
    let begun = json!({ "response": frame(asked, ids, "in_progress") });
    let begin = vec![
        sequence.event("response.created", begun.clone()),
        sequence.event("response.in_progress", begun),
    ];
    let mut events = Vec::new();
    for (at, block) in body::blocks(reply) {
        events.push(sequence.item(&Item::of(asked, ids, at, block), at.block));
    }
    let mut events = events.into_iter();
    let block =
        |out: &mut Vec<Chunk>, _: At, _: Block<'_>| out.extend(events.next().unwrap_or_default());
    body::stream(reply, begin, block, |out| {
        let response = match &reply.fault {
            Some(fault) => failed(asked, ids, fault),
            None => ended(asked, reply, ids),
        };
        let kind = format!("response.{}", response["status"].as_str().unwrap_or("completed"));
        out.push(sequence.event(&kind, json!({ "response": response })));
    })
}

/// Returns the response as it is in the end.
fn ended(asked: &Asked, reply: &Reply, ids: &Ids) -> Value {
    let (status, reason) = match reply.stop() {
        Stop::End | Stop::Tools | Stop::Paused => ("completed", None),
        Stop::Length => ("incomplete", Some("max_output_tokens")),
        Stop::Refused => ("incomplete", Some("content_filter")),
        Stop::Other(reason) => ("incomplete", Some(reason)),
    };
    let mut response = frame(asked, ids, status);
    response["incomplete_details"] =
        reason.map_or(Value::Null, |reason| json!({ "reason": reason }));
    // Codex asks again in the same turn when it reads this; others pass it over.
    if reply.stop() == Stop::Paused {
        response["end_turn"] = false.into();
    }
    let items = body::blocks(reply).map(|(at, block)| Item::of(asked, ids, at, block).done);
    response["output"] = items.collect();
    response["usage"] = usage(asked, reply);
    response
}

/// Returns the response that an error ended.
fn failed(asked: &Asked, ids: &Ids, fault: &HttpError) -> Value {
    let error = openai::error_object(fault);
    let mut response = frame(asked, ids, "failed");
    response["error"] = json!({ "code": error["code"], "message": error["message"] });
    response
}

/// Returns a response without output.
fn frame(asked: &Asked, ids: &Ids, status: &str) -> Value {
    json!({
        "id": ids.one("resp_"),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": asked.conversation.model,
        "output": [],
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": { "effort": null, "summary": null },
        "store": false,
        "temperature": 1.0,
        "text": { "format": { "type": "text" } },
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": null,
        "user": null,
    })
}

fn usage(asked: &Asked, reply: &Reply) -> Value {
    let counts = Counts::of(&asked.conversation, reply);
    json!({
        "input_tokens": counts.read(),
        "input_tokens_details": {
            "cached_tokens": counts.cache_read,
            "cache_write_tokens": counts.cache_written,
        },
        "output_tokens": counts.output,
        "output_tokens_details": { "reasoning_tokens": counts.thinking },
        "total_tokens": counts.total(),
    })
}

/// Returns the refusal of a prompt that is too long.
pub(crate) fn overflow() -> HttpError {
    HttpError {
        code: Some("context_length_exceeded".to_owned()),
        param: Some("input".to_owned()),
        ..HttpError::new(
            400,
            "Your input exceeds the context window of this model. Please adjust your input and try \
             again.",
        )
    }
}
