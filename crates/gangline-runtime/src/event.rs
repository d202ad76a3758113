//! What a backend tells the daemon, in one shape for all of them (R0-18).

use gangline_core::{
    TurnId,
    block::Block,
    effort::EffortLevel,
    usage::{MICROS_MAX, TOKENS_MAX},
};
use serde::{Deserialize, Serialize};

use crate::{Command, NamedFile, Refusal, SessionId};

/// One complete message of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The model that spoke, as the backend names it.
    pub model: String,
    /// Its blocks, in order.
    pub content: Vec<Block>,
}

/// Tokens of one model call, or of one turn where the backend tells no finer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// The model that was called; empty = the session's.
    pub model: String,
    /// Tokens read, without those of the cache.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Tokens written to the cache.
    pub cache_write_tokens: u64,
    /// What it cost, in millionths of a dollar, if the backend says so.
    pub cost_micros: Option<u64>,
    /// How many tokens the conversation holds after it, if known: not the sum of a turn's calls.
    pub context_tokens: Option<u64>,
    /// How many tokens the model's context can hold, if known.
    pub context_window: Option<u64>,
}

impl Usage {
    /// Returns the numbers as they are believed: a program passes on what its model's API told it.
    #[must_use]
    pub fn bounded(&self) -> Self {
        let tokens = |many: u64| many.min(TOKENS_MAX);
        Self {
            model: self.model.clone(),
            input_tokens: tokens(self.input_tokens),
            output_tokens: tokens(self.output_tokens),
            cache_read_tokens: tokens(self.cache_read_tokens),
            cache_write_tokens: tokens(self.cache_write_tokens),
            cost_micros: self.cost_micros.map(|micros| micros.min(MICROS_MAX)),
            context_tokens: self.context_tokens.map(tokens),
            context_window: self.context_window.map(tokens),
        }
    }
}

/// A tool that waits for a human's word.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalAsk {
    /// The backend's own id of the request.
    pub request: String,
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub input: serde_json::Value,
    /// The backend asked without naming the call: these are the tool and arguments of one that it
    /// announced before. A person may decide by them; no rule may.
    pub presumed: bool,
    /// The files that the call names, if it is one that uses files, and where they lead.
    pub files: Vec<NamedFile>,
}

/// Why a turn failed, as far as the backend tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The credentials were refused or are missing.
    Auth,
    /// The conversation no longer fits the model's context.
    ContextOverflow,
    /// The provider answered with an error that a retry did not cure.
    Provider,
    /// The request was refused as wrong, for instance an unknown model.
    Request,
    /// The turn made as many calls of the model as one may.
    StepLimit,
    /// Anything else.
    Other,
}

impl FailureKind {
    /// Returns the word for the database and the wires.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::ContextOverflow => "context_overflow",
            Self::Provider => "provider",
            Self::Request => "request",
            Self::StepLimit => "step_limit",
            Self::Other => "other",
        }
    }
}

/// How the backend ended a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnResult {
    /// By itself.
    Completed,
    /// After an interrupt.
    Interrupted,
    /// With an error.
    Failed {
        /// What kind.
        kind: FailureKind,
        /// One line for people.
        why: String,
    },
    /// The provider wants us to wait.
    RateLimited {
        /// Seconds to wait, if it said.
        retry_after: Option<u64>,
    },
    /// The backend has no login, or no longer one (R2-43): nothing was done, and nothing will be
    /// before a human has logged in.
    NeedsLogin {
        /// What the human has to do, in one line.
        hint: String,
    },
}

