//! A Gemini request: checked like the real interface checks it, then made neutral.
//!
//! Fields may be written in both of this interface's spellings, `functionCall` and
//! `function_call`.

use serde_json::{Map, Value, json};

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

/// Reads the body of `POST …/models/MODEL:generateContent`, and of its stream.
pub(crate) fn read(body: &[u8], model: &str, form: Form) -> Result<Asked, Refusal> {
    let fields = object(body)?;
    possible(&fields)?;
    let conversation = conversation(&fields, model, body.len())?;
    Ok(Asked { conversation, form })
}

/// Returns the answer to `POST …/models/MODEL:countTokens`, which brings contents or a whole
/// request.
pub(crate) fn count(body: &[u8], model: &str) -> Result<Value, Refusal> {
    let fields = object(body)?;
    let request = match either(&fields, "generateContentRequest", "generate_content_request") {
        Some(Value::Object(request)) => {
            let name = "generateContentRequest";
            known_only(&fields, &[name, "generate_content_request", "contents"])?;
            request
        }
        Some(_) | None => &fields,
    };
    let tokens = conversation(request, model, body.len())?.input_tokens;
    Ok(json!({
        "totalTokens": tokens,
        "promptTokensDetails": [{ "modality": "TEXT", "tokenCount": tokens }],
    }))
}

fn object(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => refuse(
            "Invalid JSON payload received. Unknown name \"\": Root element must be a message.",
        ),
        Err(error) => refuse(format!("Invalid JSON payload received. {error}")),
    }
}

fn either<'a>(fields: &'a Map<String, Value>, camel: &str, snake: &str) -> Option<&'a Value> {
    fields.get(camel).or_else(|| fields.get(snake))
}

/// The fields of a request.
const FIELDS: [&str; 17] = [
    "cachedContent",
    "cached_content",
    "contents",
    "generationConfig",
    "generation_config",
    "labels",
    "model",
    "safetySettings",
    "safety_settings",
    "serviceTier",
    "service_tier",
    "store",
    "systemInstruction",
    "system_instruction",
    "toolConfig",
    "tool_config",
    "tools",
];

/// Refuses a field that is none of these. What the stand-in needs not is passed over.
fn known_only(fields: &Map<String, Value>, known: &[&str]) -> Result<(), Refusal> {
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => refuse(format!(
            "Invalid JSON payload received. Unknown name \"{name}\": Cannot find field."
        )),
        None => Ok(()),
    }
}

/// Refuses what an answer would depend on and the stand-in does not have.
fn possible(fields: &Map<String, Value>) -> Result<(), Refusal> {
    let config = either(fields, "generationConfig", "generation_config");
    let config = config.and_then(Value::as_object);
    let count = config.and_then(|config| either(config, "candidateCount", "candidate_count"));
    if count.and_then(Value::as_u64).is_some_and(|count| count > 1) {
        return refuse("The stand-in gives one candidate: candidate_count must be 1.");
    }
    match either(fields, "cachedContent", "cached_content") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => refuse("The stand-in keeps no cached content: cached_content must be absent."),
    }
}

fn conversation(
    fields: &Map<String, Value>,
    model: &str,
    bytes: usize,
) -> Result<Conversation, Refusal> {
    known_only(fields, &FIELDS)?;
    let entries = match fields.get("contents") {
        Some(Value::Array(entries)) if !entries.is_empty() => entries,
        None | Some(Value::Null | Value::Array(_)) => {
            return refuse("* GenerateContentRequest.contents: contents is not specified\n");
        }
        Some(_) => {
            return refuse(
                "Invalid value at 'contents' \
                 (type.googleapis.com/google.ai.generativelanguage.v1beta.Content)",
            );
        }
    };
    let system = either(fields, "systemInstruction", "system_instruction");
    let system = system.and_then(|system| system.get("parts")).map(text_of).unwrap_or_default();
    let (tools, described) = tools(fields)?;
    Ok(Conversation {
        model: model.to_owned(),
        system,
        messages: messages(entries)?,
        tools,
        described,
        input_tokens: tokens(bytes),
    })
}

/// Returns the names of all tools, and of those that take a description.
fn tools(fields: &Map<String, Value>) -> Result<(Vec<String>, Vec<String>), Refusal> {
    let (mut names, mut described) = (Vec::new(), Vec::new());
    let lists = fields.get("tools").and_then(Value::as_array).into_iter().flatten();
    let lists = lists.filter_map(Value::as_object);
    let declared = lists.filter_map(|tool| {
        either(tool, "functionDeclarations", "function_declarations").and_then(Value::as_array)
    });
    for (at, function) in declared.flatten().enumerate() {
        let Some(function) = function.as_object() else {
            return refuse("Invalid value at 'tools[0].function_declarations'");
        };
        match function.get("name").and_then(Value::as_str) {
            Some(name) if !name.is_empty() => {
                let schema = either(function, "parametersJsonSchema", "parameters_json_schema");
                if takes_description(schema.or_else(|| function.get("parameters"))) {
                    described.push(name.to_owned());
                }
                names.push(name.to_owned());
            }
            Some(_) | None => {
                return refuse(format!(
                    "* GenerateContentRequest.tools[0].function_declarations[{at}].name: Invalid \
                     function name."
                ));
            }
        }
    }
    Ok((names, described))
}

