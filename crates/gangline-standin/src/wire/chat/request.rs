//! A Chat Completions request: checked like the real interface checks it, then made neutral.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::{
    reply::{Conversation, Message, Part, Role, tokens},
    wire::{
        Form, Refusal,
        openai::{
            empty, form_of, invalid, list_at, missing, model_of, object, text_at, wrong_type,
            wrong_word,
        },
        takes_description, text_of,
    },
};

const ROLES: [&str; 6] = ["system", "assistant", "user", "function", "tool", "developer"];

/// A request that passed the checks.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) conversation: Conversation,
    pub(crate) form: Form,
    /// Whether a stream ends with a chunk that tells the usage.
    pub(super) usage: Usage,
    /// The tools that take a text instead of arguments.
    pub(super) freeform: BTreeSet<String>,
}

/// Whether a stream tells its usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    Included,
    Kept,
}

/// Reads the body of `POST …/chat/completions`.
pub(crate) fn read(body: &[u8]) -> Result<Asked, Refusal> {
    let fields = object(body)?;
    let model = model_of(&fields)?;
    let form = form_of(&fields)?;
    one_choice(&fields)?;
    let entries = match fields.get("messages") {
        None => return missing("messages"),
        Some(Value::Array(entries)) if entries.is_empty() => return empty("messages"),
        Some(Value::Array(entries)) => entries,
        Some(other) => return wrong_type("messages", "an array of objects", other),
    };
    check_pairs(entries)?;
    let (system, messages) = messages(entries)?;
    let Tools { names: tools, described, freeform } = tools(&fields)?;
    let input_tokens = tokens(body.len());
    let conversation = Conversation { model, system, messages, tools, described, input_tokens };
    Ok(Asked { conversation, form, usage: usage(&fields, form)?, freeform })
}

/// Refuses a request for several answers: the script has one.
fn one_choice(fields: &Map<String, Value>) -> Result<(), Refusal> {
    match fields.get("n") {
        None | Some(Value::Null) => Ok(()),
        Some(n) if n.as_u64() == Some(1) => Ok(()),
        Some(n) if n.as_u64().is_some_and(|n| n > 1) => {
            invalid("The stand-in gives one choice: 'n' must be 1.", "n")
        }
        Some(n) if n.is_i64() || n.is_u64() => {
            invalid(format!("Invalid value for 'n': expected a value >= 1, got {n}."), "n")
        }
        Some(other) => wrong_type("n", "an integer", other),
    }
}

fn usage(fields: &Map<String, Value>, form: Form) -> Result<Usage, Refusal> {
    let options = match fields.get("stream_options") {
        None | Some(Value::Null) => return Ok(Usage::Kept),
        Some(options) => options,
    };
    if form == Form::Whole {
        return invalid(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            "stream_options",
        );
    }
    match options.get("include_usage") {
        Some(Value::Bool(true)) => Ok(Usage::Included),
        None | Some(Value::Null | Value::Bool(false)) => Ok(Usage::Kept),
        Some(other) => wrong_type("stream_options.include_usage", "a boolean", other),
    }
}

/// The names of the tools on offer.
#[derive(Debug, Default)]
struct Tools {
    names: Vec<String>,
    /// Those that take a description of the call.
    described: Vec<String>,
    freeform: BTreeSet<String>,
}

fn tools(fields: &Map<String, Value>) -> Result<Tools, Refusal> {
    let mut tools = Tools::default();
    for (at, tool) in list_at(fields, "tools")?.iter().enumerate() {
        let path = format!("tools[{at}]");
        let kind = text_at(tool, &path, "type")?;
        if !matches!(kind, "function" | "custom") {
            return wrong_word(&format!("{path}.type"), kind, &["function", "custom"]);
        }
        let Some(described) = tool.get(kind) else { return missing(&format!("{path}.{kind}")) };
        let name = text_at(described, &format!("{path}.{kind}"), "name")?.to_owned();
        if kind == "custom" {
            tools.freeform.insert(name.clone());
        }
        if takes_description(described.get("parameters")) {
            tools.described.push(name.clone());
        }
        tools.names.push(name);
    }
    Ok(tools)
}

