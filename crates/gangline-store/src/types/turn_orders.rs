//! Orders about an agent's turn or session: on disk before the word that confirms them.

use gangline_core::{AgentName, TurnId};

use super::PauseRow;

gangline_core::words! {
    /// What an order is about.
    TurnOrderKind, "order about a turn or a session" {
        /// The turn that it names ends.
        EndTurn = "end_turn",
        /// The next turn begins a new session.
        Clear = "clear",
        /// The session is made shorter before the next turn.
        Compact = "compact",
        /// The backend is tried again: its breaker closes, and it waits for no login.
        Resume = "resume",
    }
}

gangline_core::words! {
    /// What became of an order.
    TurnOrderOutcome, "outcome of an order" {
        /// It took effect.
        Done = "done",
        /// There was nothing left to do: its turn had ended otherwise, or its session is gone.
        Void = "void",
    }
}

/// An order to end a turn, which also ends the agent's escalation if `guides` says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndOrder {
    /// Whose turn.
    pub agent: AgentName,
    /// The turn that is meant; `None` = no turn is open, and only an escalation may end.
    pub turn: Option<TurnId>,
    /// Who ordered it, as others know that person.
    pub by: String,
    /// Whether it is a decision on an escalation too.
    pub guides: Guides,
}

/// Whether the order to end a turn decides an escalation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guides {
    /// It does: the escalation's pause ends, and its finding is resolved.
    Yes,
    /// It does not.
    No,
}

/// What [`crate::Store::order_end`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderedEnd {
    /// The order is stored: the turn ends.
    Ends,
    /// No turn is open any more. An escalation has ended, if there was one.
    NoTurn,
    /// The turn is not recorded yet, so nothing is stored.
    NotYet,
}

/// What people have said about whether an agent works: what its daemon obeys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingOrders {
    /// What holds it.
    pub pauses: Vec<PauseRow>,
    /// The newest open order to try its backend again.
    pub resume: Option<i64>,
}

/// An order that has no outcome yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenTurnOrder {
    /// Its number; a later order has a higher one.
    pub id: i64,
    /// What it is about.
    pub kind: TurnOrderKind,
    /// The turn, if it is about one.
    pub turn: Option<TurnId>,
}
