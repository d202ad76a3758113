//! A Messages request: checked like the real interface checks it, then made neutral.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    reply::{Conversation, Message, Part, Role, tokens},
    wire::{Form, Refusal, takes_description, text_of},
};

/// A request that passed the checks.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) conversation: Conversation,
    pub(crate) form: Form,
}

fn refuse<T>(sentence: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(sentence))
}

/// Reads the body of `POST /v1/messages`.
pub(crate) fn read(body: &[u8]) -> Result<Asked, Refusal> {
    let json = object(body)?;
    let limit = json.get("max_tokens");
    match limit.map(Value::as_u64) {
        None => return refuse("max_tokens: Field required"),
        Some(None) => return refuse("max_tokens: Input should be a valid integer"),
        Some(Some(0)) => {
            return refuse("max_tokens: Input should be greater than or equal to 1");
        }
        Some(Some(_)) => {}
    }
    known_only(&json)?;
    let form = match json.get("stream") {
        None | Some(Value::Null | Value::Bool(false)) => Form::Whole,
        Some(Value::Bool(true)) => Form::Events,
        Some(_) => return refuse("stream: Input should be a valid boolean"),
    };
    Ok(Asked { conversation: conversation(&json, body.len())?, form })
}

/// The fields of a request, those of betas too; `thread` is gone when a request is read.
const FIELDS: [&str; 30] = [
    "betas",
    "billing_policy",
    "cache_control",
    "compaction",
    "container",
    "context_management",
    "diagnostics",
    "fallback_credit_token",
    "fallbacks",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
    "user_profile_id",
    "workspace_id",
];

