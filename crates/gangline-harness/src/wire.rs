//! The Messages API as far as the harness reads and writes it: blocks, messages, usage, request.
//!
//! A block is an opaque JSON object with accessors: what the API sent is what it gets back,
//! signatures and unknown kinds included. No I/O here.

mod thinking;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

use crate::config::Config;
use crate::models;
use crate::tool::{Tool, ToolCall, ToolResult};

/// The most tokens that one response is believed to have used, of each kind: the daemon's own bound.
const TOKENS_MAX: u64 = 1_000_000_000;

/// One content block, kept as it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Block(pub(crate) Map<String, Value>);

impl Block {
    /// Returns a text block.
    pub fn text(text: &str) -> Self {
        Self::from_json(json!({"type": "text", "text": text}))
    }

    /// Returns the block that answers a tool call.
    pub fn tool_result(result: &ToolResult) -> Self {
        Self::from_json(json!({
            "type": "tool_result",
            "tool_use_id": result.id,
            "content": result.content,
            "is_error": result.is_error,
        }))
    }

    fn from_json(value: Value) -> Self {
        match value {
            Value::Object(map) => Self(map),
            other => Self(Map::from_iter([("value".to_owned(), other)])),
        }
    }

    /// Returns the block's `type`, empty if it has none.
    pub fn kind(&self) -> &str {
        self.field("type").unwrap_or_default()
    }

    /// Returns a string field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        (self.kind() == "text").then(|| self.field("text")).flatten()
    }

    /// Returns the text of a thinking block.
    pub fn as_thinking(&self) -> Option<&str> {
        (self.kind() == "thinking").then(|| self.field("thinking")).flatten()
    }

    /// Returns the call of a tool_use block.
    pub fn as_tool_call(&self) -> Option<ToolCall> {
        (self.kind() == "tool_use").then(|| ToolCall {
            id: self.field("id").unwrap_or_default().to_owned(),
            name: self.field("name").unwrap_or_default().to_owned(),
            input: self.0.get("input").cloned().unwrap_or_else(|| json!({})),
        })
    }

    /// Returns the id of the call that a tool_result block answers.
    pub fn answers(&self) -> Option<&str> {
        (self.kind() == "tool_result").then(|| self.field("tool_use_id")).flatten()
    }

    /// Returns the whole block.
    pub fn as_json(&self) -> &Map<String, Value> {
        &self.0
    }

    pub(crate) fn is_thought(&self) -> bool {
        matches!(self.kind(), "thinking" | "redacted_thinking")
    }

    fn is_blank(&self) -> bool {
        self.as_text().is_some_and(|text| text.trim().is_empty())
    }
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Prompts and tool results.
    User,
    /// The model.
    Assistant,
}

/// One message of the conversation (R4-11).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// In order.
    pub content: Vec<Block>,
}

/// Tokens, as the API counts them; absent counts are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input that was neither read from nor written to the cache.
    pub input_tokens: u64,
    /// Output, thinking included.
    pub output_tokens: u64,
    /// Input written to the cache.
    pub cache_creation_input_tokens: u64,
    /// Input read from the cache.
    pub cache_read_input_tokens: u64,
}

impl Usage {
    /// Returns how much of the context window the request took.
    pub fn context_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_creation_input_tokens)
            .saturating_add(self.cache_read_input_tokens)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let mut other = *other;
        for (sum, more) in self.counts().into_iter().zip(other.counts()) {
            *sum = sum.saturating_add(*more);
        }
    }

    /// Takes the counts that `reported` names: a stream repeats them as totals, not as steps.
    pub(crate) fn update(&mut self, reported: &Value) {
        let names = [
            "input_tokens",
            "output_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
        ];
        for (name, count) in names.into_iter().zip(self.counts()) {
            // What an API tells is foreign, and what follows of it is a compaction or a budget.
            if let Some(Value::Number(number)) = reported.get(name) {
                *count = believed(number);
            }
        }
    }

    fn counts(&mut self) -> [&mut u64; 4] {
        [
            &mut self.input_tokens,
            &mut self.output_tokens,
            &mut self.cache_creation_input_tokens,
            &mut self.cache_read_input_tokens,
        ]
    }
}

