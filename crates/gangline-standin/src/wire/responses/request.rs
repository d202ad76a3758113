//! A Responses request: checked like the real interface checks it, then made neutral.

use serde_json::{Map, Value};

use super::tools::{self, Tool, full_name};
use crate::{
    reply::{Conversation, Message, Part, Role, tokens},
    wire::{
        Form, Refusal,
        openai::{
            empty, form_of, invalid, list_at, missing, model_of, object, text_at, wrong_type,
            wrong_word,
        },
        text_of,
    },
};

const ROLES: [&str; 4] = ["assistant", "system", "developer", "user"];

/// A request that passed the checks.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) conversation: Conversation,
    pub(crate) form: Form,
    /// The tools, as they are called.
    pub(super) tools: Vec<Tool>,
}

/// Reads the body of `POST …/responses`.
pub(crate) fn read(body: &[u8]) -> Result<Asked, Refusal> {
    let fields = object(body)?;
    known_only(&fields)?;
    possible(&fields)?;
    let model = model_of(&fields)?;
    let form = form_of(&fields)?;
    let mut input = Input::default();
    if let Some(instructions) = fields.get("instructions").and_then(Value::as_str) {
        input.system.push(instructions.to_owned());
    }
    tools::add(&mut input.tools, list_at(&fields, "tools")?, "tools")?;
    match fields.get("input") {
        None => return missing("input"),
        Some(Value::String(text)) => input.say(Role::User, vec![Part::Text(text.clone())]),
        Some(Value::Array(items)) if items.is_empty() => return empty("input"),
        Some(Value::Array(items)) => {
            for (at, item) in items.iter().enumerate() {
                input.add(item, &format!("input[{at}]"))?;
            }
        }
        Some(other) => return wrong_type("input", "one of a string or array of objects", other),
    }
    let continued = continues(&fields);
    input.check_pairs(continued)?;
    let Input { system, messages, tools, .. } = input;
    let conversation = Conversation {
        model,
        system: system.join("\n\n"),
        messages,
        tools: tools.iter().map(Tool::full_name).collect(),
        described: tools.iter().filter(|tool| tool.described).map(Tool::full_name).collect(),
        input_tokens: tokens(body.len()),
    };
    Ok(Asked { conversation, form, tools })
}

/// The fields of a request, and those that Codex adds.
const FIELDS: [&str; 33] = [
    "access_programs",
    "background",
    "client_metadata",
    "context_management",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "moderation",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// Refuses a field that the interface does not have. What the stand-in needs not is passed over.
fn known_only(fields: &Map<String, Value>) -> Result<(), Refusal> {
    match fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        Some(name) => Err(Refusal {
            message: format!("Unknown parameter: '{name}'."),
            param: Some(name.clone()),
            code: Some("unknown_parameter"),
        }),
        None => Ok(()),
    }
}

/// Refuses what an answer would depend on and the stand-in does not have: it stores nothing and
/// answers at once.
fn possible(fields: &Map<String, Value>) -> Result<(), Refusal> {
    let given = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    if fields.get("background") == Some(&Value::Bool(true)) {
        return invalid("The stand-in answers at once: 'background' must be false.", "background");
    }
    match ["conversation", "prompt"].into_iter().find(|name| given(name)) {
        Some(name) => {
            invalid(format!("The stand-in stores nothing: '{name}' must be absent."), name)
        }
        None => Ok(()),
    }
}

/// Whether the calls of a response may be answered that is not in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Continued {
    Yes,
    No,
}

fn continues(fields: &Map<String, Value>) -> Continued {
    match fields.get("previous_response_id") {
        Some(Value::String(_)) => Continued::Yes,
        Some(_) | None => Continued::No,
    }
}

/// A call or an output, for the check of pairs.
#[derive(Debug)]
struct Half {
    id: String,
    /// The kind of call, as the refusal names it.
    called: &'static str,
}

/// What the items come to.
#[derive(Debug, Default)]
struct Input {
    system: Vec<String>,
    messages: Vec<Message>,
    tools: Vec<Tool>,
    calls: Vec<Half>,
    outputs: Vec<Half>,
}

impl Input {
    /// Adds what somebody said; neighbours of one role become one message.
    fn say(&mut self, role: Role, parts: Vec<Part>) {
        match self.messages.last_mut() {
            Some(before) if before.role == role => before.parts.extend(parts),
            Some(_) | None => self.messages.push(Message { role, parts }),
        }
    }

