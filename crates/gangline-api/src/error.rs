//! The one error form of the edge: code, sentence, hints.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a request could not be met; what a caller may branch on.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request itself is wrong.
    BadRequest,
    /// No or a wrong token.
    Unauthorized,
    /// The caller is known and may not.
    Forbidden,
    /// There is no such agent, message, approval …
    NotFound,
    /// It exists in a state that does not allow this (decided already, parked …).
    Conflict,
    /// More bytes than are taken.
    TooLarge,
    /// A queue is full; the same request may pass later.
    Busy,
    /// The part that is needed does not run or is degraded.
    Unavailable,
    /// The configuration cannot be used.
    Config,
    /// A fault of Gangline's own.
    Internal,
    /// A code of a newer version.
    #[serde(other)]
    Unknown,
}

impl ErrorCode {
    /// Returns the status of an HTTP answer with this error.
    #[must_use]
    pub fn http_status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::Busy => 429,
            Self::Unavailable => 503,
            Self::Config | Self::Internal | Self::Unknown => 500,
        }
    }
}

/// An error as every surface gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiError {
    /// What a program may branch on.
    pub code: ErrorCode,
    /// What a person reads: lower case, no full stop.
    pub message: String,
    /// What to do about it, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

impl ApiError {
    /// Returns an error without hints.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hints: Vec::new() }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hints.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

impl std::error::Error for ApiError {}
