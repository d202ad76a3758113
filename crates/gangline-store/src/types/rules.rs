//! Rules: what people have allowed for good.

use gangline_core::{AgentName, ApprovalNumber, Principal, rule::Rule};
use gangline_os::clock::UnixMicros;

use super::Decided;

/// The most rules that one agent has.
pub const RULES_MAX: usize = 500;
/// Begins the name that decides by rules, with their numbers behind it. No account has a space.
const BY_RULE: &str = "rule ";

/// Returns the name under which rules decide: `rule 3`, `rule 3, 7`.
pub(crate) fn by_rules(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("{BY_RULE}{}", numbers.join(", "))
}

/// Returns whether rules decided, and no person.
pub(crate) fn is_by_rules(account: &str) -> bool {
    account.starts_with(BY_RULE)
}

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