/// Makes the contents neutral; neighbours of one role become one message.
fn messages(entries: &[Value]) -> Result<Vec<Message>, Refusal> {
    let mut messages: Vec<Message> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let role = match entry.get("role") {
            None | Some(Value::Null) => Role::User,
            Some(Value::String(role)) if role == "user" || role == "function" => Role::User,
            Some(Value::String(role)) if role == "model" => Role::Assistant,
            Some(_) => return refuse("Please use a valid role: user, model."),
        };
        let path = format!("GenerateContentRequest.contents[{at}].parts");
        let said = match entry.get("parts") {
            Some(Value::Array(parts)) if !parts.is_empty() => parts,
            Some(_) | None => {
                return refuse(format!("* {path}: contents.parts must not be empty.\n"));
            }
        };
        // The calls that the results of this content may be of.
        let open = match messages.last() {
            Some(before) if role == Role::User && before.role == Role::Assistant => open(before),
            Some(_) | None => Vec::new(),
        };
        let parts = parts(said, messages.len(), open, &path)?;
        match messages.last_mut() {
            Some(before) if before.role == role => before.parts.extend(parts),
            Some(_) | None => messages.push(Message { role, parts }),
        }
    }
    check_pairs(&messages)?;
    Ok(messages)
}

/// Returns id and tool of every call in a message.
fn open(message: &Message) -> Vec<(String, String)> {
    let call = |part: &Part| match part {
        Part::ToolUse { id, name } => Some((id.clone(), name.clone())),
        Part::Text(_) | Part::ToolResult { .. } | Part::Other => None,
    };
    message.parts.iter().filter_map(call).collect()
}

/// Ids are optional here: a call without one gets one by its place, and a result without one is
/// that of the first open call of its tool.
fn parts(
    said: &[Value],
    message: usize,
    mut open: Vec<(String, String)>,
    path: &str,
) -> Result<Vec<Part>, Refusal> {
    let mut parts = Vec::new();
    for (at, part) in said.iter().enumerate() {
        let Some(fields) = part.as_object() else {
            return refuse(format!("Invalid value at '{path}[{at}]'"));
        };
        let thought = fields.get("thought") == Some(&Value::Bool(true));
        let part = if let Some(call) = either(fields, "functionCall", "function_call") {
            let name = name_of(call, path, at)?;
            let id = call.get("id").and_then(Value::as_str);
            let id = id.map_or_else(|| format!("{name}/{message}/{at}"), str::to_owned);
            Part::ToolUse { id, name }
        } else if let Some(result) = either(fields, "functionResponse", "function_response") {
            let name = name_of(result, path, at)?;
            let given = result.get("id").and_then(Value::as_str);
            let is = |(id, called): &(String, String)| {
                given.map_or(*called == name, |given| given == id)
            };
            let found = open.iter().position(is).map(|at| open.remove(at).0);
            let (text, is_error) = outcome(result.get("response").unwrap_or(&Value::Null));
            let id = found.or(given.map(str::to_owned)).unwrap_or(name);
            Part::ToolResult { id, text, is_error }
        } else if let Some(text) = fields.get("text").and_then(Value::as_str).filter(|_| !thought) {
            Part::Text(text.to_owned())
        } else {
            Part::Other
        };
        parts.push(part);
    }
    Ok(parts)
}

fn name_of(call: &Value, path: &str, at: usize) -> Result<String, Refusal> {
    match call.get("name").and_then(Value::as_str) {
        Some(name) if !name.is_empty() => Ok(name.to_owned()),
        Some(_) | None => {
            refuse(format!("* {path}[{at}].function_call.name: Name cannot be empty.\n"))
        }
    }
}

/// Returns the text of a function's response, and whether it is a failure.
pub(super) fn outcome(response: &Value) -> (String, bool) {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    // The SDK for Python has the text of a function in `result`.
    let result = || response.get("result").filter(|result| result.is_string());
    match (response.get("error"), response.get("output").or_else(result)) {
        (Some(error), _) => (text(error), true),
        (None, Some(output)) => (text(output), false),
        (None, None) => (text(response), false),
    }
}

/// Calls are answered by as many responses, in the content that follows.
fn check_pairs(messages: &[Message]) -> Result<(), Refusal> {
    let count = |message: Option<&Message>, of: fn(&Part) -> bool| {
        message.map_or(0, |message| message.parts.iter().filter(|part| of(part)).count())
    };
    for (at, message) in messages.iter().enumerate().filter(|(_, it)| it.role == Role::User) {
        let before = at.checked_sub(1).and_then(|at| messages.get(at));
        let calls = count(before, |part| matches!(part, Part::ToolUse { .. }));
        let results = count(Some(message), |part| matches!(part, Part::ToolResult { .. }));
        if calls != results {
            return refuse(
                "Please ensure that the number of function response parts is equal to the number \
                 of function call parts of the function call turn.",
            );
        }
    }
    Ok(())
}