/// One response of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// Complete blocks, in order.
    pub blocks: Vec<Block>,
    /// Why the model stopped, in the API's words; `None` if the response was cut off.
    pub stop_reason: Option<String>,
    /// What it cost, as far as it was told.
    pub usage: Usage,
    /// The API's id of the message, empty if it gave none.
    pub id: String,
    /// The model that answered, empty if it was not told.
    pub model: String,
}

impl Response {
    /// Returns the text blocks, one below the other.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.blocks.iter().filter_map(Block::as_text).collect();
        texts.join("\n")
    }
}

/// Builds the body of a request. Three places carry `cache_control`: the system prompt, the last
/// tool and the last block of the last user message.
pub(crate) fn request<'a>(
    config: &Config,
    tools: &[Value],
    history: impl IntoIterator<Item = &'a Message>,
) -> Value {
    let thought = thinking::asked(config);
    let mut body = json!({
        "model": models::resolve(&config.model),
        "max_tokens": thought.max_tokens,
        "stream": true,
        "messages": sendable(history),
    });
    if !config.system_prompt.trim().is_empty() {
        let mut system = json!({"type": "text", "text": config.system_prompt});
        mark_cached(&mut system);
        body["system"] = json!([system]);
    }
    if !tools.is_empty() {
        let mut tools = tools.to_vec();
        if let Some(last) = tools.last_mut() {
            mark_cached(last);
        }
        body["tools"] = Value::Array(tools);
        body["tool_choice"] = json!({"type": "auto"});
    }
    if let Some(thinking) = thought.thinking {
        body["thinking"] = thinking;
    }
    if let Some(effort) = thought.effort {
        body["output_config"] = json!({"effort": effort});
    }
    body
}

/// Returns a tool as it is declared to the API (R4-15).
pub(crate) fn declare(tool: &dyn Tool) -> Value {
    json!({
        "name": tool.name(),
        "description": tool.description(),
        "input_schema": tool.input_schema(),
    })
}

/// Returns a number of tokens as it is believed, whatever number that is: none is less than nothing or
/// more than [`TOKENS_MAX`].
fn believed(number: &Number) -> u64 {
    match (number.as_u64(), number.as_f64()) {
        (Some(count), _) => count.min(TOKENS_MAX),
        (None, Some(count)) if count >= 1.0 => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is positive, and it saturates"
            )]
            let count = count as u64;
            count.min(TOKENS_MAX)
        }
        (None, _) => 0,
    }
}

fn mark_cached(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

/// Returns the history in the form that the API accepts: blank texts and thoughts that nothing
/// follows are left out, neighbours of the same role are one message.
fn sendable<'a>(history: impl IntoIterator<Item = &'a Message>) -> Vec<Value> {
    let mut messages: Vec<(Role, Vec<&Block>)> = Vec::new();
    for message in history {
        let mut blocks: Vec<&Block> = message.content.iter().filter(|b| !b.is_blank()).collect();
        while message.role == Role::Assistant && blocks.last().is_some_and(|b| b.is_thought()) {
            blocks.pop();
        }
        match messages.last_mut() {
            _ if blocks.is_empty() => {}
            Some((role, content)) if *role == message.role => content.append(&mut blocks),
            Some(_) | None => messages.push((message.role, blocks)),
        }
    }
    let mut messages: Vec<Value> = messages
        .into_iter()
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect();
    if let Some(last) = messages.last_mut()
        && last["role"] == "user"
        && let Some(block) = last["content"].as_array_mut().and_then(|content| content.last_mut())
    {
        mark_cached(block);
    }
    messages
}

/// Returns the ids of the last assistant message's tool calls that have no result, in order.
pub(crate) fn open_calls(history: &[Message]) -> Vec<String> {
    let Some(last) = history.iter().rposition(|message| message.role == Role::Assistant) else {
        return Vec::new();
    };
    let answered: BTreeSet<&str> = history[last + 1..]
        .iter()
        .flat_map(|message| message.content.iter().filter_map(Block::answers))
        .collect();
    history[last]
        .content
        .iter()
        .filter_map(Block::as_tool_call)
        .map(|call| call.id)
        .filter(|id| !answered.contains(id.as_str()))
        .collect()
}

#[cfg(test)]
mod tests;
