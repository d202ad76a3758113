//! What was spent, what was added to budgets, what went through relays, and holds of the fleet.

use gangline_core::{
    AgentName, Epoch,
    budget::{BudgetScope, CallOutcome, Raise, Spent, UsageSource},
    word::Stored,
};
use gangline_os::clock::UnixMicros;

use super::NewUsage;

/// One agent's spending, by who counted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentRow {
    /// Whose.
    pub agent: AgentName,
    /// Who counted.
    pub source: Stored<UsageSource>,
    /// How much.
    pub spent: Spent,
    /// Tokens read from the cache, which no budget counts.
    pub cache_read: u64,
}

/// A call that a relay is about to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRelayOpen {
    /// Whose backend makes it.
    pub agent: AgentName,
    /// In which life of its daemon.
    pub epoch: Epoch,
    /// The day by the clock on the wall: `2026-11-26`.
    pub day: String,
    /// The length of its request; `None` = unknown.
    pub bytes: Option<i64>,
}

/// A call of which nobody knows how it ended: its daemon was killed meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayOpenRow {
    /// Its number.
    pub id: i64,
    /// The day on which it began.
    pub day: String,
    /// The length of its request; `None` = unknown.
    pub bytes: Option<i64>,
    /// The model that the agent's calls used last; empty = none is known.
    pub model: String,
}

/// A call that went through a relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayedCall {
    /// The number that it was noted under when it began.
    pub noted: Option<i64>,
    /// Whose backend made it.
    pub agent: AgentName,
    /// What it used; `None` = the response did not tell.
    pub usage: Option<NewUsage>,
    /// The day by the clock on the wall: `2026-11-26`.
    pub day: String,
    /// How it ended.
    pub outcome: CallOutcome,
    /// Until its response began, in microseconds.
    pub first_byte_micros: i64,
    /// Until its response ended, in microseconds.
    pub lasted_micros: i64,
}

/// Calls of an agent's backend in a day that ended alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayedRow {
    /// Whose.
    pub agent: AgentName,
    /// How they ended.
    pub outcome: Stored<CallOutcome>,
    /// How many.
    pub calls: i64,
    /// The sum of the times until their responses began, in microseconds.
    pub first_byte_micros: i64,
    /// The sum of the times until their responses ended, in microseconds.
    pub lasted_micros: i64,
}

/// More for one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRaise {
    /// Whose budget.
    pub scope: BudgetScope,
    /// The day by the clock on the wall.
    pub day: String,
    /// How much.
    pub raise: Raise,
    /// By whom.
    pub by: String,
}

/// A hold of the whole fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetHold {
    /// Its number.
    pub id: i64,
    /// Why, for people.
    pub why: String,
    /// Since when.
    pub began_at: UnixMicros,
    /// Until when; `None` = until a person ends it.
    pub until: Option<UnixMicros>,
}
