//! Tokens of programs outside: what each may do, and for which agent.

use gangline_core::{AgentName, Principal, words};
use gangline_os::clock::UnixMicros;

words! {
    /// What a token opens.
    TokenScope, "scope" {
        /// The agent's tools, for a person's MCP client.
        Mcp = "mcp",
        /// Waking the agent.
        Wake = "wake",
    }
}

/// A token to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// What it opens.
    pub scope: TokenScope,
    /// Whose.
    pub agent: AgentName,
    /// What it is for, in its owner's words.
    pub label: String,
    /// The hexadecimal SHA-256 of the token.
    pub hash: String,
    /// Who made it; what comes with the token comes with that tier.
    pub made_by: Principal,
}

/// One row of the tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// Its number.
    pub id: i64,
    /// What it opens.
    pub scope: TokenScope,
    /// Whose.
    pub agent: AgentName,
    /// What it is for.
    pub label: String,
    /// Who made it.
    pub made_by: Principal,
    /// When it was made.
    pub made_at: UnixMicros,
    /// When it was used last, to the minute.
    pub used_at: Option<UnixMicros>,
    /// When it was revoked; it opens nothing since.
    pub revoked_at: Option<UnixMicros>,
}
