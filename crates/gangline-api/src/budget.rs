//! Budgets of today and what was spent, as every surface shows them. Money is in dollars.

use gangline_core::{
    AgentName,
    budget::{BudgetAction, CallOutcome, Spent, Standing, UsageSource},
    word::Stored,
};
use serde::{Deserialize, Serialize};

/// What `gangline budget --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Budgets {
    /// The day by the clock on the wall here: `2026-11-26`.
    pub day: String,
    /// The next day's first moment.
    pub ends_at: String,
    /// The day of the list of prices.
    pub prices_of: String,
    /// Every budget of the configuration, with what was added today.
    pub budgets: Vec<BudgetLine>,
    /// What each agent spent today, by who counted it.
    pub spent: Vec<SpentLine>,
    /// Requests that went through relays today.
    pub relayed: Vec<RelayedLine>,
    /// Why all agents are held, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet_held: Option<String>,
}

/// One budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetLine {
    /// An agent's nick, a channel, or `day` for the whole installation.
    pub scope: String,
    /// How it stands.
    pub standing: Stored<Standing>,
    /// What happens when it is spent.
    pub action: Stored<BudgetAction>,
    /// Most tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Tokens so far, those read from a cache not counted.
    pub tokens_spent: u64,
    /// Most dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Dollars so far, as far as prices are known.
    pub usd_spent: f64,
    /// Records whose cost nobody knows.
    pub unknown_costs: u64,
}

/// What an agent spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpentLine {
    /// The agent.
    pub nick: AgentName,
    /// What was counted.
    #[serde(flatten)]
    pub counted: Counted,
}

/// What was spent, by one of those who count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Who counted: the agent's program (`backend`) or the relay.
    pub source: Stored<UsageSource>,
    /// Tokens, those read from a cache not counted.
    pub tokens: u64,
    /// Tokens read from a cache.
    pub cache_read: u64,
    /// Dollars, as far as prices are known; absent = nothing of it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Records whose cost nobody knows.
    pub unknown_costs: u64,
}

impl Counted {
    /// Returns the wire form of what was spent.
    #[must_use]
    pub fn of(source: Stored<UsageSource>, spent: &Spent, cache_read: u64) -> Self {
        let known = spent.micros > 0 || spent.unknown == 0;
        Self {
            source,
            tokens: spent.tokens,
            cache_read,
            usd: known.then(|| usd(spent.micros)),
            unknown_costs: spent.unknown,
        }
    }
}

/// Returns dollars.
#[must_use]
pub fn usd(micros: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "to the cent it is exact far beyond any budget")]
    let dollars = micros as f64 / 1_000_000.0;
    dollars
}

/// Requests of an agent's backend that ended alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelayedLine {
    /// The agent.
    pub nick: AgentName,
    /// How they ended.
    pub outcome: Stored<CallOutcome>,
    /// How many.
    pub calls: u64,
    /// The mean time until a response began, in milliseconds.
    pub first_byte_ms: u64,
    /// The mean time until a response ended, in milliseconds.
    pub lasted_ms: u64,
}
