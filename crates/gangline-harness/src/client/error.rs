//! What went wrong between us and the API, by what the caller can do about it.

use std::{error::Error, fmt, io, time::Duration};

use gangline_os::json;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::models;

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct ApiError {
    /// What kind of failure.
    pub kind: ApiErrorKind,
    /// The API's words, or ours where it had none; may be shown to a person.
    pub message: String,
    /// HTTP status, if there was a response.
    pub status: Option<u16>,
    /// The API's id of the request, if it gave one.
    pub request_id: Option<String>,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiErrorKind {
    /// The key is wrong or may not do this (401, 403).
    Auth,
    /// Too many requests (429).
    RateLimited {
        /// How long the API asked us to wait.
        retry_after: Option<Duration>,
    },
    /// The API has no capacity (529).
    Overloaded {
        /// How long the API asked us to wait.
        retry_after: Option<Duration>,
    },
    /// The API failed (5xx, 408, 409).
    Server {
        /// How long the API asked us to wait.
        retry_after: Option<Duration>,
    },
    /// No connection could be made.
    Connect,
    /// The API's certificate is not good, or it does not speak TLS: the same until a person does something.
    Untrusted,
    /// The connection broke, fell silent, or the response ended too early.
    Dropped,
    /// The response makes no sense.
    Malformed,
    /// The conversation does not fit into the model's context.
    ContextOverflow,
    /// The API does not take back the thoughts of the conversation: instructions, tools or account
    /// are no longer those that they were thought under.
    StaleThoughts,
    /// The API does not serve this model; the message says which to use.
    ModelNotFound,
    /// The response exceeds our bounds.
    TooLarge,
    /// The API refuses the request (other 4xx).
    Invalid,
}

impl fmt::Display for ApiErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auth => "the API key was refused",
            Self::RateLimited { .. } => "rate limited",
            Self::Overloaded { .. } => "the API is overloaded",
            Self::Server { .. } => "the API failed",
            Self::Connect => "cannot connect to the API",
            Self::Untrusted => "the API's server is not trusted",
            Self::Dropped => "the connection to the API was lost",
            Self::Malformed => "the API's response makes no sense",
            Self::ContextOverflow => "the conversation is too long for the model",
            Self::StaleThoughts => "the model's earlier thoughts were refused",
            Self::ModelNotFound => "the model is not served",
            Self::TooLarge => "the API's response is too large",
            Self::Invalid => "the API refused the request",
        })
    }
}

impl ApiErrorKind {
    /// Returns whether the same request may succeed later.
    pub fn is_passing(self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::Server { .. }
            | Self::Connect
            | Self::Dropped
            | Self::Malformed => true,
            Self::Auth
            | Self::Untrusted
            | Self::ContextOverflow
            | Self::StaleThoughts
            | Self::ModelNotFound
            | Self::TooLarge
            | Self::Invalid => false,
        }
    }

    /// Returns how long the API asked us to wait.
    pub fn retry_after(self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after }
            | Self::Overloaded { retry_after }
            | Self::Server { retry_after } => retry_after,
            Self::Auth
            | Self::Connect
            | Self::Untrusted
            | Self::Dropped
            | Self::Malformed
            | Self::ContextOverflow
            | Self::StaleThoughts
            | Self::ModelNotFound
            | Self::TooLarge
            | Self::Invalid => None,
        }
    }
}

impl ApiError {
    pub(crate) fn new(kind: ApiErrorKind, message: &str) -> Self {
        Self { kind, message: message.to_owned(), status: None, request_id: None }
    }

    pub(crate) fn from_transport(error: &reqwest::Error) -> Self {
        let kind = match error.is_connect() {
            true if is_untrusted(error) => ApiErrorKind::Untrusted,
            true => ApiErrorKind::Connect,
            false => ApiErrorKind::Dropped,
        };
        let mut message = String::new();
        let mut cause: Option<&dyn Error> = Some(error);
        while let Some(error) = cause {
            let separator = if message.is_empty() { "" } else { ": " };
            message.push_str(&format!("{separator}{error}"));
            cause = error.source();
        }
        Self::new(kind, &message)
    }

    /// Reads a response that is not a success.
    pub(crate) fn from_response(
        status: u16,
        headers: &HeaderMap,
        body: &[u8],
        model: &str,
    ) -> Self {
        let parsed: Value = json::from_slice(body).unwrap_or_default();
        let error_type = parsed["error"]["type"].as_str().unwrap_or_default();
        let message = match parsed["error"]["message"].as_str() {
            Some(message) => message.to_owned(),
            None => format!("status {status}: {}", String::from_utf8_lossy(body).trim()),
        };
        let retry_after = retry_after(headers);
        let kind = match status {
            401 | 403 => ApiErrorKind::Auth,
            404 if error_type == "not_found_error" => ApiErrorKind::ModelNotFound,
            413 => ApiErrorKind::ContextOverflow,
            429 => ApiErrorKind::RateLimited { retry_after },
            529 => ApiErrorKind::Overloaded { retry_after },
            408 | 409 | 500.. => ApiErrorKind::Server { retry_after },
            _ if is_overflow(&message) => ApiErrorKind::ContextOverflow,
            _ if is_stale_thought(&message) => ApiErrorKind::StaleThoughts,
            _ => ApiErrorKind::Invalid,
        };
        let message = match kind {
            ApiErrorKind::ModelNotFound => format!("{} ({message})", models::advice(model)),
            _ => message,
        };
        let request_id = headers.get("request-id").and_then(|id| id.to_str().ok());
        Self { kind, message, status: Some(status), request_id: request_id.map(str::to_owned) }
    }

    /// Reads the `error` of an event in mid-stream.
    pub(crate) fn from_event(error: &Value) -> Self {
        let message = error["message"].as_str().unwrap_or("the API ended the response");
        let kind = match error["type"].as_str().unwrap_or_default() {
            "overloaded_error" => ApiErrorKind::Overloaded { retry_after: None },
            "rate_limit_error" => ApiErrorKind::RateLimited { retry_after: None },
            "authentication_error" | "permission_error" => ApiErrorKind::Auth,
            "invalid_request_error" if is_overflow(message) => ApiErrorKind::ContextOverflow,
            "invalid_request_error" => ApiErrorKind::Invalid,
            "request_too_large" => ApiErrorKind::ContextOverflow,
            _ => ApiErrorKind::Server { retry_after: None },
        };
        Self::new(kind, message)
    }
}

/// Returns whether TLS failed for a reason that does not pass.
fn is_untrusted(error: &reqwest::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        if let Some(rustls::Error::InvalidCertificate(_) | rustls::Error::InvalidMessage(_)) =
            of_tls(error)
        {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Returns the error of TLS that errors of reading and writing are wrapped around.
fn of_tls<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    match error.downcast_ref::<io::Error>() {
        Some(error) => of_tls(error.get_ref()?),
        None => error.downcast_ref(),
    }
}

fn is_overflow(message: &str) -> bool {
    message.contains("prompt is too long") || message.contains("exceed context limit")
}

/// The API signs a thought together with all that stood before it.
fn is_stale_thought(message: &str) -> bool {
    message.contains("thinking")
        && (message.contains("Invalid `signature`") || message.contains("different conversation"))
}

/// Returns the wait that the headers ask for, in whole or broken seconds; dates are not read.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get("retry-after")?.to_str().ok()?.trim().parse::<f64>().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
