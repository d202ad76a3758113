//! An approval as every surface shows it: what an agent wants to do and who may say yes.

mod wanted;

pub use wanted::{LINKS, wanted, wanted_of_row};

pub use gangline_core::approval::{ApprovalState, Decision};
use gangline_core::{
    id::{ApprovalNumber, MessageId, TurnId},
    name::AgentName,
};
use serde::{Deserialize, Serialize};

/// Who allowed a call that may have run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedBefore {
    /// As others know that person.
    pub by: String,
    /// When, RFC 3339.
    pub at: String,
}

/// One approval: an item of `gangline approvals --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The number by which it is decided.
    pub number: ApprovalNumber,
    /// Who asks.
    pub agent: AgentName,
    /// The turn it blocks.
    pub turn: TurnId,
    /// The message that the turn works on, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// The tool that wants to run.
    pub tool: String,
    /// What it would do, in one line.
    pub summary: String,
    /// The whole of it: command, path, difference; redacted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Where the agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What the agent said last before it asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_before: Option<String>,
    /// The same call was allowed in an earlier attempt at the message, which was cut off: it may have run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_before: Option<AllowedBefore>,
    /// Where it stands.
    pub state: ApprovalState,
    /// When it was asked.
    pub asked_at: String,
    /// When it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<String>,
    /// The account that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Who that was, as others know them: several people may use one account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_as: Option<String>,
    /// What the decider added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Of what a manager asked for: where it stands between the decision and its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// Of the same: what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}
