//! The agent's state as others may see it.

use crate::{
    id::{MessageId, TurnId},
    pause::Held,
    words,
};

use super::{Agent, Draining, Phase, turn::Step};

words! {
    /// The agent's phase.
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
    /// An agent's phase, as its row, its events and people have it.
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
    pub fn public(self) -> AgentPhase {
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
    /// Its phase.
    pub phase: PhaseName,
    /// The open turn.
    pub turn: Option<TurnId>,
    /// The open turn's messages.
    pub messages: Vec<MessageId>,
    /// How many approvals the open turn waits for.
    pub approvals: usize,
    /// How many messages wait in memory.
    pub waiting: usize,
    /// Nothing new is fed, for one of [`Self::pauses`].
    pub paused: bool,
    /// Why nothing new is fed, and until when.
    pub pauses: Vec<Held>,
    /// The daemon is about to end.
    pub draining: bool,
    /// The store cannot write.
    pub degraded: bool,
    /// Nothing is fed before somebody has logged the backend in (R2-43).
    pub needs_login: bool,
    /// The last turn met the model's rate limit: nothing is fed for a while, and then again.
    pub rate_limited: bool,
}

impl Agent {
    /// Returns what others may see.
    #[must_use]
    pub fn view(&self) -> View {
        let turn = match &self.phase {
            Phase::Turn(turn) => Some(turn),
            Phase::Down | Phase::Starting { .. } | Phase::Idle { .. } | Phase::Parked => None,
        };
        View {
            phase: self.phase_name(),
            turn: turn.map(|turn| turn.id),
            messages: turn.map_or_else(Vec::new, |turn| turn.message_ids()),
            approvals: turn.map_or(0, |turn| turn.pending.len()),
            waiting: self.in_line(),
            paused: self.pauses.hold(),
            pauses: self.pauses.shown(),
            draining: self.draining != Draining::No,
            degraded: self.degraded,
            needs_login: self.needs_login,
            rate_limited: self.rate_limited,
        }
    }

    fn phase_name(&self) -> PhaseName {
        match &self.phase {
            Phase::Down => PhaseName::Down,
            Phase::Starting { .. } => PhaseName::Starting,
            Phase::Idle { .. } => PhaseName::Idle,
            Phase::Turn(turn) => match turn.step {
                Step::Taking(_) => PhaseName::Taking,
                Step::Prompting => PhaseName::Prompting,
                Step::Working => PhaseName::Working,
                Step::Interrupting(_) => PhaseName::Interrupting,
            },
            Phase::Parked => PhaseName::Parked,
        }
    }
}