/// Makes the entries neutral, and apart from them the text of the system's. Neighbours of one role
/// become one message; results of tools are the user's.
fn messages(entries: &[Value]) -> Result<(String, Vec<Message>), Refusal> {
    let mut system: Vec<String> = Vec::new();
    let mut messages: Vec<Message> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let path = format!("messages[{at}]");
        let (role, parts) = match text_at(entry, &path, "role")? {
            "system" | "developer" => {
                system.push(content(entry, &path)?.map(text_of).unwrap_or_default());
                continue;
            }
            "user" => (Role::User, texts(needed(entry, &path)?)),
            "assistant" => (Role::Assistant, spoken(entry, &path)?),
            "tool" => {
                let id = text_at(entry, &path, "tool_call_id")?.to_owned();
                let text = text_of(needed(entry, &path)?);
                (Role::User, vec![Part::ToolResult { id, text, is_error: false }])
            }
            // The older form of a tool's result: it has no call to belong to.
            "function" => (Role::User, vec![Part::Other]),
            other => return wrong_word(&format!("{path}.role"), other, &ROLES),
        };
        match messages.last_mut() {
            Some(before) if before.role == role => before.parts.extend(parts),
            Some(_) | None => messages.push(Message { role, parts }),
        }
    }
    Ok((system.join("\n\n"), messages))
}

/// Returns the content: a text or a list of parts.
fn content<'a>(entry: &'a Value, path: &str) -> Result<Option<&'a Value>, Refusal> {
    match entry.get("content") {
        None | Some(Value::Null) => Ok(None),
        Some(content @ (Value::String(_) | Value::Array(_))) => Ok(Some(content)),
        Some(other) => {
            wrong_type(&format!("{path}.content"), "one of a string or array of objects", other)
        }
    }
}

fn needed<'a>(entry: &'a Value, path: &str) -> Result<&'a Value, Refusal> {
    match content(entry, path)? {
        Some(content) => Ok(content),
        None => invalid(
            "Invalid value for 'content': expected a string, got null.",
            format!("{path}.content"),
        ),
    }
}

fn texts(content: &Value) -> Vec<Part> {
    match content {
        Value::String(text) => vec![Part::Text(text.clone())],
        Value::Array(parts) => {
            let text = |part: &Value| match part.get("text").and_then(Value::as_str) {
                Some(text) => Part::Text(text.to_owned()),
                None => Part::Other,
            };
            parts.iter().map(text).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// Returns what the model said: content, calls, or both.
fn spoken(entry: &Value, path: &str) -> Result<Vec<Part>, Refusal> {
    let calls = calls(entry);
    let mut parts = match calls.is_empty() {
        true => texts(needed(entry, path)?),
        false => content(entry, path)?.map(texts).unwrap_or_default(),
    };
    for (at, call) in calls.iter().enumerate() {
        let path = format!("{path}.tool_calls[{at}]");
        let id = text_at(call, &path, "id")?.to_owned();
        let (kind, given) = match text_at(call, &path, "type")? {
            "function" => ("function", "arguments"),
            "custom" => ("custom", "input"),
            other => return wrong_word(&format!("{path}.type"), other, &["function", "custom"]),
        };
        let Some(called) = call.get(kind) else { return missing(&format!("{path}.{kind}")) };
        let path = format!("{path}.{kind}");
        let name = text_at(called, &path, "name")?.to_owned();
        text_at(called, &path, given)?;
        parts.push(Part::ToolUse { id, name });
    }
    Ok(parts)
}

fn calls(entry: &Value) -> &[Value] {
    entry.get("tool_calls").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Calls are answered by the `tool` messages that follow at once, and those answer nothing else.
fn check_pairs(entries: &[Value]) -> Result<(), Refusal> {
    let text =
        |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut open: Vec<String> = Vec::new();
    let mut answerable: BTreeSet<String> = BTreeSet::new();
    for (at, entry) in entries.iter().enumerate() {
        let param = format!("messages.[{at}].role");
        let role = text(entry, "role");
        if role.as_deref() == Some("tool") {
            let id = text(entry, "tool_call_id").unwrap_or_default();
            if !answerable.contains(&id) {
                return invalid(
                    "Invalid parameter: messages with role 'tool' must be a response to a \
                     preceeding message with 'tool_calls'.",
                    param,
                );
            }
            open.retain(|call| *call != id);
            continue;
        }
        all_answered(&open, param)?;
        let assistant = role.as_deref() == Some("assistant");
        let calls = if assistant { calls(entry) } else { &[] };
        open = calls.iter().filter_map(|call| text(call, "id")).collect();
        answerable = open.iter().cloned().collect();
    }
    all_answered(&open, "messages".to_owned())
}

fn all_answered(open: &[String], param: String) -> Result<(), Refusal> {
    if open.is_empty() {
        return Ok(());
    }
    let message = format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to \
         each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        open.join(", ")
    );
    invalid(message, param)
}
