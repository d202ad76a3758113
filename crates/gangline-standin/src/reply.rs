//! What is asked and what is answered, without any wire's spelling.

use std::time::Duration;

use serde_json::Value;

/// A request, as far as an answer may depend on it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversation {
    /// The model that was asked for.
    pub model: String,
    /// The system prompt.
    pub system: String,
    /// The messages, oldest first; neighbours of one role are merged, system entries left out.
    pub messages: Vec<Message>,
    /// The names of the tools on offer.
    pub tools: Vec<String>,
    /// Those of them that take a `description` of what they are called for.
    pub described: Vec<String>,
    /// About how many tokens the request has.
    pub input_tokens: u64,
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The asking side, tool results included.
    User,
    /// The model.
    Assistant,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A call of a tool.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool; of one in a namespace, the namespace, `__` and its name.
        name: String,
    },
    /// What a tool gave.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The text of the result.
        text: String,
        /// Whether it is a failure or a refusal.
        is_error: bool,
    },
    /// Anything else: thinking, pictures.
    Other,
}

/// What the newest message brings from tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutcome {
    /// The tool; of several calls, that of the last.
    pub tool: String,
    /// The text; of several results, one after the other in the order of their calls, since
    /// clients send them in the order in which they ended.
    pub text: String,
    /// Whether any of them is a failure or a refusal.
    pub is_error: bool,
}

impl Conversation {
    /// Returns the last text of the newest user message that has any: what is being asked.
    #[must_use]
    pub fn asked(&self) -> &str {
        self.messages
            .iter()
            .rev()
            .filter(|message| message.role == Role::User)
            .find_map(|message| message.parts.iter().rev().find_map(Part::as_text))
            .unwrap_or("")
    }

    /// Returns every text of the newest user message that has any.
    pub fn asked_parts(&self) -> impl Iterator<Item = &str> {
        let newest = self.messages.iter().rev().find(|message| {
            message.role == Role::User && message.parts.iter().any(|part| part.as_text().is_some())
        });
        newest.into_iter().flat_map(|message| message.parts.iter().filter_map(Part::as_text))
    }

    /// Returns the results that the newest message brings, unless text came behind them: then
    /// something new is asked. Reminders that a client adds by itself ask nothing.
    #[must_use]
    pub fn result(&self) -> Option<ToolOutcome> {
        let newest = self.messages.last().filter(|message| message.role == Role::User)?;
        let telling = |part: &&Part| part.as_text().is_some() || part.as_result().is_some();
        newest.parts.iter().rev().find(telling)?.as_result()?;
        let calls = || self.messages.iter().flat_map(|message| &message.parts);
        let mut results: Vec<(usize, &str, &str, bool)> = newest
            .parts
            .iter()
            .filter_map(Part::as_result)
            .map(|(id, text, is_error)| {
                let call = calls().enumerate().find_map(|(at, part)| match part {
                    Part::ToolUse { id: called, name } if called == id => Some((at, name)),
                    Part::ToolUse { .. }
                    | Part::Text(_)
                    | Part::ToolResult { .. }
                    | Part::Other => None,
                });
                let (at, tool) = call.map_or((0, ""), |(at, name)| (at, name.as_str()));
                (at, tool, text, is_error)
            })
            .collect();
        results.sort_by_key(|(at, ..)| *at);
        Some(ToolOutcome {
            tool: results.last().map_or("", |(_, tool, ..)| tool).to_owned(),
            text: results.iter().map(|(_, _, text, _)| *text).collect::<Vec<_>>().join("\n"),
            is_error: results.iter().any(|(.., is_error)| *is_error),
        })
    }

    /// Returns the number of this request in its conversation, from 1: one more than the model
    /// has spoken.
    #[must_use]
    pub fn turn(&self) -> u64 {
        let spoken = self.messages.iter().filter(|message| message.role == Role::Assistant);
        spoken.count() as u64 + 1
    }

    /// Returns the tool on offer that `name` means: the one of that name; else the first that
    /// differs from it in case only; else the first that has it behind `__`, `_` or `-`, as
    /// clients name the tools of MCP servers.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&str> {
        let tools = || self.tools.iter().map(String::as_str);
        tools()
            .find(|tool| *tool == name)
            .or_else(|| tools().find(|tool| tool.eq_ignore_ascii_case(name)))
            .or_else(|| tools().find(|tool| is_behind_a_server(tool, name)))
    }

    /// Whether `name` means this tool, which need not be on offer.
    #[must_use]
    pub fn means(&self, name: &str, tool: &str) -> bool {
        let loosely = || tool.eq_ignore_ascii_case(name) || is_behind_a_server(tool, name);
        self.tool(name).map_or_else(loosely, |known| known == tool) || tool == name
    }
}

