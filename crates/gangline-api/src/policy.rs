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
    /// The words of the command that it lets run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The file that it lets change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The arguments with which it lets the tool run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
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
    /// Why it allows nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
}

/// A rule that is worth making: an item of `gangline policy suggest --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedRule {
    /// Whose tool would run.
    pub agent: AgentName,
    /// The tool.
    pub tool: String,
    /// The folder in which the agent must work.
    pub directory: String,
    /// The words of the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// What it would let run, in one line.
    pub allows: String,
    /// How often a person allowed it.
    pub allowed: usize,
}

/// What `gangline policy test --json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyTest {
    /// From when on calls were looked at.
    pub since_at: String,
    /// How many calls that were.
    pub calls: usize,
    /// What would be decided otherwise, oldest first.
    pub changes: Vec<PolicyChange>,
    /// Everything that would run without asking, oldest first; without a file of rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unasked: Vec<PolicyChange>,
}

/// A call about which other rules decide otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyChange {
    /// The approval in which it was asked about.
    pub approval: ApprovalNumber,
    /// Whose it was.
    pub agent: AgentName,
    /// What it was, in one line.
    pub call: String,
    /// When it was asked about.
    pub asked_at: String,
    /// `allowed`, `denied` by a person, `allowed_by_rule` or `undecided`.
    pub was: String,
    /// `run` without asking, or `ask` a person.
    pub would: String,
    /// The rules that let it run, by their places in the file from 1.
    pub rules: Vec<i64>,
}
