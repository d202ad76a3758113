//! Pauses: why an agent begins no new turn, kept over restarts.

use gangline_core::{
    AgentName,
    pause::{Held, PauseReason},
    redact::Redacted,
    time::WallMicros,
};
use gangline_os::clock::UnixMicros;

/// Whether a row stops new turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Holds {
    /// It does.
    Yes,
    /// It only tells: an escalation under `on_escalation: notify`, or hours of sleep from which
    /// somebody woke the agent.
    No,
}

/// A pause to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPause {
    /// Whose.
    pub agent: AgentName,
    /// Why. One that holds already gets the new end, note and author.
    pub reason: PauseReason,
    /// When it ends by itself.
    pub until: Option<UnixMicros>,
    /// Whether it stops new turns.
    pub holds: Holds,
    /// What people are told of its cause.
    pub note: Option<Redacted>,
}

impl NewPause {
    /// Returns a pause that stops new turns and has no note.
    #[must_use]
    pub fn new(agent: AgentName, reason: PauseReason, until: Option<UnixMicros>) -> Self {
        Self { agent, reason, until, holds: Holds::Yes, note: None }
    }
}

/// A pause that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseRow {
    /// Why.
    pub reason: PauseReason,
    /// When it ends by itself.
    pub until: Option<UnixMicros>,
    /// Whether it stops new turns.
    pub holds: Holds,
    /// What people are told of its cause.
    pub note: Option<Redacted>,
    /// Since when.
    pub at: UnixMicros,
}

impl PauseRow {
    /// Returns it as the state machine has it.
    #[must_use]
    pub fn held(&self) -> Held {
        Held { reason: self.reason, until: self.until.map(|at| WallMicros(at.0)) }
    }

    /// Returns whether it stops new turns now.
    #[must_use]
    pub fn stops(&self, now: UnixMicros) -> bool {
        self.holds == Holds::Yes && self.until.is_none_or(|until| until > now)
    }
}
