//! One line of the program's output to a value: first its kind, then its body.
//!
//! What is not known is [`Odd::Unknown`]; a known kind with a broken body is an error; fields that
//! are not needed here are passed over. No I/O, no state. Start at [`decode`].

use gangline_os::json;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use self::requests::request;
use crate::{Block, program::protocol::Odd};

mod requests;

/// A line that says what the session does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// A run of the model begins, or a command that resets the session is under way.
    Init(Init),
    /// One block of what the model said.
    Assistant(Assistant),
    /// Results of tools.
    User(User),
    /// A run is over.
    Result(Box<Outcome>),
    /// What became of a text that we sent.
    Lifecycle { uuid: String, state: Fate },
    /// The context is being shortened, or was.
    Status(Status),
    /// A model call failed and is tried again.
    Retry(Retry),
    /// The provider's limits.
    Limits(Limits),
    /// Nothing is under way any more.
    Idle,
    /// The program wants something from us.
    Request { id: String, request: Request },
    /// It no longer wants it.
    Cancelled { id: String },
    /// The answer to a request of ours.
    Response { id: String, answer: Result<Value, String> },
    /// Something is waited for: a call that runs, or a hook.
    Beat(Beat),
    /// The program lives; nothing shows that its turn goes on.
    Waits,
    /// A sign that the turn goes on.
    Noise,
    /// A sign that the program lives.
    Lives,
}

/// A heartbeat. The program writes one every 30 s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Beat {
    /// The event whose hook runs, if it is about a hook.
    pub(super) hook: Option<String>,
    /// The call that it is about.
    pub(super) call: String,
    /// The call that this one belongs to, or the same again.
    pub(super) parent: String,
}

/// The head of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Init {
    pub(super) session_id: String,
    #[serde(default)]
    pub(super) model: String,
}

/// What the model said: the program makes a line of each block.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Assistant {
    pub(super) model: String,
    pub(super) blocks: Vec<Block>,
    pub(super) usage: Tokens,
    /// The call that a subagent works for.
    pub(super) parent: Option<String>,
    /// The kind of error, when the program speaks in the model's place.
    pub(super) error: Option<String>,
}

/// The name that the program gives to texts of its own.
pub(super) const SYNTHETIC: &str = "<synthetic>";

/// Results of tools, as they go to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct User {
    pub(super) results: Vec<ToolDone>,
    pub(super) parent: Option<String>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolDone {
    pub(super) id: String,
    pub(super) is_error: bool,
    pub(super) content: String,
}

/// Token counts as the API names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(deserialize_with = "or_default")]
    pub(super) input_tokens: u64,
    #[serde(deserialize_with = "or_default")]
    pub(super) output_tokens: u64,
    #[serde(deserialize_with = "or_default")]
    pub(super) cache_read_input_tokens: u64,
    #[serde(deserialize_with = "or_default")]
    pub(super) cache_creation_input_tokens: u64,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outcome {
    #[serde(deserialize_with = "or_default")]
    pub(super) subtype: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) is_error: bool,
    pub(super) terminal_reason: Option<String>,
    pub(super) api_error_status: Option<u16>,
    pub(super) result: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) errors: Vec<String>,
    pub(super) user_message_uuids: Option<Vec<String>>,
    pub(super) origin: Option<Origin>,
    #[serde(deserialize_with = "or_default")]
    pub(super) usage: Tokens,
    pub(super) total_cost_usd: Option<f64>,
    #[serde(rename = "modelUsage")]
    #[serde(deserialize_with = "or_default")]
    pub(super) models: std::collections::BTreeMap<String, ModelUse>,
    pub(super) model_usage_since_last_result: Option<std::collections::BTreeMap<String, ModelUse>>,
}

/// Who began a run that nobody asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Origin {
    pub(super) kind: String,
}

/// What one model was used for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelUse {
    pub(super) context_window: Option<u64>,
    #[serde(rename = "costUSD")]
    #[serde(deserialize_with = "or_default")]
    pub(super) cost_usd: f64,
}

/// What became of a text that we sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Queued,
    Started,
    Completed,
    Cancelled,
    /// A word that this version does not know.
    Other,
}

/// The state of a compaction; a line without one is about something else.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    pub(super) status: Option<String>,
    pub(super) compact_result: Option<String>,
    pub(super) compact_error: Option<String>,
}

/// A model call that is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Retry {
    #[serde(deserialize_with = "or_default")]
    pub(super) attempt: u32,
    #[serde(deserialize_with = "or_default")]
    pub(super) max_retries: u32,
    #[serde(deserialize_with = "or_default")]
    pub(super) retry_delay_ms: u64,
    pub(super) error_status: Option<u16>,
    #[serde(deserialize_with = "or_default")]
    pub(super) error: String,
}

/// What the provider says about its limits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Limits {
    pub(super) status: String,
    /// Unix seconds.
    pub(super) resets_at: Option<i64>,
    pub(super) rate_limit_type: Option<String>,
}

