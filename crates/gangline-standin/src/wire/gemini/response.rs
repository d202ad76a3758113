//! Gemini answers: the chunks of a stream, the whole response, counts, errors, models.

use std::time::Duration;

use serde_json::{Value, json};

use super::request::Asked;
use crate::{
    reply::{HttpError, Reply, Stop},
    wire::{
        Chunk, Form, Ids, WINDOW,
        body::{self, At, Block, json_text, text_pieces},
        figures::Counts,
    },
};

/// What goes with a call, and has to come back with it: "stand-in" in Base64.
const SIGNATURE: &str = "c3RhbmQtaW4=";

/// An error in a stream is no event but a bare object, and clients know it by its coming alone.
const APART: Duration = Duration::from_millis(20);

/// Returns the answer in the form that is wanted.
pub(crate) fn answer(asked: &Asked, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    match asked.form {
        Form::Whole => whole(asked, reply, ids),
        Form::Events => stream(asked, reply, ids, event),
        Form::List => list(stream(asked, reply, ids, bare)),
    }
}

fn bare(object: Value) -> Chunk {
    Chunk::Bytes(json_text(object))
}

fn event(object: Value) -> Chunk {
    Chunk::Bytes(format!("data: {}\r\n\r\n", json_text(object)))
}

/// Puts the objects of a stream into one list.
fn list(chunks: Vec<Chunk>) -> Vec<Chunk> {
    let mut out = Vec::new();
    let mut before = "[";
    let mut broken = false;
    for chunk in chunks {
        match chunk {
            Chunk::Bytes(text) => {
                out.push(Chunk::Bytes(format!("{before}{text}")));
                before = ",\r\n";
            }
            Chunk::Cut => {
                broken = true;
                out.push(Chunk::Cut);
            }
            Chunk::Pause(pause) => out.push(Chunk::Pause(pause)),
        }
    }
    if !broken {
        out.push(Chunk::Bytes("]".to_owned()));
    }
    out
}

fn whole(asked: &Asked, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
    let parts: Vec<Value> = body::blocks(reply)
        .map(|(at, block)| match block {
            Block::Text(text) => json!({ "text": text }),
            Block::Thinking(text) => json!({ "text": text, "thought": true }),
            Block::ToolUse { name, input } => call(ids, at, name, input),
        })
        .collect();
    body::whole(reply, last(asked, reply, ids, parts))
}

/// Returns the answer in chunks. The last part comes with the end, as the real interface has it.
fn stream(asked: &Asked, reply: &Reply, ids: &Ids, form: fn(Value) -> Chunk) -> Vec<Chunk> {
    let chunk = |part: Value| {
        let mut object = frame(asked, reply, ids);
        object["candidates"] = json!([{
            "content": { "parts": [part], "role": "model" }, "index": 0,
        }]);
        form(object)
    };
    let block = |out: &mut Vec<Chunk>, at: At, block: Block<'_>| match block {
        Block::Text(text) => {
            out.extend(text_pieces(text).map(|piece| chunk(json!({ "text": piece }))));
        }
        Block::Thinking(text) => {
            let piece = |piece| chunk(json!({ "text": piece, "thought": true }));
            out.extend(text_pieces(text).map(piece));
        }
        Block::ToolUse { name, input } => out.push(chunk(call(ids, at, name, input))),
    };
    body::stream(reply, Vec::new(), block, |out| match &reply.fault {
        Some(fault) => out.extend([Chunk::Pause(APART), bare(error_object(fault))]),
        None => out.push(form(last(asked, reply, ids, vec![json!({ "text": "" })]))),
    })
}

fn call(ids: &Ids, at: At, name: &str, input: &Value) -> Value {
    // Arguments are an object here, and nothing else.
    let args = match input {
        Value::Object(_) => input.clone(),
        other => json!({ "input": other }),
    };
    let id = ids.of_many("call_", at.step);
    json!({
        "functionCall": { "id": id, "name": name, "args": args },
        "thoughtSignature": SIGNATURE,
    })
}

