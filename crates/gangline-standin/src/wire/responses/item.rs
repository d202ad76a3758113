//! Output items: what each block of a reply is called on the Responses wire.

use serde_json::{Value, json};

use super::{
    request::Asked,
    tools::{Kind, Tool},
};
use crate::wire::{
    Ids,
    body::{At, Block, input_text},
};

/// An item, and the field that its deltas fill.
#[derive(Debug)]
pub(super) struct Item {
    /// As it is when it is done.
    pub(super) done: Value,
    /// What its deltas carry.
    pub(super) content: Content,
}

/// What the deltas of an item carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// The text of its one part.
    Text,
    /// Its summary.
    Summary,
    /// The arguments of a function.
    Arguments,
    /// The text for a freeform tool.
    Input,
    /// Nothing: it comes whole.
    Nothing,
}

impl Item {
    /// Returns the item of a block.
    pub(super) fn of(asked: &Asked, ids: &Ids, at: At, block: Block<'_>) -> Self {
        let id = |prefix: &str| ids.of_many(prefix, at.step);
        match block {
            Block::Text(text) => Self {
                done: json!({
                    "type": "message", "id": id("msg_"), "status": "completed",
                    "role": "assistant", "content": [text_part(text)],
                }),
                content: Content::Text,
            },
            Block::Thinking(text) => Self {
                done: json!({
                    "type": "reasoning", "id": id("rs_"), "summary": [summary_part(text)],
                    "encrypted_content": ids.one(""),
                }),
                content: Content::Summary,
            },
            Block::ToolUse { name, input } => {
                let tool = Tool::named(&asked.tools, name, input);
                call(&tool, input, ids, at)
            }
        }
    }

    /// Returns the item as it is when it begins.
    pub(super) fn begun(&self) -> Value {
        let mut item = self.done.clone();
        let (field, nothing) = match self.content {
            Content::Text => ("content", json!([])),
            Content::Summary => ("summary", json!([])),
            Content::Arguments => ("arguments", json!("")),
            Content::Input => ("input", json!("")),
            Content::Nothing => return item,
        };
        item[field] = nothing;
        if self.content == Content::Summary {
            item["encrypted_content"] = Value::Null;
        } else {
            item["status"] = "in_progress".into();
        }
        item
    }
}

/// Returns the part of a message that is text.
pub(super) fn text_part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

/// Returns the part of a reasoning item that is shown.
pub(super) fn summary_part(text: &str) -> Value {
    json!({ "type": "summary_text", "text": text })
}

fn call(tool: &Tool, input: &Value, ids: &Ids, at: At) -> Item {
    let id = |prefix: &str| ids.of_many(prefix, at.step);
    let (mut done, content) = match tool.kind {
        Kind::Function => (
            json!({
                "type": "function_call", "id": id("fc_"), "name": tool.name,
                "arguments": input_text(input),
            }),
            Content::Arguments,
        ),
        Kind::Custom => (
            json!({
                "type": "custom_tool_call", "id": id("ctc_"), "name": tool.name,
                "input": freeform(input),
            }),
            Content::Input,
        ),
        Kind::LocalShell => (
            json!({ "type": "local_shell_call", "id": id("lsh_"), "action": action(input) }),
            Content::Nothing,
        ),
        Kind::ToolSearch => (
            json!({
                "type": "tool_search_call", "id": id("tsc_"), "execution": "client",
                "arguments": input,
            }),
            Content::Nothing,
        ),
    };
    done["status"] = "completed".into();
    done["call_id"] = id("call_").into();
    if let Some(namespace) = &tool.namespace {
        done["namespace"] = namespace.as_str().into();
    }
    Item { done, content }
}

/// Returns the text for a freeform tool: a text as it is, or that of `{input: …}`.
fn freeform(input: &Value) -> String {
    match input.get("input") {
        Some(Value::String(text)) => text.clone(),
        Some(_) | None => input_text(input),
    }
}

/// Returns what the local shell is to do: a command line runs under `bash`, a list is the command.
fn action(input: &Value) -> Value {
    let command = match input.get("command").unwrap_or(input) {
        Value::Array(words) => json!(words),
        Value::String(line) => json!(["bash", "-lc", line]),
        other => json!(["bash", "-lc", other.to_string()]),
    };
    let field = |name: &str| input.get(name).cloned().unwrap_or(Value::Null);
    json!({
        "type": "exec", "command": command, "env": {}, "user": null,
        "timeout_ms": field("timeout_ms"), "working_directory": field("working_directory"),
    })
}
