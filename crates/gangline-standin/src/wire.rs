//! The wires: each reads requests as strictly as the real interface does, makes them a
//! [`Conversation`], and writes answers as bytes with pauses between them.
//!
//! Pure: the server plays what they give. A wire is one module with a request and a response file;
//! what they have in common is in [`body`] and [`figures`], where a request belongs to is decided
//! by [`route`]. Start at [`Asked`].

use serde_json::Value;

use crate::reply::{Conversation, Cut, HttpError, Reply};

pub(crate) use self::{
    body::Chunk,
    figures::Ids,
    route::{Endpoint, Route},
    vendor::Vendor,
};

pub(crate) mod anthropic;
pub(crate) mod chat;
pub(crate) mod gemini;
pub(crate) mod responses;

mod body;
mod figures;
mod openai;
mod route;
mod vendor;

#[cfg(test)]
mod tests;

/// The size of a context window whose overflow is told, in tokens.
const WINDOW: u64 = 200_000;

/// In which form an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One object.
    Whole,
    /// Server-sent events.
    Events,
    /// One list of objects, written as it comes: Gemini's stream without `alt=sse`.
    List,
}

/// Why a request was refused (400), in the wire's words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    /// The field that is wrong; `None` on wires that do not name it apart.
    pub(crate) param: Option<String>,
    pub(crate) code: Option<&'static str>,
}

impl Refusal {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }
}

impl From<Refusal> for HttpError {
    fn from(Refusal { message, param, code }: Refusal) -> Self {
        Self { param, code: code.map(str::to_owned), ..Self::new(400, message) }
    }
}

/// A request that passed its wire's checks.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Of the Anthropic Messages wire.
    Messages(anthropic::Asked),
    /// Of the OpenAI Chat Completions wire.
    Chat(chat::Asked),
    /// Of the OpenAI Responses wire.
    Responses(responses::Asked),
    /// Of the Gemini wire.
    Gemini(gemini::Asked),
}

impl Asked {
    /// Returns what was asked, without the wire's spelling.
    pub(crate) fn conversation(&self) -> &Conversation {
        match self {
            Self::Messages(asked) => &asked.conversation,
            Self::Chat(asked) => &asked.conversation,
            Self::Responses(asked) => &asked.conversation,
            Self::Gemini(asked) => &asked.conversation,
        }
    }

    /// Returns the form of the answer that is wanted.
    pub(crate) fn form(&self) -> Form {
        match self {
            Self::Messages(asked) => asked.form,
            Self::Chat(asked) => asked.form,
            Self::Responses(asked) => asked.form,
            Self::Gemini(asked) => asked.form,
        }
    }

    /// Returns the body of the answer, in the form that is wanted.
    pub(crate) fn answer(&self, reply: &Reply, ids: &Ids) -> Vec<Chunk> {
        let chunks = match self {
            Self::Messages(asked) => anthropic::answer(asked, reply, ids),
            Self::Chat(asked) => chat::answer(asked, reply, ids),
            Self::Responses(asked) => responses::answer(asked, reply, ids),
            Self::Gemini(asked) => gemini::answer(asked, reply, ids),
        };
        match reply.cut {
            Some(Cut::Bytes(bytes)) => body::cut_after(chunks, bytes),
            Some(Cut::Blocks(_)) | None => chunks,
        }
    }

    /// Returns the refusal of a prompt that is too long.
    pub(crate) fn overflow(&self) -> HttpError {
        let tokens = self.conversation().input_tokens.max(1) + WINDOW;
        match self {
            Self::Messages(_) => anthropic::overflow(tokens),
            Self::Chat(_) => chat::overflow(tokens),
            Self::Responses(_) => responses::overflow(),
            Self::Gemini(_) => gemini::overflow(tokens),
        }
    }

    /// Returns what keeps a silent stream alive, where the wire has such a thing.
    pub(crate) fn ping(&self) -> Option<Chunk> {
        match self {
            Self::Messages(asked) if asked.form == Form::Events => Some(anthropic::ping()),
            Self::Messages(_) | Self::Chat(_) | Self::Responses(_) | Self::Gemini(_) => None,
        }
    }
}

/// Returns whether a tool's input may have a `description`, by the schema of its input.
fn takes_description(schema: Option<&Value>) -> bool {
    schema.is_some_and(|schema| schema.pointer("/properties/description").is_some())
}

/// Returns the text of a string or of a list of parts that have a `text`.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}
