//! The daemon's tools as a tool server that the program speaks to over its own pipe.

use serde_json::{Value, json};

use super::SERVER;
use crate::ToolSpec;

/// What is to be done about a message of the client.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// Answered at once.
    Now(Value),
    /// A tool has to run first.
    Call(Call),
}

/// A tool call, still without its turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    /// The program's control request that waits for the answer.
    pub(super) request: String,
    /// The id of the message within it.
    pub(super) rpc: Value,
    /// The model's id of the call.
    pub(super) id: String,
    /// The tool, by its plain name.
    pub(super) name: String,
    /// Its arguments.
    pub(super) input: Value,
}

/// Reads one message that came with the control request `request`.
pub(super) fn reply(request: &str, message: &Value, tools: &[ToolSpec]) -> Reply {
    let id = message.get("id").cloned();
    let params = message.get("params").unwrap_or(&Value::Null);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let Some(rpc) = id.filter(|id| !id.is_null()) else {
        // A notification; the pipe still wants an answer.
        return Reply::Now(result(&json!(0), &json!({})));
    };
    match message.get("method").and_then(Value::as_str).unwrap_or_default() {
        "initialize" => Reply::Now(result(
            &rpc,
            &json!({
                "protocolVersion": params.get("protocolVersion").unwrap_or(&json!("2025-11-25")),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": SERVER, "version": env!("CARGO_PKG_VERSION")},
            }),
        )),
        "ping" => Reply::Now(result(&rpc, &json!({}))),
        "tools/list" => Reply::Now(result(&rpc, &json!({"tools": listed(tools)}))),
        "tools/call" => {
            let name = params.get("name").and_then(text).unwrap_or_default();
            if !tools.iter().any(|tool| tool.name == name) {
                return Reply::Now(error(&rpc, -32602, "there is no such tool"));
            }
            let id = params.pointer("/_meta/claudecode~1toolUseId").and_then(text);
            let input = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
            let id = id.unwrap_or_else(|| request.to_owned());
            Reply::Call(Call { request: request.to_owned(), rpc, id, name, input })
        }
        _ => Reply::Now(error(&rpc, -32601, "this server has tools and nothing else")),
    }
}

/// The answer to a call.
pub(super) fn called(rpc: &Value, outcome: &Result<String, String>) -> Value {
    let (text, failed) = match outcome {
        Ok(text) => (text, false),
        Err(text) => (text, true),
    };
    result(rpc, &json!({"content": [{"type": "text", "text": text}], "isError": failed}))
}

fn listed(tools: &[ToolSpec]) -> Vec<Value> {
    let listed = |tool: &ToolSpec| {
        json!({
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
        })
    };
    tools.iter().map(listed).collect()
}

fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests;
