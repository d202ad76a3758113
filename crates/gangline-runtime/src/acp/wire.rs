//! Lines of the wire: JSON-RPC 2.0, one message a line, in both directions.
//!
//! Only the frame is read here; what a message says is in [`super::update`] and
//! [`super::session`].

use gangline_os::json::{self, Edges};
use serde_json::{Value, json};

use crate::program::protocol::Odd;

/// One line of the program.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// The answer to our request of that number.
    Answer { id: u64, outcome: Result<Value, Refusal> },
    /// A request to us; its id is repeated in the answer.
    Request { id: Value, method: String, params: Value },
    /// Something that is told and wants no answer.
    Notification { method: String, params: Value },
}

/// An error in place of an answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Refusal {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Value,
}

/// Where the data of an error has words for people, the most telling first.
const TELLING: [&str; 4] = ["details", "message", "reason", "error"];
/// How deep such words may lie: an error may hold the provider's own.
const DEPTH: u32 = 3;

impl Refusal {
    /// Returns what it says: its message, and what its data adds to that. Many programs say
    /// "Internal error", and the reason is beside it.
    pub(super) fn words(&self) -> String {
        let mut found = Vec::new();
        texts_in(&self.data, DEPTH, &mut found);
        let mut words = self.message.clone();
        for text in found {
            if !words.contains(text) {
                let between = if words.is_empty() { "" } else { ": " };
                words = format!("{words}{between}{text}");
            }
        }
        words
    }
}

/// Collects the words for people in the data of an error.
fn texts_in<'a>(data: &'a Value, depth: u32, found: &mut Vec<&'a str>) {
    match data {
        Value::String(text) if !text.trim().is_empty() => found.push(text.trim()),
        Value::Object(fields) if depth > 0 => {
            for field in TELLING.iter().filter_map(|name| fields.get(*name)) {
                texts_in(field, depth - 1, found);
            }
        }
        _ => {}
    }
}

/// The parameters are not what the method needs.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// A message is not JSON.
pub(super) const PARSE_ERROR: i64 = -32700;
/// The program wants a login first.
pub(super) const AUTH_REQUIRED: i64 = -32000;

/// Reads one line, in which half a character becomes U+FFFD. Returns the halves at the edges of its
/// texts beside it.
pub(super) fn read(line: &str) -> (Result<Line, Odd>, Edges) {
    json::read(line, decode)
}

/// Reads one line. Fields beyond the frame's are left in the parameters and results.
///
/// # Errors
/// [`Odd::NoMessage`] when it is not JSON, or not a message of JSON-RPC.
pub(super) fn decode(line: &str) -> Result<Line, Odd> {
    let Ok(Value::Object(mut message)) = serde_json::from_str(line) else {
        return Err(Odd::NoMessage);
    };
    let id = message.remove("id").filter(|id| !id.is_null());
    let params = message.remove("params").unwrap_or(Value::Null);
    match (message.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Ok(Line::Request { id, method, params }),
        (Some(Value::String(method)), None) => Ok(Line::Notification { method, params }),
        (None, Some(id)) => {
            let id = id.as_u64().ok_or(Odd::NoMessage)?;
            let outcome = match (message.remove("result"), message.remove("error")) {
                (_, Some(error)) if !error.is_null() => Err(refusal(&error)),
                (result, _) => Ok(result.unwrap_or(Value::Null)),
            };
            Ok(Line::Answer { id, outcome })
        }
        _ => Err(Odd::NoMessage),
    }
}

fn refusal(error: &Value) -> Refusal {
    let message = error["message"].as_str().unwrap_or_default().to_owned();
    let code = error["code"].as_i64().unwrap_or_default();
    Refusal { code, message, data: error["data"].clone() }
}

/// A request of ours.
pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// Something that we tell.
pub(super) fn notification(method: &str, params: &Value) -> String {
    line(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// The answer to a request of the program.
pub(super) fn answer(id: &Value, result: &Value) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// The answer to a request that we do not serve.
pub(super) fn not_served(id: &Value, method: &str) -> String {
    let message = format!("this client does not serve {method}");
    let error = json!({"code": -32601, "message": message});
    line(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

/// The answer to a request that cannot be read.
pub(super) fn unreadable(id: &Value, why: &str) -> String {
    let message = format!("Gangline cannot read this request: {why}");
    let error = json!({"code": INVALID_PARAMS, "message": message});
    line(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

fn line(message: &Value) -> String {
    let mut line = message.to_string();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests;
