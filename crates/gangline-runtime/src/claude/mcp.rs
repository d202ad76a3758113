//! The daemon's tools as a tool server that the program speaks to over its own pipe.

use gangline_mcp::rpc;
pub(super) use gangline_mcp::rpc::called;
use serde_json::{Value, json};

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
    match rpc::reply(message, tools, request) {
        // A notification; the pipe still wants an answer. What the program takes back, it takes back
        // by its own protocol.
        rpc::Reply::Nothing | rpc::Reply::TakenBack(_) => {
            Reply::Now(json!({"jsonrpc": "2.0", "id": 0, "result": {}}))
        }
        rpc::Reply::Now(answer) | rpc::Reply::Begin(answer) => Reply::Now(answer),
        rpc::Reply::Call(rpc::Call { rpc, id, name, input }) => {
            Reply::Call(Call { request: request.to_owned(), rpc, id, name, input })
        }
    }
}

#[cfg(test)]
mod tests;
