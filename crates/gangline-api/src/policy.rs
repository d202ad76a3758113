//! A rule as every surface shows it: what an agent does without asking, and who allowed it.

use gangline_core::{id::ApprovalNumber, name::AgentName};
use serde::{Deserialize, Serialize};

/// One rule: an item of `gangline policy list --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRule {
    /// Its number.
    pub number: i64,
    /// Whose tool may run.
    pub agent: AgentName,
    /// The tool.
    pub tool: String,
    /// The folder in which the agent must work.
    pub directory: String,
    /// What it lets run, in one line.
    pub allows: String,
    /// The approval that it was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalNumber>,
    /// The account that made it.
    pub made_by: String,
    /// How others know them.
    pub made_as: String,
    /// When it was made.
    pub made_at: String,
}