/// What the program wants from us.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Request {
    /// Whether a tool may run.
    MayUse { tool: String, input: Value },
    /// A hook fired; for `PreToolUse` with the tool and its arguments. `inner`: in an agent that the
    /// model has started itself.
    Hook { event: String, tool: String, input: Value, cwd: String, inner: bool },
    /// A message to a server of ours.
    Mcp { server: String, message: Value },
    /// Something that we do not serve.
    Other { kind: String },
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
    #[serde(default, borrow)]
    subtype: Option<std::borrow::Cow<'a, str>>,
}

/// Takes null for absent.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A line whose body is not read yet. Either way the long texts in it are read once.
enum Body<'a> {
    Text(&'a str),
    /// Its kind was not in front.
    Value(Value),
}

impl Body<'_> {
    fn read<T: DeserializeOwned>(self) -> serde_json::Result<T> {
        match self {
            Self::Text(line) => serde_json::from_str(line),
            Self::Value(value) => serde_json::from_value(value),
        }
    }
}

/// Reads one line; half a character in it becomes U+FFFD.
///
/// # Errors
/// [`Odd`] says what is wrong with it.
pub(super) fn decode(line: &str) -> Result<Line, Odd> {
    json::read(line, as_it_is).0
}

fn as_it_is(line: &str) -> Result<Line, Odd> {
    let (kind, body) = split(line)?;
    let broken = |error: serde_json::Error| match kind_anywhere(line) {
        Ok(kind) => Odd::Broken { kind, why: error.to_string() },
        Err(no_message) => no_message,
    };
    match kind.as_str() {
        "system/init" => body.read().map(Line::Init),
        "system/status" => body.read().map(Line::Status),
        "system/api_retry" => body.read().map(Line::Retry),
        "system/session_state_changed" => state(body),
        "assistant" => assistant(body),
        "user" => user(body),
        "result" => body.read().map(Line::Result),
        "command_lifecycle" => lifecycle(body),
        "rate_limit_event" => limits(body),
        "control_request" => request(body),
        "control_cancel_request" => cancelled(body),
        "control_response" => response(body),
        "tool_progress" => beat(body),
        "keep_alive" | "system/hook_progress" => Ok(Line::Waits),
        "stream_event" | "system/compact_boundary" | "system/thinking_tokens" => Ok(Line::Noise),
        known if shows_life(known) => Ok(Line::Lives),
        _ => return Err(Odd::Unknown { kind }),
    }
    .map_err(broken)
}

/// Returns a line's kind and its body.
fn split(line: &str) -> Result<(String, Body<'_>), Odd> {
    let in_front = line.strip_prefix("{\"type\":\"").and_then(|rest| rest.split_once('"'));
    match in_front {
        // These are the long ones. To look for the kind would be to read them twice.
        Some((kind @ ("assistant" | "user" | "result" | "control_request"), _)) => {
            Ok((kind.to_owned(), Body::Text(line)))
        }
        Some(_) => Ok((kind_anywhere(line)?, Body::Text(line))),
        None => {
            let value: Value = serde_json::from_str(line).map_err(|_| Odd::NoMessage)?;
            let word = |field: &str| value.get(field).and_then(Value::as_str);
            let kind = kind_of(word("type").ok_or(Odd::NoMessage)?, word("subtype"));
            Ok((kind, Body::Value(value)))
        }
    }
}

fn kind_anywhere(line: &str) -> Result<String, Odd> {
    let head: Head<'_> = serde_json::from_str(line).map_err(|_| Odd::NoMessage)?;
    Ok(kind_of(&head.kind, head.subtype.as_deref()))
}

fn kind_of(kind: &str, subtype: Option<&str>) -> String {
    match (kind, subtype) {
        ("system", Some(subtype)) => format!("system/{subtype}"),
        (kind, _) => kind.to_owned(),
    }
}

/// Says whether a line of this kind only shows that the program is alive.
fn shows_life(kind: &str) -> bool {
    const KINDS: [&str; 10] = [
        "conversation_reset",
        "system/background_tasks_changed",
        "system/hook_response",
        "system/hook_started",
        "system/informational",
        "system/permission_denied",
        "system/task_notification",
        "system/task_progress",
        "system/task_started",
        "system/task_updated",
    ];
    KINDS.contains(&kind)
}

fn state(body: Body<'_>) -> serde_json::Result<Line> {
    #[derive(Deserialize)]
    struct Whole {
        state: String,
    }
    let Whole { state } = body.read()?;
    Ok(if state == "idle" { Line::Idle } else { Line::Lives })
}

