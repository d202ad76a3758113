//! Rules: what people have allowed for good.

use gangline_core::{AgentName, ApprovalNumber, Principal, rule::Rule};
use gangline_os::clock::UnixMicros;

use super::Decided;

/// The most rules that one agent has.
pub const RULES_MAX: usize = 500;

/// One rule, and who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRow {
    /// What it says.
    pub rule: Rule,
    /// Whose tool may run.
    pub agent: AgentName,
    /// The approval that it was made of.
    pub approval: Option<ApprovalNumber>,
    /// Who made it.
    pub made_by: Principal,
    /// How others know them.
    pub made_as: String,
    /// When.
    pub made_at: UnixMicros,
    /// Why it allows nothing any more.
    pub void: Option<String>,
}

/// What [`crate::Store::decide_always`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Always {
    /// What became of the approval: it is allowed.
    pub decided: Decided,
    /// What was stored.
    pub stored: Stored,
}

/// What was stored for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// These rules; some may have been there before.
    Rules(Vec<RuleRow>),
    /// No rule; the reason, for people.
    Nothing(String),
}
