//! Root causes: what follows from one message that no agent caused, counted over all agents.

use gangline_core::{AgentName, MessageId, TurnId, cause::Used};
use gangline_os::clock::UnixMicros;

/// One root cause, and what has become of all that follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CauseRow {
    /// The message at the root.
    pub root: MessageId,
    /// The cause that it follows from without being counted for it: a reminder's, of the turn in which
    /// the reminder was made.
    pub parent: Option<MessageId>,
    /// What its turns have used.
    pub used: Used,
    /// Up to how many turns a release has raised the limit; 0 before the first release.
    pub allowed: i64,
    /// Its messages that are held.
    pub held: i64,
    /// Since when messages are held.
    pub held_at: Option<UnixMicros>,
    /// Who ended all of it.
    pub ended_by: Option<String>,
}

/// What [`crate::Store::release`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Released {
    /// Held messages wait for their turns again.
    Done {
        /// The message at the root.
        root: MessageId,
        /// How many messages.
        messages: u64,
        /// Whose they are: notify them.
        agents: Vec<AgentName>,
    },
    /// Nothing of this cause is held.
    NotHeld {
        /// The message at the root.
        root: MessageId,
    },
    /// Somebody ended it before.
    Ended {
        /// The message at the root.
        root: MessageId,
        /// Who.
        by: String,
    },
    /// There is no such message.
    Unknown,
}

/// What [`crate::Store::end_cause`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CauseEnded {
    /// The message at the root.
    pub root: MessageId,
    /// Messages that waited or were held, and are cancelled.
    pub cancelled: u64,
    /// The open turns that work on it; their daemons end them when they are notified.
    pub turns: Vec<(AgentName, TurnId)>,
    /// Whether it was ended before; ending it again cancels what came since.
    pub again: bool,
}

/// What is held of one cause for one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The message at the root.
    pub root: MessageId,
    /// How many messages.
    pub messages: u64,
    /// Why, in words.
    pub why: String,
}
