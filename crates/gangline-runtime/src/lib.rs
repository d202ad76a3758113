//! What a backend is to the daemon: the [`Runtime`] trait, its events, and the adapters.
//!
//! An adapter knows its own program and nothing of rooms, people or messages: who asks and why
//! is the daemon's business. Start at [`Runtime`]; the adapters are made by [`registry::make`].

pub mod acp;
pub mod claude;
pub mod codex;
pub mod conformance;
mod door;
pub mod event;
mod handle;
pub mod native;
pub mod options;
mod program;
mod reading;
pub mod registry;
pub mod shell;
pub mod tmux;
pub mod tools;
pub mod toolserver;

pub use event::{
    ApprovalAsk, AssistantMessage, Block, FailureKind, RuntimeEvent, TurnResult, Usage,
};
pub use gangline_core::permission::Permissions;
pub use options::{
    Capabilities, McpPlace, McpServer, Mode, SESSION_VARIABLE, SessionFilter, SessionHandle,
    SessionId, StartOptions, Thinking,
};
pub use tools::{ToolCall, ToolHost, ToolSpec};
pub use toolserver::ToolServer;

use std::collections::BTreeMap;

use async_trait::async_trait;
use gangline_core::TurnId;
use gangline_os::proc;
use serde_json::Value;
use tokio::sync::mpsc;

/// How many events an adapter may have under way before it waits for the daemon.
pub const EVENT_QUEUE: usize = 64;

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
pub struct Verdict {
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

/// Something the backend could not do.
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
    /// No session is open.
    #[error("the {runtime} backend is not running")]
    NotRunning {
        /// The backend's name.
        runtime: &'static str,
    },
    /// The backend is still in a turn.
    #[error("the {runtime} backend is busy with another turn")]
    Busy {
        /// The backend's name.
        runtime: &'static str,
    },
}

/// One backend in one session (R0-03, R3-04).
///
/// The daemon calls the methods from one task, one at a time. None of them waits for the model:
/// progress comes as [`RuntimeEvent`]s on the channel given to [`Runtime::start`], in order, and
/// every prompt that was accepted is followed by exactly one `Finished` or `Exited`.
#[async_trait]
pub trait Runtime: Send + Sync {
    /// Returns what this backend can do; the daemon asks this, never the backend's name.
    fn capabilities(&self) -> Capabilities;

    /// Returns what it can do when it is started with this command and these fields: where it
    /// drives any program, it depends on the program.
    fn capabilities_of(
        &self,
        _command: Option<&[String]>,
        _extra: &BTreeMap<String, Value>,
    ) -> Capabilities {
        self.capabilities()
    }

    /// Returns what is wrong with its own fields of the configuration, in one line: a start with them
    /// would fail.
    fn fault_of(
        &self,
        _command: Option<&[String]>,
        _extra: &BTreeMap<String, Value>,
    ) -> Option<String> {
        None
    }

    /// Starts a session, or goes on with `options.resume`. Emits `Ready` when prompts are taken
    /// (R0-04 … R0-07). Not cancel-safe: a dropped start may leave a child until the adapter is
    /// dropped too.
    ///
    /// # Errors
    /// [`RuntimeError::Start`] if the backend cannot run here.
    async fn start(
        &mut self,
        options: StartOptions,
        events: mpsc::Sender<RuntimeEvent>,
    ) -> Result<SessionHandle, RuntimeError>;

    /// Goes on with a session in its folder (R3-04): a start by its id.
    ///
    /// # Errors
    /// Those of [`Runtime::start`].
    async fn resume(
        &mut self,
        handle: &SessionHandle,
        mut options: StartOptions,
        events: mpsc::Sender<RuntimeEvent>,
    ) -> Result<SessionHandle, RuntimeError> {
        options.resume.clone_from(&handle.session);
        options.workdir.clone_from(&handle.workdir);
        self.start(options, events).await
    }

    /// Returns the open session as it is now; `None` before its start and after its end.
    fn session(&self) -> Option<SessionHandle>;

    /// Returns whether the program behind a handle still runs (R3-04): of this adapter's own
    /// session, or of one that an earlier daemon had. A backend without a program of its own
    /// answers for itself only.
    fn detect_running(&self, handle: &SessionHandle) -> bool {
        match (handle.pid, handle.pid_start) {
            (Some(pid), Some(start)) => proc::alive(pid, start),
            _ => self.session().is_some_and(|own| own.session == handle.session),
        }
    }

    /// Returns the sessions that the backend keeps and that could be gone on with (R3-04), the
    /// newest first. `options` are those of a start: they tell where its sessions lie. Works
    /// without an open session. Cancel-safe: a program that was started for it ends.
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

    /// Hands over one prompt and returns at once (R0-13). Before the session is ready, the prompt
    /// waits for that.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] while a turn is open: queueing is the daemon's part (C23).
    async fn prompt(&mut self, prompt: Prompt) -> Result<(), RuntimeError>;

    /// Makes the turn that the backend began by itself ([`RuntimeEvent::Began`]) this one: its
    /// events follow. Ignored if that turn is over and was adopted already.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] where no turn begins unasked.
    async fn adopt(&mut self, _turn: TurnId) -> Result<(), RuntimeError> {
        Err(RuntimeError::Unsupported { runtime: "this", what: "begin a turn by itself" })
    }

    /// Adds text to the open turn, and returns at once; [`RuntimeEvent::Steered`] follows when the
    /// model has it. If the turn ends before, nothing follows, and it never has it.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] without the capability.
    async fn steer(&mut self, prompt: Prompt) -> Result<(), RuntimeError>;

    /// Asks the backend to end the open turn early; safe when idle.
    ///
    /// # Errors
    /// [`RuntimeError::NotRunning`] without a session.
    async fn interrupt(&mut self) -> Result<(), RuntimeError>;

    /// Answers an `ApprovalAsked`. An answer to a request that is gone is ignored.
    ///
    /// # Errors
    /// [`RuntimeError::NotRunning`] without a session.
    async fn decide(&mut self, verdict: Verdict) -> Result<(), RuntimeError>;

    /// Changes the model from the next turn on.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] without the capability.
    async fn set_model(&mut self, model: &str) -> Result<(), RuntimeError>;

    /// Returns the name by which [`Runtime::set_model`] takes the backend's own model, if it has
    /// one.
    fn default_model(&self) -> Option<&'static str> {
        None
    }

    /// Shortens the context: [`RuntimeEvent::Compacting`], then [`RuntimeEvent::Compacted`]. The
    /// session does it between turns; a prompt that comes meanwhile waits.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] without the capability.
    async fn compact(&mut self) -> Result<(), RuntimeError>;

    /// Forgets the context: the next turn begins an empty session. Its id is told by
    /// [`RuntimeEvent::Session`] once it is known, also if it is the old one's.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] without the capability.
    async fn clear(&mut self) -> Result<(), RuntimeError>;

    /// Ends the session: interrupts, waits, then kills (R0-08 … R0-11). Emits `Exited`.
    async fn stop(&mut self, reason: StopReason);

    /// Returns whether a prompt would be taken now (R3-04).
    fn is_ready(&self) -> bool;
}
