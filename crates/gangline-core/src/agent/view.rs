//! What others may see of an agent.

use crate::{
    id::{MessageId, TurnId},
    words,
};

words! {
    /// Where the agent stands.
    PhaseName, "phase" {
        /// No runtime.
        Down = "down",
        /// The runtime gets ready.
        Starting = "starting",
        /// The runtime waits for a prompt.
        Idle = "idle",
        /// A turn is being recorded.
        Taking = "taking",
        /// The prompt is on its way.
        Prompting = "prompting",
        /// The runtime works.
        Working = "working",
        /// The turn is being ended early.
        Interrupting = "interrupting",
        /// The breaker is open.
        Parked = "parked",
    }
}

words! {
    /// Where an agent stands, as its row, its events and people have it.
    AgentPhase, "phase" {
        /// No backend runs, or no daemon.
        Down = "down",
        /// The backend gets ready.
        Starting = "starting",
        /// It waits to be asked.
        Idle = "idle",
        /// A turn is open.
        Working = "working",
        /// The turn is being ended early.
        Interrupting = "interrupting",
        /// The breaker is open.
        Parked = "parked",
    }
}

impl PhaseName {
    /// Returns the phase that others are told of. To them a turn that is being recorded or prompted is
    /// open, so that a turn costs two rows, not four.
    #[must_use]
    pub fn told(self) -> AgentPhase {
        match self {
            Self::Down => AgentPhase::Down,
            Self::Starting => AgentPhase::Starting,
            Self::Idle => AgentPhase::Idle,
            Self::Taking | Self::Prompting | Self::Working => AgentPhase::Working,
            Self::Interrupting => AgentPhase::Interrupting,
            Self::Parked => AgentPhase::Parked,
        }
    }
}

/// What others may see of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct View {
    /// Where it stands.
    pub phase: PhaseName,
    /// The open turn.
    pub turn: Option<TurnId>,
    /// The open turn's messages.
    pub messages: Vec<MessageId>,
    /// How many approvals the open turn waits for.
    pub approvals: usize,
    /// How many messages wait in memory.
    pub waiting: usize,
    /// Nothing new is fed.
    pub paused: bool,
    /// The daemon is about to end.
    pub draining: bool,
    /// The store cannot write.
    pub degraded: bool,
    /// Nothing is fed before somebody has logged the backend in (R2-43).
    pub needs_login: bool,
    /// The last turn met the model's rate limit: nothing is fed for a while, and then again.
    pub rate_limited: bool,
}
