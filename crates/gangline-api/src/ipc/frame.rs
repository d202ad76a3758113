//! What a daemon sends: the response to a request, and what comes unasked (R0-50, R0-51, R1-15).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    error::{EncodeError, FrameError},
    id::RequestId,
};
use crate::event::EventRecord;

/// One line from the daemon.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// The response to one request.
    Response(Response),
    /// A word of the supervisor to the agent.
    Whisper(Whisper),
    /// An event, after `subscribe`.
    Event(Box<EventRecord>),
}

/// The response to one request. Its fields are written in this order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "response")]
pub struct Response {
    /// The request's id (R0-54); `null` if it had none that could be read.
    #[serde(default)]
    pub id: Option<RequestId>,
    /// Whether it was done.
    pub ok: bool,
    /// The command's data; always there when `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// What went wrong; always there unless `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What is odd although it was done, such as `Mentioned nick not found: x`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Response {
    /// Returns the response of a request that was done.
    ///
    /// # Errors
    /// The data has no form in JSON.
    pub fn done(id: Option<RequestId>, data: &impl Serialize) -> Result<Self, EncodeError> {
        let data = serde_json::to_value(data).map_err(EncodeError::Json)?;
        Ok(Self { id, ok: true, data: Some(data), error: None, warnings: Vec::new() })
    }

    /// Returns the response of a request that was not done.
    #[must_use]
    pub fn failed(id: Option<RequestId>, error: impl Into<String>) -> Self {
        Self { id, ok: false, data: None, error: Some(error.into()), warnings: Vec::new() }
    }

    /// Writes the response to a request of [`super::Form::Cmd`] as one line, line end included:
    /// `{"ok":true}` or `{"ok":false,"error":"…"}` (R2-31).
    ///
    /// # Errors
    /// A value in it has no form in JSON.
    pub fn encode_short(&self) -> Result<Vec<u8>, EncodeError> {
        let short = Short { ok: self.ok, error: self.error.as_deref() };
        let mut line = serde_json::to_vec(&short).map_err(EncodeError::Json)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// A word of the supervisor to the agent (R0-51).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "whisper")]
pub struct Whisper {
    /// Its kind: `CORRECTION`, `REMINDER`, `THINK_DEEPER` …
    pub whisper_type: String,
    /// What it says.
    pub message: String,
}

#[derive(Serialize)]
struct Short<'a> {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "event")]
struct EventOut<'a> {
    event: &'a EventRecord,
}

#[derive(Deserialize)]
struct EventIn {
    event: Box<EventRecord>,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
}

impl Frame {
    /// Reads one line, with or without its line end; `None` for a frame of a newer version.
    ///
    /// # Errors
    /// [`FrameError`]: no frame at all, or one that is known and broken.
    pub fn decode(line: &[u8]) -> Result<Option<Self>, FrameError> {
        let Kind { kind } = serde_json::from_slice(line).map_err(FrameError::NotAFrame)?;
        let broken = |kind| move |source| FrameError::Body { kind, source };
        Ok(match kind.as_str() {
            "response" => {
                let response = serde_json::from_slice(line).map_err(broken("response"))?;
                Some(Self::Response(response))
            }
            "whisper" => {
                let whisper = serde_json::from_slice(line).map_err(broken("whisper"))?;
                Some(Self::Whisper(whisper))
            }
            "event" => {
                let event: EventIn = serde_json::from_slice(line).map_err(broken("event"))?;
                Some(Self::Event(event.event))
            }
            _ => None,
        })
    }

    /// Writes the frame as one line, line end included.
    ///
    /// # Errors
    /// A value in it has no form in JSON.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let line = match self {
            Self::Response(response) => serde_json::to_vec(response),
            Self::Whisper(whisper) => serde_json::to_vec(whisper),
            Self::Event(event) => serde_json::to_vec(&EventOut { event }),
        };
        let mut line = line.map_err(EncodeError::Json)?;
        line.push(b'\n');
        Ok(line)
    }
}
