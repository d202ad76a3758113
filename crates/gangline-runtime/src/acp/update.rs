//! What `session/update` says, in two steps: the kind, then the body of the kinds that we know.

use serde::Deserialize;
use serde_json::Value;

/// One update of a session.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Update {
    /// A piece of what the model says; the name of its message, if it has one.
    Text { message: Option<String>, text: String },
    /// A piece of what the model thinks.
    Thought { text: String },
    /// A tool call, or something new about one.
    Tool(Patch),
    /// How full the context is.
    Context(Context),
    /// What can be chosen, the model among it.
    Choices(Vec<Choice>),
    /// The session is in another mode.
    Mode(String),
    /// A piece of what a user said: of our prompt, or of the past.
    User(String),
    /// The model's plan has changed.
    Plan,
    /// Something that is of no use here: a title, commands.
    Quiet,
    /// A kind that nobody told us of.
    Unknown(String),
}

/// What is told of a tool call: every field may be absent and then stays as it was.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Patch {
    #[serde(rename = "toolCallId")]
    pub(super) id: String,
    pub(super) title: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) status: Option<String>,
    pub(super) raw_input: Option<Value>,
    pub(super) raw_output: Option<Value>,
    pub(super) content: Option<Value>,
    /// Files that the call uses.
    pub(super) locations: Option<Value>,
}

impl Patch {
    /// Says whether it tells what the call is; else it is about one that was told before.
    pub(super) fn announces(&self) -> bool {
        self.title.is_some()
            || self.kind.is_some()
            || self.raw_input.is_some()
            || self.locations.is_some()
    }

    /// Says whether it tells anything.
    pub(super) fn tells(&self) -> bool {
        self.announces()
            || self.status.is_some()
            || self.raw_output.is_some()
            || self.content.is_some()
    }

    /// Says whether the call is over.
    pub(super) fn ends(&self) -> bool {
        matches!(self.status.as_deref(), Some("completed" | "failed"))
    }
}

/// How full the context is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Context {
    pub(super) used: Option<u64>,
    pub(super) size: Option<u64>,
    /// What the session has cost so far, in millionths of a dollar.
    pub(super) cost_micros: Option<u64>,
}

/// Something that can be chosen for a session.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Choice {
    pub(super) id: String,
    pub(super) category: Option<String>,
    /// A text, or a truth value.
    pub(super) current_value: Value,
    /// Its values, some of them in groups.
    pub(super) options: Vec<Value>,
}

/// Reads the update of a notification, and the session it is about.
///
/// # Errors
/// The kind whose body is not what the protocol says.
pub(super) fn decode(mut params: Value) -> Result<(String, Update), String> {
    let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
    let mut body = params.get_mut("update").map_or(Value::Null, Value::take);
    let kind = body["sessionUpdate"].as_str().ok_or_else(|| "an update".to_owned())?.to_owned();
    let broken = |_: serde_json::Error| format!("`{kind}`");
    let update = match kind.as_str() {
        "agent_message_chunk" => Update::Text {
            message: body["messageId"].as_str().map(str::to_owned),
            text: take_text(&mut body),
        },
        "agent_thought_chunk" => Update::Thought { text: take_text(&mut body) },
        "tool_call" | "tool_call_update" => {
            Update::Tool(serde_json::from_value(body).map_err(broken)?)
        }
        "usage_update" => Update::Context(context(&body)),
        "config_option_update" => Update::Choices(choices(&body)),
        "current_mode_update" => match body["currentModeId"].as_str() {
            Some(mode) => Update::Mode(mode.to_owned()),
            None => Update::Quiet,
        },
        "user_message_chunk" => Update::User(take_text(&mut body)),
        "plan" => Update::Plan,
        "available_commands_update" | "session_info_update" => Update::Quiet,
        other => Update::Unknown(other.to_owned()),
    };
    Ok((session, update))
}

/// Takes the text out of a piece: it may be long.
fn take_text(body: &mut Value) -> String {
    match body.pointer_mut("/content/text").map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

/// Reads what is told of a tool call in a question about it.
///
/// # Errors
/// A field has another type than the protocol says.
pub(super) fn patch(body: &Value) -> Result<Patch, serde_json::Error> {
    Patch::deserialize(body)
}

/// Reads what can be chosen. A list with a broken entry loses that entry.
pub(super) fn choices(body: &Value) -> Vec<Choice> {
    let choices = list(&body["configOptions"]).iter();
    choices.filter_map(|choice| Choice::deserialize(choice).ok()).collect()
}

fn context(body: &Value) -> Context {
    let cost = body["cost"]["amount"].as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0);
    let dollars = body["cost"]["currency"].as_str().is_none_or(|it| it == "USD");
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let cost_micros = cost.filter(|_| dollars).map(|cost| (cost * 1e6).round() as u64);
    Context { used: body["used"].as_u64(), size: body["size"].as_u64(), cost_micros }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the text of a block of content; `None` for images and the like.
pub(super) fn text_of(content: &Value) -> Option<String> {
    content["text"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
