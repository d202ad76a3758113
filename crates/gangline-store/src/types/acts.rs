//! Acts: what calls in a turn did for others, so that the next attempt does not do it again.

use gangline_core::{
    AgentName, Epoch, MessageId, TurnId,
    act::{ActKey, ActKind},
};
use gangline_os::clock::UnixMicros;

/// A call in a turn that does something for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAct {
    /// Whose call.
    pub agent: AgentName,
    /// The turn that makes it.
    pub turn: TurnId,
    /// Makes a repetition in this turn the same call; with the key, unique per agent.
    pub request: String,
    /// What kind of thing it does.
    pub kind: ActKind,
    /// What it does, hashed.
    pub key: ActKey,
    /// The message that a line answers.
    pub in_reply_to: Option<MessageId>,
    /// The epoch of the daemon in which a call is held open for the answer to its question.
    pub waits: Option<Epoch>,
}

/// What a call did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActRow {
    /// The number, in a sequence of its own.
    pub id: i64,
    /// What kind of thing it is.
    pub kind: ActKind,
    /// The turn that did it.
    pub turn: TurnId,
    /// The key of the call that did it.
    pub request: String,
    /// The number of what was made: of the first row in the outbox, of the letter, question, reminder,
    /// change.
    pub number: i64,
    /// The message that a line to an agent became.
    pub message: Option<MessageId>,
    /// When it was done.
    pub at: UnixMicros,
}

/// A call in a turn that was answered with what an earlier attempt had done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActAgain {
    /// The turn that made it.
    pub turn: TurnId,
    /// The key of the call.
    pub request: String,
    /// The message that it said it answers.
    pub in_reply_to: Option<MessageId>,
    /// When it was made.
    pub at: UnixMicros,
    /// What it was answered with.
    pub act: ActRow,
}
