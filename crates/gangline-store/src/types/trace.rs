//! The life of one message, as data.

use gangline_core::redact::Redacted;
use gangline_os::clock::UnixMicros;

use super::{ActAgain, ApprovalRow, CauseRow, Event, MessageRow, OutboxRow, TurnRow};

/// All that the store knows about one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The message.
    pub message: MessageRow,
    /// What it and all that has the same root have used.
    pub cause: Option<CauseRow>,
    /// The turns that had it.
    pub turns: Vec<TurnRow>,
    /// Lines said in answer to it or in those turns.
    pub outbox: Vec<OutboxRow>,
    /// Letters, questions and reminders that those turns made, in the order of time.
    pub made: Vec<Made>,
    /// Calls of those turns that were answered with what an earlier attempt had done, oldest first.
    pub again: Vec<ActAgain>,
    /// Approvals asked for it or in those turns.
    pub approvals: Vec<ApprovalRow>,
    /// Events of those turns, at most [`crate::PAGE_MAX`].
    pub events: Vec<Event>,
}

/// A row that a turn made by a tool, and that stays when the turn is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// What it is, with its number: `letter 3`.
    pub what: String,
    /// Whom it is for; empty for a reminder.
    pub to: String,
    /// Its text.
    pub body: Redacted,
    /// When it was made.
    pub at: UnixMicros,
}
