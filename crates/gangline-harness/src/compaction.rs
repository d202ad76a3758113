//! Shortening a conversation, as it is told: its steps, and how it ends (C13).

use crate::client::error::ApiError;
use crate::session::SessionError;
use crate::wire::Usage;

/// A step of shortening the conversation (C13).
#[derive(Debug)]
pub enum Compaction<'a> {
    /// A summary is being made.
    Begun,
    /// It stands in the place of what came before.
    Done(&'a Compacted),
    /// There is none; nothing has changed.
    Failed(&'a CompactError),
}

/// What a shortened conversation begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The model's summary of what is no longer sent.
    pub summary: String,
    /// What it cost to make it.
    pub usage: Usage,
}

/// Why a conversation was not shortened. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CompactError {
    /// A prompt is running.
    #[error("a prompt is running")]
    Busy,
    /// There is nothing that a summary could replace.
    #[error("there is nothing to shorten")]
    Nothing,
    /// [`Harness::cancel`](crate::Harness::cancel) was called.
    #[error("the shortening was cancelled")]
    Cancelled,
    /// The API failed.
    #[error("cannot get a summary")]
    Api(#[source] ApiError),
    /// The model answered without one.
    #[error("the model gave no summary")]
    NoSummary,
    /// The session log failed.
    #[error("cannot keep the session")]
    Session(#[from] SessionError),
}
