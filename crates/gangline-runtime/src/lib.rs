//! What a backend is to the daemon: the [`Runtime`] trait, its events, and the adapters.
//!
//! An adapter knows its own program and nothing of rooms, people or messages: who asks and why
//! is the daemon's business. Start at [`Runtime`]; the adapters are made by [`adapters::make`].

pub mod acp;
pub mod adapters;
mod asked;
pub mod claude;
pub mod codex;
mod command;
pub mod event;
pub mod folder;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod native;
pub mod options;
pub mod past;
mod program;
mod reading;
pub mod registry;
pub mod session;
pub mod shell;
pub mod tmux;
pub mod tools;
pub mod toolserver;

pub use asked::{NamedFile, Way, moved};
pub use command::Command;
pub use event::{ApprovalAsk, AssistantMessage, FailureKind, RuntimeEvent, TurnResult, Usage};
pub use gangline_core::{block::Block, permission::Permissions};
pub use gangline_mcp::ToolSpec;
pub use gangline_os::mcp::{McpPlace, McpServer};
pub use options::{
    Capabilities, Mode, Purpose, SESSION_VARIABLE, SessionFilter, SessionHandle, SessionId,
    StartOptions, Thinking,
};
pub use past::{NoPast, Past};
pub use session::{EVENT_QUEUE, Session};
pub use tools::{Aside, NoTools, ToolCall, ToolHost};
pub use toolserver::ToolServer;

use std::collections::BTreeMap;

use async_trait::async_trait;
use gangline_core::TurnId;
use gangline_os::task::TaskGroup;
use serde_json::Value;

/// One prompt for one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The turn it opens.
    pub turn: TurnId,
    /// The whole text, as the backend shall see it.
    pub text: String,
    /// The id of the prompt, recorded before it is given: where the backend repeats it, its
    /// signs belong to this prompt and no other.
    pub uuid: String,
}

/// A human's or a rule's word on one approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalReply {
    /// The backend's own id of the request.
    pub request: String,
    /// What was decided.
    pub answer: Answer,
}

/// What was decided about an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The tool may run.
    Allow,
    /// The tool may not run; the model is told why.
    Deny {
        /// One line for the model.
        reason: String,
    },
}

/// Why a runtime is stopped (R3-04).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The daemon shuts down.
    Shutdown,
    /// The operator or the state machine wants a fresh start.
    Restart,
    /// It did not react to an interrupt in time.
    Stuck,
}

/// Why a session could not be started, or its kind not be listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuntimeError {
    /// The backend cannot do this at all; [`Capabilities`] says so beforehand.
    #[error("the {runtime} backend cannot {what}")]
    Unsupported {
        /// The backend's name.
        runtime: &'static str,
        /// A verb phrase.
        what: &'static str,
    },
    /// The backend could not be started.
    #[error("cannot start the {runtime} backend: {why}")]
    Start {
        /// The backend's name.
        runtime: &'static str,
        /// One line for the operator.
        why: String,
    },
}

/// Why a session did not take a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The backend cannot do this at all; [`Session::can`] says so beforehand.
    #[error("the {runtime} backend cannot {what}")]
    Unsupported {
        /// The backend's name.
        runtime: &'static str,
        /// A verb phrase.
        what: &'static str,
    },
    /// The backend is still in a turn.
    #[error("the {runtime} backend is busy with another turn")]
    Busy {
        /// The backend's name.
        runtime: &'static str,
    },
}

/// One backend (R0-03, R3-04): what it can do, and how a session of it begins. Everything else goes
/// through the queues of the [`Session`].
#[async_trait]
pub trait Runtime: Send + Sync {
    /// Returns what this backend can do when it is started with this command and these fields; the
    /// daemon asks this, never the backend's name.
    ///
    /// # Errors
    /// What is wrong with its own fields of the configuration, in one line: a start with them would
    /// fail.
    fn capabilities(
        &self,
        command: Option<&[String]>,
        extra: &BTreeMap<String, Value>,
    ) -> Result<Capabilities, String>;

    /// Starts a session, or goes on with `options.resume`. The session emits `Ready` when prompts
    /// are taken (R0-04 … R0-07). Its task runs in the owner's group: whoever drops that kills the
    /// program at once. Not cancel-safe: a dropped start may leave a child until the sweep.
    ///
    /// # Errors
    /// [`RuntimeError::Start`] if the backend cannot run here.
    async fn start(
        &self,
        options: StartOptions,
        tasks: &mut TaskGroup,
    ) -> Result<Session, RuntimeError>;

    /// Returns the sessions that the backend keeps and that could be gone on with (R3-04), the
    /// newest first. `options` are those of a start: they tell where its sessions lie. Cancel-safe:
    /// a program that was started for it ends.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] without the capability.
    async fn list_sessions(
        &self,
        _options: &StartOptions,
        _filter: &SessionFilter,
    ) -> Result<Vec<SessionHandle>, RuntimeError> {
        Err(RuntimeError::Unsupported { runtime: "this", what: "list its sessions" })
    }
}