    fn add(&mut self, item: &Value, path: &str) -> Result<(), Refusal> {
        if !item.is_object() {
            return wrong_type(path, "an object", item);
        }
        let kind = match item.get("type") {
            None => "message",
            Some(Value::String(kind)) => kind,
            Some(other) => return wrong_type(&format!("{path}.type"), "a string", other),
        };
        match kind {
            "message" => self.message(item, path),
            "reasoning" => {
                self.say(Role::Assistant, vec![Part::Other]);
                Ok(())
            }
            "function_call" => {
                text_at(item, path, "arguments")?;
                self.call(item, path, text_at(item, path, "name")?, "function call")
            }
            "custom_tool_call" => {
                text_at(item, path, "input")?;
                self.call(item, path, text_at(item, path, "name")?, "custom tool call")
            }
            "local_shell_call" => self.call(item, path, "local_shell", "local shell call"),
            "tool_search_call" => self.call(item, path, "tool_search", "tool search call"),
            "function_call_output" => self.output(item, path, "function call"),
            "custom_tool_call_output" => self.output(item, path, "custom tool call"),
            "local_shell_call_output" => self.output(item, path, "local shell call"),
            "tool_search_output" => {
                self.more_tools(item, path)?;
                self.output(item, path, "tool search call")
            }
            "additional_tools" => self.more_tools(item, path),
            // Items of tools that the vendor runs, summaries of his: there is nothing to answer.
            _ => Ok(()),
        }
    }

    fn message(&mut self, item: &Value, path: &str) -> Result<(), Refusal> {
        let content = match item.get("content") {
            None => return missing(&format!("{path}.content")),
            Some(content @ (Value::String(_) | Value::Array(_))) => content,
            Some(other) => {
                let path = format!("{path}.content");
                return wrong_type(&path, "one of a string or array of objects", other);
            }
        };
        match text_at(item, path, "role")? {
            "user" => self.say(Role::User, texts(content)),
            "assistant" => self.say(Role::Assistant, texts(content)),
            "system" | "developer" => self.system.push(text_of(content)),
            other => return wrong_word(&format!("{path}.role"), other, &ROLES),
        }
        Ok(())
    }

    fn call(
        &mut self,
        item: &Value,
        path: &str,
        name: &str,
        called: &'static str,
    ) -> Result<(), Refusal> {
        let id = text_at(item, path, "call_id")?.to_owned();
        let name = full_name(item.get("namespace").and_then(Value::as_str), name);
        self.calls.push(Half { id: id.clone(), called });
        self.say(Role::Assistant, vec![Part::ToolUse { id, name }]);
        Ok(())
    }

    fn output(&mut self, item: &Value, path: &str, called: &'static str) -> Result<(), Refusal> {
        let id = text_at(item, path, "call_id")?.to_owned();
        // Nothing says of an output whether it is a failure; what an old client sends may.
        let output = item.get("output").unwrap_or(&Value::Null);
        let is_error = output.get("success") == Some(&Value::Bool(false));
        let text = text_of(output.get("content").unwrap_or(output));
        self.outputs.push(Half { id: id.clone(), called });
        self.say(Role::User, vec![Part::ToolResult { id, text, is_error }]);
        Ok(())
    }

    fn more_tools(&mut self, item: &Value, path: &str) -> Result<(), Refusal> {
        match item.get("tools") {
            Some(Value::Array(list)) => tools::add(&mut self.tools, list, &format!("{path}.tools")),
            Some(_) | None => Ok(()),
        }
    }

    /// Every call has an output, and every output its call.
    fn check_pairs(&self, continued: Continued) -> Result<(), Refusal> {
        let has = |halves: &[Half], half: &Half| {
            halves.iter().any(|other| other.id == half.id && other.called == half.called)
        };
        if let Some(Half { id, called }) = self.calls.iter().find(|call| !has(&self.outputs, call))
        {
            return invalid(format!("No tool output found for {called} {id}."), "input");
        }
        let orphan = self.outputs.iter().find(|output| !has(&self.calls, output));
        match (orphan, continued) {
            (None, _) | (Some(_), Continued::Yes) => Ok(()),
            (Some(Half { id, called }), Continued::No) => {
                let message = format!("No tool call found for {called} output with call_id {id}.");
                invalid(message, "input")
            }
        }
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
