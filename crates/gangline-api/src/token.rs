//! Tokens of programs outside, as every surface shows them: never the token itself.

use gangline_core::name::AgentName;
use serde::{Deserialize, Serialize};

/// One token: an item of `gangline token list --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its number.
    pub number: i64,
    /// What it opens: `mcp:oak-ada`, `wake:oak-ada`.
    pub scope: String,
    /// The agent.
    pub agent: AgentName,
    /// What it is for, in the words of who made it.
    pub label: String,
    /// Who made it.
    pub made_by: String,
    /// When it was made.
    pub made_at: String,
    /// When it was used last, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_at: Option<String>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
}
