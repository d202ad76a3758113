//! What [`super::Turns`] keeps: runs, turns, commands, and what waits to be adopted.

use gangline_core::{TurnId, effort::EffortLevel};

use crate::{
    ApprovalAsk, AssistantMessage, RuntimeEvent, TurnResult, Usage,
    claude::{decode::Fate, mcp, turn_result::Asked},
};

/// A command of the program that is no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Compact,
    Clear,
}

#[derive(Debug)]
pub(super) struct Job {
    pub(super) uuid: String,
    pub(super) order: Order,
    /// The end of the compaction was told.
    pub(super) told: bool,
}

/// Whose run it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    /// The open turn's.
    Turn,
    /// A command's, by its uuid.
    Job(String),
    /// Nobody's so far: its output waits to be adopted.
    Unasked,
    /// Nobody's, and our prompt waits for its end.
    Aside,
}

/// What one run has shown so far.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) owner: Owner,
    pub(super) model: String,
    pub(super) context: Option<u64>,
    /// The last text of the model, or of the program in its place.
    pub(super) said: String,
    pub(super) error: Option<String>,
    pub(super) retry_after: Option<u64>,
}

impl Run {
    pub(super) fn of(owner: Owner) -> Self {
        Self {
            owner,
            model: String::new(),
            context: None,
            said: String::new(),
            error: None,
            retry_after: None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    /// `None`: adopted.
    pub(super) prompt: Option<String>,
    /// Texts of this turn, the prompt's among them, that no result has named yet.
    pub(super) waiting: Vec<String>,
    /// Those of them that were added and have not reached the model: the name that the program
    /// knows, and the one that the daemon gave.
    pub(super) added: Vec<(String, String)>,
    pub(super) accepted: bool,
    pub(super) asked: Asked,
    /// What the last of its results said, as long as texts wait.
    pub(super) result: Option<TurnResult>,
    /// What became of the prompt, if it was told before a result.
    pub(super) fate: Option<Fate>,
}

/// A turn that nobody has adopted.
#[derive(Debug, Default)]
pub(super) struct Bundle {
    pub(super) held: Vec<Held>,
    pub(super) said: String,
    pub(super) result: Option<TurnResult>,
}

#[derive(Debug)]
pub(super) enum Held {
    Out(Out),
    Call(mcp::Call),
}

/// Something that belongs to a turn.
#[derive(Debug)]
pub(super) enum Out {
    Accepted,
    Steered(String),
    Alive,
    Waits(String),
    Message(AssistantMessage),
    ToolResult { id: String, name: String, is_error: bool, content: String },
    Ask(ApprovalAsk),
    TakenBack(String),
    Usage(Usage),
    Finished(TurnResult),
}

impl Out {
    pub(super) fn of(self, turn: TurnId) -> RuntimeEvent {
        match self {
            Self::Accepted => RuntimeEvent::Accepted { turn },
            Self::Steered(uuid) => RuntimeEvent::Steered { turn, uuid },
            Self::Alive => RuntimeEvent::Alive { turn },
            Self::Waits(on) => RuntimeEvent::Waits { turn, on },
            Self::Message(message) => RuntimeEvent::Message { turn, message },
            Self::ToolResult { id, name, is_error, content } => {
                RuntimeEvent::ToolResult { turn, id, name, is_error, content }
            }
            Self::Ask(ask) => RuntimeEvent::ApprovalAsked { turn, ask },
            Self::TakenBack(request) => RuntimeEvent::ApprovalWithdrawn { turn, request },
            Self::Usage(usage) => RuntimeEvent::Usage { turn, usage },
            Self::Finished(result) => RuntimeEvent::Finished { turn, result },
        }
    }
}

/// On the way to another effort (R1-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EffortStep {
    /// How hard does the model think?
    Ask,
    /// Harder than that.
    Raise(EffortLevel),
    /// Does it? Not every model has every level.
    Look(EffortLevel),
    /// As before.
    Lower,
}

/// A request of ours that waits for its answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sent {
    Initialize,
    Interrupt,
    SetModel(String),
    Effort(EffortStep),
    /// Take a text back that was not begun.
    Withdraw(String),
}