/// One thing that happened in a backend.
#[derive(Debug, Clone, PartialEq)]
pub enum RuntimeEvent {
    /// Prompts are taken from now on.
    Ready {
        /// The session's id, by which it can be resumed (R0-06, R0-16).
        session: SessionId,
    },
    /// The session goes on under another id: it has to be resumed by this one (R0-16).
    Session {
        /// The id.
        session: SessionId,
    },
    /// The backend began a turn that nobody asked for. Answered by [`Command::Adopt`]; its
    /// events wait until then.
    Began,
    /// A sign of life that is nothing else: a heartbeat, a retry. At most one a second.
    Alive {
        /// The turn.
        turn: TurnId,
    },
    /// The program lives, and waits for something that is not the model and not a tool, such as a
    /// hook of its configuration. It does not keep the turn open.
    Waits {
        /// The turn.
        turn: TurnId,
        /// What it waits for, in a few words.
        on: String,
    },
    /// The backend found out at its start that it has no login (R2-43): no prompt can be answered
    /// before [`RuntimeEvent::LoggedIn`]. Comes before [`RuntimeEvent::Ready`].
    NeedsLogin {
        /// What somebody has to do, in one line.
        hint: String,
    },
    /// The backend is logged in again, after [`TurnResult::NeedsLogin`] or
    /// [`RuntimeEvent::NeedsLogin`].
    LoggedIn,
    /// The effort of the model was changed by [`Command::SetEffort`].
    Effort {
        /// The level that it was raised to; `None` = it is the ground level again.
        raised: Option<EffortLevel>,
    },
    /// The context is being shortened.
    Compacting,
    /// The context was shortened, or could not be.
    Compacted {
        /// Why it could not be; `None` = it was.
        failed: Option<String>,
    },
    /// The prompt reached the model.
    Accepted {
        /// The turn.
        turn: TurnId,
    },
    /// What was added by [`Command::Steer`] has reached the model: what comes from now on
    /// may answer it.
    Steered {
        /// The turn.
        turn: TurnId,
        /// The id of the added prompt.
        uuid: String,
    },
    /// The model said something.
    Message {
        /// The turn.
        turn: TurnId,
        /// What it said.
        message: AssistantMessage,
    },
    /// A tool ran.
    ToolResult {
        /// The turn.
        turn: TurnId,
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// Whether the tool reported an error.
        is_error: bool,
        /// What it returned.
        content: String,
    },
    /// A tool waits for a human.
    ApprovalAsked {
        /// The turn.
        turn: TurnId,
        /// What waits.
        ask: ApprovalAsk,
    },
    /// A tool waits no longer for an answer, and takes none: the program took its question back in
    /// the middle of the turn. What is open when a turn ends is not told.
    ApprovalWithdrawn {
        /// The turn.
        turn: TurnId,
        /// The id of the [`ApprovalAsk`].
        request: String,
    },
    /// A tool that changes something has run, and the program asked nobody although it was to: the
    /// agent's permissions do not hold with it. Told once in a session of the adapter.
    Unasked {
        /// The turn.
        turn: TurnId,
        /// The tool's name.
        tool: String,
        /// Its arguments.
        input: serde_json::Value,
    },
    /// Tokens were spent.
    Usage {
        /// The turn.
        turn: TurnId,
        /// How many.
        usage: Usage,
    },
    /// Something the operator may want to know: a retry, a warning.
    Notice {
        /// One line.
        text: String,
    },
    /// The turn is over.
    Finished {
        /// The turn.
        turn: TurnId,
        /// How it ended.
        result: TurnResult,
    },
    /// The session did not take a command; nothing else follows from it.
    Refused {
        /// The command.
        command: Command,
        /// Why not.
        why: Refusal,
    },
    /// The backend is gone (R0-20).
    Exited {
        /// 0 after [`Command::Stop`], else the program's code or -1.
        code: i32,
    },
}

impl RuntimeEvent {
    /// Returns the turn that it is about, if it is about one.
    #[must_use]
    pub fn turn(&self) -> Option<TurnId> {
        match self {
            Self::Accepted { turn }
            | Self::Steered { turn, .. }
            | Self::Alive { turn }
            | Self::Waits { turn, .. }
            | Self::Message { turn, .. }
            | Self::ToolResult { turn, .. }
            | Self::ApprovalAsked { turn, .. }
            | Self::ApprovalWithdrawn { turn, .. }
            | Self::Unasked { turn, .. }
            | Self::Usage { turn, .. }
            | Self::Finished { turn, .. } => Some(*turn),
            Self::Ready { .. }
            | Self::Session { .. }
            | Self::Began
            | Self::NeedsLogin { .. }
            | Self::LoggedIn
            | Self::Effort { .. }
            | Self::Compacting
            | Self::Compacted { .. }
            | Self::Notice { .. }
            | Self::Refused { .. }
            | Self::Exited { .. } => None,
        }
    }
}
