//! Whose interface a request is for: the form of errors and of the list of models.

use serde_json::Value;

use super::{anthropic, gemini, openai};
use crate::reply::HttpError;

/// A vendor whose interface is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vendor {
    /// The Messages wire.
    Anthropic,
    /// The Chat Completions and Responses wires.
    OpenAi,
    /// The Gemini wire.
    Gemini,
}

impl Vendor {
    /// Returns the body of a refusal.
    pub(crate) fn error_body(self, error: &HttpError, request_id: &str) -> String {
        match (&error.body, self) {
            (Some(body), _) => body.clone(),
            (None, Self::Anthropic) => anthropic::error_body(error, request_id),
            (None, Self::OpenAi) => openai::error_body(error),
            (None, Self::Gemini) => gemini::error_body(error),
        }
    }

    /// Returns the refusal of a path that is not known.
    pub(crate) fn not_found(self, method: &str, path: &str) -> HttpError {
        let message = match self {
            Self::Anthropic | Self::Gemini => format!("Not found: {path}"),
            Self::OpenAi => format!("Invalid URL ({method} {path})"),
        };
        HttpError::new(404, message)
    }

    /// Returns the header that carries the request's id, if there is one.
    pub(crate) fn request_id_header(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("request-id"),
            Self::OpenAi => Some("x-request-id"),
            Self::Gemini => None,
        }
    }

    /// Returns the list of models: the one that is none.
    pub(crate) fn models(self) -> Value {
        match self {
            Self::Anthropic => anthropic::models(),
            Self::OpenAi => openai::models(),
            Self::Gemini => gemini::models(),
        }
    }

    /// Returns one model. Every name is one: the stand-in answers to all.
    pub(crate) fn model(self, id: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::model(id),
            Self::OpenAi => openai::model(id),
            Self::Gemini => gemini::model(id),
        }
    }
}