/// Refuses a field that the interface does not have. What the stand-in needs not is passed over.
fn known_only(json: &Value) -> Result<(), Refusal> {
    let mut fields = json.as_object().into_iter().flatten();
    match fields.find(|(name, _)| !FIELDS.contains(&name.as_str())) {
        Some((name, _)) => refuse(format!("{name}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

/// Returns the answer to `POST /v1/messages/count_tokens`, which needs no `max_tokens`.
pub(crate) fn count(body: &[u8]) -> Result<Value, Refusal> {
    let conversation = conversation(&object(body)?, body.len())?;
    Ok(json!({ "input_tokens": conversation.input_tokens }))
}

fn object(body: &[u8]) -> Result<Value, Refusal> {
    match serde_json::from_slice::<Value>(body) {
        Ok(json @ Value::Object(_)) => Ok(json),
        Ok(_) => refuse("The request body must be a JSON object"),
        Err(error) => refuse(format!("The request body is not valid JSON: {error}")),
    }
}

fn conversation(json: &Value, bytes: usize) -> Result<Conversation, Refusal> {
    let model = match json.get("model") {
        None => return refuse("model: Field required"),
        Some(Value::String(model)) if !model.is_empty() => model.clone(),
        Some(_) => return refuse("model: Input should be a valid string"),
    };
    let entries = match json.get("messages") {
        None => return refuse("messages: Field required"),
        Some(Value::Array(entries)) if entries.is_empty() => {
            return refuse("messages: at least one message is required");
        }
        Some(Value::Array(entries)) => entries,
        Some(_) => return refuse("messages: Input should be a valid list"),
    };
    let messages = messages(entries)?;
    check_pairs(&messages)?;
    let system = json.get("system").map(text_of).unwrap_or_default();
    let (tools, described) = tools(json.get("tools"))?;
    let messages = messages.into_iter().map(|(_, message)| message).collect();
    Ok(Conversation { model, system, messages, tools, described, input_tokens: tokens(bytes) })
}

/// Returns the names of all tools, and of those that take a description.
fn tools(list: Option<&Value>) -> Result<(Vec<String>, Vec<String>), Refusal> {
    let entries = match list {
        None | Some(Value::Null) => return Ok((Vec::new(), Vec::new())),
        Some(Value::Array(entries)) => entries,
        Some(_) => return refuse("tools: Input should be a valid list"),
    };
    let (mut names, mut described) = (Vec::new(), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        let Some(name) = entry.get("name").and_then(Value::as_str) else {
            return refuse(format!("tools.{index}.name: Field required"));
        };
        let custom = matches!(entry.get("type").and_then(Value::as_str), None | Some("custom"));
        if custom && entry.get("input_schema").is_none_or(|schema| !schema.is_object()) {
            return refuse(format!("tools.{index}.custom.input_schema: Field required"));
        }
        if names.iter().any(|known| known == name) {
            return refuse("tools: Tool names must be unique.");
        }
        if takes_description(entry.get("input_schema")) {
            described.push(name.to_owned());
        }
        names.push(name.to_owned());
    }
    Ok((names, described))
}

/// Makes the entries neutral, each with the number of the first entry it was made of. `system`
/// entries are accepted anywhere and left out; neighbours of one role become one message.
fn messages(entries: &[Value]) -> Result<Vec<(usize, Message)>, Refusal> {
    let mut messages: Vec<(usize, Message)> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let role = match entry.get("role").and_then(Value::as_str) {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => continue,
            Some(other) => {
                return refuse(format!(
                    "messages: Unexpected role \"{other}\". Allowed roles are \"user\", \
                     \"assistant\" or \"system\"."
                ));
            }
            None => return refuse(format!("messages.{index}.role: Field required")),
        };
        let last = index + 1 == entries.len();
        let parts = parts(index, entry.get("content"), role, last)?;
        match messages.last_mut() {
            Some((_, before)) if before.role == role => before.parts.extend(parts),
            Some(_) | None => messages.push((index, Message { role, parts })),
        }
    }
    match messages.first() {
        Some((_, first)) if first.role == Role::User => Ok(messages),
        Some(_) => refuse("messages: first message must use the \"user\" role"),
        None => refuse("messages: at least one message is required"),
    }
}

fn parts(
    index: usize,
    content: Option<&Value>,
    role: Role,
    last: bool,
) -> Result<Vec<Part>, Refusal> {
    let blocks = match content {
        None => return refuse(format!("messages.{index}.content: Field required")),
        Some(Value::String(text)) if !text.is_empty() => return Ok(vec![Part::Text(text.clone())]),
        Some(Value::Array(blocks)) if !blocks.is_empty() => blocks,
        Some(Value::String(_) | Value::Array(_)) if role == Role::Assistant && last => {
            return Ok(Vec::new());
        }
        Some(Value::String(_) | Value::Array(_)) => {
            let who = match role {
                Role::User => "user messages",
                Role::Assistant => "all messages",
            };
            return refuse(format!("messages.{index}: {who} must have non-empty content"));
        }
        Some(_) => {
            return refuse(format!("messages.{index}.content: Input should be a valid list"));
        }
    };
    let read = |(at, block)| part(&format!("messages.{index}.content.{at}"), block, role);
    blocks.iter().enumerate().map(read).collect()
}

fn part(at: &str, block: &Value, role: Role) -> Result<Part, Refusal> {
    let field = |name: &str| match block.get(name).and_then(Value::as_str) {
        Some(text) => Ok(text.to_owned()),
        None => refuse(format!("{at}.{name}: Field required")),
    };
    match (field("type")?.as_str(), role) {
        ("text", _) => match field("text")? {
            text if text.is_empty() => refuse("messages: text content blocks must be non-empty"),
            text => Ok(Part::Text(text)),
        },
        ("tool_use", Role::Assistant) => {
            if block.get("input").is_none_or(|input| !input.is_object()) {
                return refuse(format!("{at}.tool_use.input: Input should be a valid dictionary"));
            }
            Ok(Part::ToolUse { id: field("id")?, name: field("name")? })
        }
        ("tool_result", Role::User) => Ok(Part::ToolResult {
            id: field("tool_use_id")?,
            text: block.get("content").map(text_of).unwrap_or_default(),
            is_error: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
        }),
        ("tool_use", Role::User) => {
            refuse(format!("{at}: `tool_use` blocks can only be in `assistant` messages"))
        }
        ("tool_result", Role::Assistant) => {
            refuse(format!("{at}: `tool_result` blocks can only be in `user` messages"))
        }
        _ => Ok(Part::Other),
    }
}

/// Every `tool_use` is answered in the next user message, and nothing else is.
fn check_pairs(messages: &[(usize, Message)]) -> Result<(), Refusal> {
    let mut ever = BTreeSet::new();
    let mut open: Vec<String> = Vec::new();
    for (number, (index, message)) in messages.iter().enumerate() {
        let mut answered = BTreeSet::new();
        let mut asked = Vec::new();
        for part in &message.parts {
            match part {
                Part::ToolUse { id, .. } => {
                    if !ever.insert(id.clone()) {
                        return refuse(format!("messages.{index}: `tool_use` ids must be unique"));
                    }
                    asked.push(id.clone());
                }
                Part::ToolResult { id, .. } if !open.contains(id) => {
                    return refuse(format!(
                        "messages.{index}.content: unexpected `tool_use_id` found in \
                         `tool_result` blocks: {id}. Each `tool_result` block must have a \
                         corresponding `tool_use` block in the previous message."
                    ));
                }
                Part::ToolResult { id, .. } => {
                    if !answered.insert(id.clone()) {
                        return refuse(format!(
                            "messages.{index}.content: each tool_use must have a single result. \
                             Found multiple `tool_result` blocks with id: {id}"
                        ));
                    }
                }
                Part::Text(_) | Part::Other => {}
            }
        }
        if message.role == Role::User {
            let before = number.checked_sub(1).and_then(|at| messages.get(at));
            let at = before.map_or(*index, |(index, _)| *index);
            all_answered(at, &open, &answered)?;
        }
        open = asked;
    }
    let last = messages.last().map_or(0, |(index, _)| *index);
    all_answered(last, &open, &BTreeSet::new())
}

fn all_answered(at: usize, open: &[String], answered: &BTreeSet<String>) -> Result<(), Refusal> {
    let missing: Vec<&str> =
        open.iter().filter(|id| !answered.contains(*id)).map(String::as_str).collect();
    if missing.is_empty() {
        return Ok(());
    }
    refuse(format!(
        "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: \
         {}. Each `tool_use` block must have a corresponding `tool_result` block in the next \
         message.",
        missing.join(", ")
    ))
}