fn is_behind_a_server(tool: &str, name: &str) -> bool {
    let server = tool.strip_suffix(name);
    server.is_some_and(|server| server.len() > 1 && server.ends_with(['_', '-']))
}

/// What clients put into a user's message by themselves begins so.
const REMINDERS: [&str; 4] =
    ["<system-reminder>", "<environment_context>", "<turn_aborted>", "<session_context>"];

/// Returns the text behind the time that a client has put before it.
fn without_stamp(text: &str) -> &str {
    let stamped = text.trim_start().strip_prefix("<current_datetime>");
    let behind = stamped.and_then(|rest| rest.split_once("</current_datetime>"));
    behind.map_or(text, |(_, text)| text.trim_start())
}

impl Part {
    fn as_result(&self) -> Option<(&str, &str, bool)> {
        match self {
            Self::ToolResult { id, text, is_error } => Some((id, text, *is_error)),
            Self::Text(_) | Self::ToolUse { .. } | Self::Other => None,
        }
    }

    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => {
                let begin = text.trim_start();
                let reminder = REMINDERS.iter().any(|reminder| begin.starts_with(reminder));
                (!reminder).then(|| without_stamp(text))
            }
            Self::ToolUse { .. } | Self::ToolResult { .. } | Self::Other => None,
        }
    }
}

/// What is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A message of the model.
    Reply(Reply),
    /// A refusal of the request.
    Error(HttpError),
    /// The refusal of a prompt that is too long for the model, in the wire's words.
    Overflow,
}

/// A message of the model, and how it is to be brought.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// What it consists of, in order.
    pub steps: Vec<Step>,
    /// Where the connection breaks, if it does.
    pub cut: Option<Cut>,
    /// An error that is told in the stream behind the steps, instead of the message's end. What
    /// is not streamed is refused with it.
    pub fault: Option<HttpError>,
    /// Numbers that replace the counted ones.
    pub usage: UsageOverride,
    /// The stop reason, when it is not the natural one.
    pub stop_reason: Option<String>,
}

impl Reply {
    /// Returns a reply of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { steps: vec![Step::Text(text.into())], ..Self::default() }
    }

    /// Returns a reply that calls one tool.
    #[must_use]
    pub fn call(name: impl Into<String>, input: Value) -> Self {
        Self { steps: vec![Step::ToolUse { name: name.into(), input }], ..Self::default() }
    }

    /// Returns why the message ends.
    #[must_use]
    pub fn stop(&self) -> Stop<'_> {
        let calls = self.steps.iter().any(|step| matches!(step, Step::ToolUse { .. }));
        match self.stop_reason.as_deref() {
            None if calls => Stop::Tools,
            None | Some("end_turn" | "stop_sequence") => Stop::End,
            Some("tool_use") => Stop::Tools,
            Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
            Some("refusal") => Stop::Refused,
            Some("pause_turn") => Stop::Paused,
            Some(other) => Stop::Other(other),
        }
    }
}

/// Why a message ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop<'a> {
    /// The model has said all.
    End,
    /// It calls tools.
    Tools,
    /// There is no room for more.
    Length,
    /// It does not want to say this.
    Refused,
    /// It wants to be asked again, to go on.
    Paused,
    /// A word of one wire, which is sent as it is.
    Other(&'a str),
}

/// One step of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A block of text.
    Text(String),
    /// A block of thinking.
    Thinking(String),
    /// A call of a tool.
    ToolUse {
        /// The tool.
        name: String,
        /// Its arguments; a text is sent as it is where the wire can: what a freeform tool is
        /// given, or arguments that are no object.
        input: Value,
    },
    /// Nothing is sent for so long, but for pings.
    Delay(Duration),
}

/// Where a connection breaks in the middle of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// After so many bytes of the body.
    Bytes(usize),
    /// After so many whole blocks; 0 = after the message has begun.
    Blocks(usize),
}

/// Numbers of a reply's usage that are told instead of the counted ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageOverride {
    /// Tokens read, but for those from and to the cache.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read_input_tokens: Option<u64>,
    /// Tokens written to the cache.
    pub cache_creation_input_tokens: Option<u64>,
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpError {
    /// The status code.
    pub status: u16,
    /// Further headers, such as `retry-after`.
    pub headers: Vec<(String, String)>,
    /// The error's type in the wire's words; absent = the usual one of the status.
    pub kind: Option<String>,
    /// The error's code, on wires that have one beside the type; absent = the usual one.
    pub code: Option<String>,
    /// The field that is wrong, on wires that name it.
    pub param: Option<String>,
    /// The sentence; empty = the usual one of the status.
    pub message: String,
    /// A body that is sent as it is, instead of the wire's own form.
    pub body: Option<String>,
}

impl HttpError {
    /// Returns a plain refusal.
    #[must_use]
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), ..Self::default() }
    }
}

/// About how many tokens a text has: one for four bytes.
#[must_use]
pub fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}
