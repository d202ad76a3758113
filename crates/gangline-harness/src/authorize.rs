//! The question asked before each tool call, and its answer.

use std::path::PathBuf;

use async_trait::async_trait;

use crate::tool::ToolCall;

/// What the authorizer decided about one tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authorization {
    /// The tool runs.
    Allow,
    /// The tool runs, and uses this file or folder and no other: its path was resolved and judged.
    AllowAt(PathBuf),
    /// The tool does not run; the model is told the reason as a tool error.
    Deny {
        /// Told to the model, word for word.
        reason: String,
    },
}

/// Decides about tool calls, one at a time, in the order in which they will run.
#[async_trait]
pub trait Authorizer: Send + Sync {
    /// Answers for one call. It may take hours; cancelling the prompt drops the future, so an
    /// implementation withdraws its question when it is dropped.
    async fn authorize(&self, call: &ToolCall) -> Authorization;
}
