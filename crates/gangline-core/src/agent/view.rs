//! What others may see of an agent.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    id::{MessageId, TurnId},
    message::{WordError, words},
};

words! {
    /// Where the agent stands.
    PhaseName, "a phase" {
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
