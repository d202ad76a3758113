//! The protocol, pure: a message in, what is to be done about it out. Over whatever it comes: an
//! adapter whose program serves such messages on its own pipe takes them here too.
//!
//! What is spoken is the life cycle that begins with `initialize`. A client that tries the newer
//! one first (`server/discover`) is told that there is no such method, and falls back.

use std::{
    fmt::Display,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::{Map, Value, json};

use crate::{SERVER_KEY, ToolSpec};

#[cfg(test)]
mod tests;

/// Versions of the protocol that are spoken; the last is offered to whoever asks for another.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// Where Claude Code puts the model's own id of a call.
const TOOL_USE_ID: &str = "/_meta/claudecode~1toolUseId";
/// The method that begins a session.
const INITIALIZE: &str = "initialize";
/// The method that asks whether the server is there.
const PING: &str = "ping";
/// The method that asks which tools there are.
pub const LIST: &str = "tools/list";
/// The method that calls a tool.
pub const CALL: &str = "tools/call";
/// The method that a client of the newer life cycle tries first.
pub const DISCOVER: &str = "server/discover";
/// The notification that takes a request back.
const CANCELLED: &str = "notifications/cancelled";
/// Longest id of a client that is used as it is, in bytes.
const ID_MAX: usize = 128;

/// The message is no JSON.
pub const PARSE_ERROR: i32 = -32_700;
/// The message is no request.
pub const INVALID_REQUEST: i32 = -32_600;
const NO_SUCH_METHOD: i32 = -32_601;
const INVALID_PARAMS: i32 = -32_602;
const INTERNAL_ERROR: i32 = -32_603;

/// What is to be done about a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Nothing: it was a notification, or an answer to something that was not asked.
    Nothing,
    /// Answered at once.
    Now(Value),
    /// The session begins: answered at once as well.
    Begin(Value),
    /// A tool has to run first.
    Call(Call),
    /// The client takes back its request of this id.
    TakenBack(Value),
}

/// A tool call, still without its turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The id of the request that waits for the answer.
    pub rpc: Value,
    /// What tells this call from others: the same for a call that is sent again.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, an object.
    pub input: Value,
}

/// Reads one message of the session `session`.
pub fn reply(message: &Value, tools: &[ToolSpec], session: &str) -> Reply {
    let Some(fields) = message.as_object() else {
        return Reply::Now(error(&Value::Null, INVALID_REQUEST, "one message at a time, please"));
    };
    let Some(method) = fields.get("method") else {
        let answers = fields.contains_key("result") || fields.contains_key("error");
        return match answers {
            true => Reply::Nothing,
            false => Reply::Now(error(&Value::Null, INVALID_REQUEST, "this is not a request")),
        };
    };
    let Some(rpc) = fields.get("id") else { return noticed(method, fields.get("params")) };
    let (Some(method), true) = (method.as_str(), rpc.is_string() || rpc.is_number()) else {
        return Reply::Now(error(&Value::Null, INVALID_REQUEST, "this is not a request"));
    };
    let params = fields.get("params").unwrap_or(&Value::Null);
    match method {
        INITIALIZE => Reply::Begin(result(rpc, begun(params))),
        PING => Reply::Now(result(rpc, json!({}))),
        LIST => Reply::Now(result(rpc, json!({"tools": listed(tools)}))),
        CALL => match call(rpc, params, tools, session) {
            Ok(call) => Reply::Call(call),
            Err(why) => Reply::Now(error(rpc, INVALID_PARAMS, why)),
        },
        _ => Reply::Now(error(rpc, NO_SUCH_METHOD, "this server has tools and nothing else")),
    }
}

/// Returns whether this version of the protocol is spoken.
pub fn speaks(version: &str) -> bool {
    VERSIONS.contains(&version)
}

/// Returns the answer to a client that goes by another version.
pub fn unspoken() -> Value {
    let text =
        format!("this version of the protocol is not spoken; these are: {}", VERSIONS.join(", "));
    error(&Value::Null, INVALID_REQUEST, &text)
}

/// Returns whether a message is of this method.
#[must_use]
pub fn is(method: &str, message: &Value) -> bool {
    message.get("method").and_then(Value::as_str) == Some(method)
}

/// Reads what wants no answer.
fn noticed(method: &Value, params: Option<&Value>) -> Reply {
    let request = params.and_then(|params| params.get("requestId"));
    match request.filter(|id| method == CANCELLED && (id.is_string() || id.is_number())) {
        Some(id) => Reply::TakenBack(id.clone()),
        None => Reply::Nothing,
    }
}

fn begun(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let version = asked.filter(|asked| VERSIONS.contains(asked)).unwrap_or(VERSIONS[3]);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": SERVER_KEY, "version": env!("CARGO_PKG_VERSION")},
    })
}

fn listed(tools: &[ToolSpec]) -> Vec<Value> {
    let listed = |tool: &ToolSpec| {
        let mut listed = json!({
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
        });
        if let Some(schema) = &tool.output_schema {
            listed["outputSchema"] = schema.clone();
        }
        listed
    };
    tools.iter().map(listed).collect()
}

fn call(
    rpc: &Value,
    params: &Value,
    tools: &[ToolSpec],
    session: &str,
) -> Result<Call, &'static str> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    if !tools.iter().any(|tool| tool.name == name) {
        return Err("there is no such tool");
    }
    let input = match params.get("arguments") {
        None | Some(Value::Null) => json!({}),
        Some(input) if input.is_object() => input.clone(),
        Some(_) => return Err("the arguments are no object"),
    };
    let given = params.pointer(TOOL_USE_ID).and_then(Value::as_str);
    let id = match given.filter(|id| !id.is_empty() && id.len() <= ID_MAX) {
        Some(id) => id.to_owned(),
        None => call_id(session, rpc, name, &input),
    };
    Ok(Call { rpc: rpc.clone(), id, name: name.to_owned(), input })
}

/// Returns the id of a call that the model gave none. A client numbers its requests anew in each
/// session, and a careless one gives the same number to all of them.
fn call_id(session: &str, rpc: &Value, name: &str, input: &Value) -> String {
    let mut hasher = DefaultHasher::new();
    (rpc.to_string(), name, input.to_string()).hash(&mut hasher);
    format!("{session}:{:016x}", hasher.finish())
}

/// Returns the answer to a call. A result that is a JSON object is structured content too.
pub fn called(rpc: &Value, outcome: &Result<String, String>) -> Value {
    let (text, failed) = match outcome {
        Ok(text) => (text, false),
        Err(text) => (text, true),
    };
    let mut answer = json!({"content": [{"type": "text", "text": text}], "isError": failed});
    let object = || serde_json::from_str::<Map<String, Value>>(text).ok();
    if let (false, Some(object)) = (failed, object()) {
        answer["structuredContent"] = object.into();
    }
    result(rpc, answer)
}

/// Returns the answer to a call that broke off.
pub fn broken(rpc: &Value) -> Value {
    error(rpc, INTERNAL_ERROR, "the call broke off; its effect may have happened")
}

/// Returns the answer to a message that is not JSON. `id` is its id as it stands there, if one can be
/// read: whoever waits for an answer knows it by that.
pub fn unreadable(id: Option<&str>, why: &dyn Display) -> Value {
    let id = id.and_then(|id| serde_json::from_str(id).ok()).unwrap_or_default();
    error(&id, PARSE_ERROR, &format!("this is not JSON: {why}"))
}

/// Returns the answer to what cannot be done.
pub fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

fn result(id: &Value, result: Value) -> Value {
    let mut answer = json!({"jsonrpc": "2.0", "id": id});
    answer["result"] = result;
    answer
}