/// Returns the object that ends an answer; one that is refused without a word has no candidate.
fn last(asked: &Asked, reply: &Reply, ids: &Ids, parts: Vec<Value>) -> Value {
    let mut object = frame(asked, reply, ids);
    let reason = match reply.stop() {
        Stop::Refused if body::blocks(reply).next().is_none() => {
            object["promptFeedback"] = json!({ "blockReason": "SAFETY", "safetyRatings": [] });
            return object;
        }
        Stop::End | Stop::Tools | Stop::Paused => "STOP",
        Stop::Length => "MAX_TOKENS",
        Stop::Refused => "SAFETY",
        Stop::Other(reason) => reason,
    };
    object["candidates"] = json!([{
        "content": { "parts": parts, "role": "model" }, "finishReason": reason, "index": 0,
    }]);
    object
}

/// Returns what all objects of an answer have in common.
fn frame(asked: &Asked, reply: &Reply, ids: &Ids) -> Value {
    json!({
        "modelVersion": asked.conversation.model,
        "responseId": ids.one(""),
        "usageMetadata": usage(asked, reply),
    })
}

fn usage(asked: &Asked, reply: &Reply) -> Value {
    let counts = Counts::of(&asked.conversation, reply);
    let read = counts.read();
    let mut usage = json!({
        "promptTokenCount": read,
        "candidatesTokenCount": counts.output - counts.thinking,
        "totalTokenCount": counts.total(),
        "promptTokensDetails": [{ "modality": "TEXT", "tokenCount": read }],
    });
    if counts.thinking > 0 {
        usage["thoughtsTokenCount"] = counts.thinking.into();
    }
    if counts.cache_read > 0 {
        usage["cachedContentTokenCount"] = counts.cache_read.into();
    }
    usage
}

/// Returns the refusal of a prompt that is too long.
pub(crate) fn overflow(tokens: u64) -> HttpError {
    HttpError::new(
        400,
        format!(
            "The input token count ({tokens}) exceeds the maximum number of tokens allowed \
             ({WINDOW})."
        ),
    )
}

/// Status and sentence of an error for which the script says nothing else.
fn usual(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => ("INVALID_ARGUMENT", "Request contains an invalid argument."),
        401 => ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
        403 => ("PERMISSION_DENIED", "The caller does not have permission"),
        404 => ("NOT_FOUND", "Requested entity was not found."),
        429 => ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
        501 => ("UNIMPLEMENTED", "This is not implemented."),
        503 | 529 => ("UNAVAILABLE", "The model is overloaded. Please try again later."),
        504 => ("DEADLINE_EXCEEDED", "The request timed out. Please try again."),
        500..=599 => ("INTERNAL", "An internal error has occurred. Please retry."),
        _ => ("FAILED_PRECONDITION", "the stand-in was told to refuse this"),
    }
}

/// Returns the body of a refusal.
pub(crate) fn error_body(error: &HttpError) -> String {
    json_text(error_object(error))
}

/// Returns the error of a refusal, or of a stream. A code is the reason in the details, and
/// `retry-after` is a delay there.
fn error_object(error: &HttpError) -> Value {
    let (status, message) = usual(error.status);
    let mut details = Vec::new();
    if let Some(reason) = &error.code {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": reason,
            "domain": "googleapis.com",
        }));
    }
    let retry = error.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
    if let Some((_, seconds)) = retry {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{seconds}s"),
        }));
    }
    let mut object = json!({
        "code": error.status,
        "message": if error.message.is_empty() { message } else { &error.message },
        "status": error.kind.as_deref().unwrap_or(status),
    });
    if !details.is_empty() {
        object["details"] = details.into();
    }
    json!({ "error": object })
}

/// Returns the list of models: the one that is none.
pub(crate) fn models() -> Value {
    json!({ "models": [model("stand-in")] })
}

/// Returns one model.
pub(crate) fn model(id: &str) -> Value {
    json!({
        "name": format!("models/{id}"),
        "version": "1",
        "displayName": "Stand-in (no model behind it)",
        "inputTokenLimit": WINDOW,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    })
}