fn beat(body: Body<'_>) -> serde_json::Result<Line> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Whole {
        #[serde(deserialize_with = "or_default")]
        tool_use_id: String,
        #[serde(deserialize_with = "or_default")]
        tool_name: String,
        #[serde(deserialize_with = "or_default")]
        parent_tool_use_id: String,
    }
    let Whole { tool_use_id: id, tool_name: name, parent_tool_use_id: parent } = body.read()?;
    let call = id.rsplit_once("-heartbeat-").map_or(&*id, |(call, _)| call);
    let hook = call.starts_with(&format!("hook-{name}-")).then_some(name);
    Ok(Line::Beat(Beat { hook, call: call.to_owned(), parent }))
}

fn assistant(body: Body<'_>) -> serde_json::Result<Line> {
    #[derive(Deserialize)]
    struct Whole {
        message: Message,
        parent_tool_use_id: Option<String>,
        error: Option<String>,
    }
    #[derive(Deserialize)]
    struct Message {
        #[serde(default, deserialize_with = "or_default")]
        model: String,
        content: Vec<Value>,
        #[serde(default)]
        usage: Option<Tokens>,
    }
    let Whole { message, parent_tool_use_id: parent, error } = body.read()?;
    let blocks = message.content.into_iter().filter_map(block).collect();
    let usage = message.usage.unwrap_or_default();
    Ok(Line::Assistant(Assistant { model: message.model, blocks, usage, parent, error }))
}

/// Returns a block of the kinds that R0-18 has; others are for the model alone.
fn block(mut block: Value) -> Option<Block> {
    let kind = block.get("type")?.as_str()?.to_owned();
    let mut text = |field: &str| match block.get_mut(field).map(Value::take) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    match kind.as_str() {
        "text" => Some(Block::Text { text: text("text")? }),
        "thinking" => Some(Block::Thinking { thinking: text("thinking")? }),
        "tool_use" => {
            let (id, name) = (text("id")?, text("name")?);
            let input = block.get_mut("input").map_or_else(|| Map::new().into(), Value::take);
            Some(Block::ToolUse { id, name, input })
        }
        _ => None,
    }
}

fn user(body: Body<'_>) -> serde_json::Result<Line> {
    #[derive(Deserialize)]
    struct Whole {
        message: Message,
        parent_tool_use_id: Option<String>,
    }
    #[derive(Deserialize)]
    struct Message {
        content: Value,
    }
    let Whole { message, parent_tool_use_id: parent } = body.read()?;
    let results = match message.content {
        Value::Array(blocks) => blocks.into_iter().filter_map(tool_done).collect(),
        // A plain text is a prompt that is repeated, or one that the program wrote by itself.
        _ => Vec::new(),
    };
    Ok(Line::User(User { results, parent }))
}

fn tool_done(mut block: Value) -> Option<ToolDone> {
    if block.get("type")?.as_str()? != "tool_result" {
        return None;
    }
    Some(ToolDone {
        id: block.get("tool_use_id")?.as_str()?.to_owned(),
        is_error: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
        content: plain_text(block.get_mut("content").map(Value::take)),
    })
}

/// Returns the text of a tool's result; what is no text is named by its kind.
fn plain_text(content: Option<Value>) -> String {
    match content {
        Some(Value::String(text)) => text,
        Some(Value::Array(blocks)) => {
            let text = |block: &Value| match block.get("text").and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => {
                    let kind = block.get("type").and_then(Value::as_str).unwrap_or("something");
                    format!("[{kind}]")
                }
            };
            blocks.iter().map(text).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn lifecycle(body: Body<'_>) -> serde_json::Result<Line> {
    #[derive(Deserialize)]
    struct Whole {
        command_uuid: String,
        state: String,
    }
    let Whole { command_uuid: uuid, state } = body.read()?;
    let state = match state.as_str() {
        "queued" => Fate::Queued,
        "started" => Fate::Started,
        "completed" => Fate::Completed,
        "cancelled" => Fate::Cancelled,
        _ => Fate::Other,
    };
    Ok(Line::Lifecycle { uuid, state })
}

fn limits(body: Body<'_>) -> serde_json::Result<Line> {
    #[derive(Deserialize)]
    struct Whole {
        rate_limit_info: Limits,
    }
    body.read().map(|Whole { rate_limit_info }| Line::Limits(rate_limit_info))
}

fn cancelled(body: Body<'_>) -> serde_json::Result<Line> {
    #[derive(Deserialize)]
    struct Whole {
        request_id: String,
    }
    body.read().map(|Whole { request_id: id }| Line::Cancelled { id })
}

fn response(body: Body<'_>) -> serde_json::Result<Line> {
    #[derive(Deserialize)]
    struct Whole {
        response: Inner,
    }
    #[derive(Deserialize)]
    struct Inner {
        subtype: String,
        request_id: String,
        #[serde(default)]
        response: Value,
        #[serde(default)]
        error: String,
    }
    let Whole { response } = body.read()?;
    let answer =
        if response.subtype == "error" { Err(response.error) } else { Ok(response.response) };
    Ok(Line::Response { id: response.request_id, answer })
}

#[cfg(test)]
mod tests;
