//! The life of one message, as data.

use super::{ApprovalRow, CauseRow, Event, MessageRow, OutboxRow, TurnRow};

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
    /// Approvals asked for it or in those turns.
    pub approvals: Vec<ApprovalRow>,
    /// Events of those turns, at most [`crate::PAGE_MAX`].
    pub events: Vec<Event>,
}
