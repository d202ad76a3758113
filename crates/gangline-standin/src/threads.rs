//! Threads of the Messages wire: the field `thread`, by which a client sends only what is new.
//!
//! What was said so far is kept under the id of each reply; a request that goes on from one is made
//! whole before it is read. Beyond the bounds the oldest is forgotten, which clients are told in the
//! words upon which they begin anew.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use serde_json::{Map, Value, json};

use crate::reply::HttpError;

#[cfg(test)]
mod tests;

/// So many replies can be gone on from.
const REPLIES_MAX: usize = 1000;
/// And so many bytes of requests before them.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// What was said, by the id of the reply that ended it.
#[derive(Debug, Default)]
pub(crate) struct Threads(Mutex<VecDeque<Said>>);

#[derive(Debug)]
struct Said {
    reply: String,
    messages: Vec<Value>,
    bytes: usize,
}

/// A request that belongs to a thread, made whole.
#[derive(Debug)]
pub(crate) struct Whole {
    /// The request, without `thread`.
    pub(crate) body: Vec<u8>,
    messages: Vec<Value>,
}

impl Threads {
    /// Makes a request whole; `None` if it belongs to no thread.
    pub(crate) fn whole(&self, body: &[u8]) -> Result<Option<Whole>, Box<HttpError>> {
        // What is no object is refused where requests are read.
        let Ok(mut fields) = serde_json::from_slice::<Map<String, Value>>(body) else {
            return Ok(None);
        };
        let Some(thread) = fields.remove("thread").filter(|thread| !thread.is_null()) else {
            return Ok(None);
        };
        let mut messages = match thread.get("type").and_then(Value::as_str) {
            Some("create") => Vec::new(),
            Some("continue") => {
                let Some(reply) = thread.get("previous_message_id").and_then(Value::as_str) else {
                    let text = "thread.continue.previous_message_id: Field required";
                    return Err(HttpError::new(400, text).into());
                };
                self.so_far(reply).ok_or_else(|| unknown(reply))?
            }
            Some(_) | None => {
                let text = "thread: Input tag must be one of 'create', 'continue'";
                return Err(HttpError::new(400, text).into());
            }
        };
        if let Some(new) = fields.get("messages").and_then(Value::as_array) {
            messages.extend(new.iter().cloned());
            fields.insert("messages".to_owned(), Value::Array(messages.clone()));
        }
        Ok(Some(Whole { body: Value::Object(fields).to_string().into_bytes(), messages }))
    }

    fn so_far(&self, reply: &str) -> Option<Vec<Value>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().rev().find(|said| said.reply == reply).map(|said| said.messages.clone())
    }

    /// Keeps a thread up to this reply.
    pub(crate) fn keep(&self, whole: Whole, reply: String, content: Vec<Value>) {
        let Whole { body, mut messages } = whole;
        if !content.is_empty() {
            messages.push(json!({"role": "assistant", "content": content}));
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(Said { reply, messages, bytes: body.len() });
        let mut bytes: usize = kept.iter().map(|said| said.bytes).sum();
        while kept.len() > REPLIES_MAX || bytes > BYTES_MAX {
            let Some(oldest) = kept.pop_front() else { break };
            bytes -= oldest.bytes;
        }
    }
}

/// Refuses a reply that is not kept, in the form upon which clients send everything again.
fn unknown(reply: &str) -> Box<HttpError> {
    let message = format!("thread: no reply of the id {reply} is kept");
    let error = json!({
        "type": "not_found_error",
        "message": message,
        "details": {"error_code": "thread_not_found"},
    });
    let body = json!({"type": "error", "error": error}).to_string();
    Box::new(HttpError { body: Some(body), ..HttpError::new(404, message) })
}
