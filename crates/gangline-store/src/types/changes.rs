//! Changes of the installation that a manager asks for and an owner decides: another agent, another
//! configuration.

use gangline_core::{
    AgentName, ApprovalNumber, MessageId, Principal, TurnId, approval::Decision, redact::Redacted,
};
use gangline_os::clock::UnixMicros;

use super::Send;

gangline_core::words! {
    /// What is asked for.
    ChangeKind, "kind of change" {
        /// Another agent (R2-35).
        Spawn = "spawn",
        /// Another configuration of an agent (R2-37).
        Config = "config",
    }
}

gangline_core::words! {
    /// `requested → approved → applying → applied | rolling_back → rolled_back`; `denied` and `failed`
    /// from before anything was changed.
    ChangeState, "state of a change" {
        /// Nobody has decided it.
        Requested = "requested",
        /// It is to be applied.
        Approved = "approved",
        /// The hub applies it, or waits for the agent.
        Applying = "applying",
        /// The agent is not up: the hub goes back.
        RollingBack = "rolling_back",
        /// It holds.
        Applied = "applied",
        /// The configuration is as it was before.
        RolledBack = "rolled_back",
        /// It could not be applied, or not be undone.
        Failed = "failed",
        /// An owner said no.
        Denied = "denied",
    }
}

impl ChangeState {
    /// Returns whether the hub has something to do for it.
    #[must_use]
    pub fn is_under_way(self) -> bool {
        match self {
            Self::Approved | Self::Applying | Self::RollingBack => true,
            Self::Requested | Self::Applied | Self::RolledBack | Self::Failed | Self::Denied => {
                false
            }
        }
    }

    /// Returns whether nothing happens to it any more.
    #[must_use]
    pub fn is_final(self) -> bool {
        self != Self::Requested && !self.is_under_way()
    }
}

/// A change to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChange {
    /// The manager.
    pub agent: AgentName,
    /// The turn that asks.
    pub turn: TurnId,
    /// Makes a repetition the same request; unique per agent.
    pub request: String,
    /// What is asked for.
    pub kind: ChangeKind,
    /// The agent that it is about.
    pub subject: AgentName,
    /// The commit; of a spawn it is made when it is applied.
    pub commit: Option<String>,
    /// The lines of a new agent's entry; of a configuration nothing.
    pub entry: Option<String>,
    /// One line for people.
    pub summary: Redacted,
    /// All of it: what changes, what was validated, the difference.
    pub detail: Redacted,
    /// What the manager says of it.
    pub reason: Redacted,
    /// The message that it is asked for.
    pub message: Option<MessageId>,
    /// Where the manager goes on once it is decided.
    pub reply_target: String,
}

/// What [`crate::Store::request_change`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRequested {
    /// The number by which it is decided.
    pub number: ApprovalNumber,
    /// Whether it had been asked for before; then nothing changed.
    pub repeated: bool,
}

/// One row of the changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    /// The number.
    pub number: ApprovalNumber,
    /// The manager.
    pub agent: AgentName,
    /// The turn that asked.
    pub turn: TurnId,
    /// What is asked for.
    pub kind: ChangeKind,
    /// The agent that it is about.
    pub subject: AgentName,
    /// The commit that is applied; of a spawn `None` until it is made.
    pub commit: Option<String>,
    /// The commit that was checked out before, once it is applied.
    pub before: Option<String>,
    /// The agent's epoch before, once it is applied; 0 without one.
    pub epoch: i64,
    /// See [`NewChange::entry`].
    pub entry: Option<String>,
    /// One line for people.
    pub summary: Redacted,
    /// All of it.
    pub detail: Redacted,
    /// What the manager says of it.
    pub reason: Redacted,
    /// The message that it is asked for.
    pub message: Option<MessageId>,
    /// Where the manager goes on.
    pub reply_target: String,
    /// Where it stands.
    pub state: ChangeState,
    /// What was said.
    pub decision: Option<Decision>,
    /// By whom.
    pub decided_by: Option<Principal>,
    /// How others know the one who decided.
    pub decided_as: Option<String>,
    /// With which words.
    pub note: Option<Redacted>,
    /// What became of it.
    pub outcome: Option<Redacted>,
    /// When it was asked for.
    pub asked_at: UnixMicros,
    /// When it was decided.
    pub decided_at: Option<UnixMicros>,
    /// Since when it is being applied.
    pub applying_at: Option<UnixMicros>,
}

/// A step of the hub's with a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeStep {
    /// Where it stood; from elsewhere nothing is changed.
    pub from: ChangeState,
    /// Where it goes.
    pub to: ChangeState,
    /// The commit that is applied, if it is news.
    pub commit: Option<String>,
    /// The commit before, if it is news.
    pub before: Option<String>,
    /// The agent's epoch before, if it is news.
    pub epoch: Option<i64>,
    /// What became of it, for the manager and for people.
    pub outcome: Option<Redacted>,
}

/// What asking for a change brings about, in the same commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeTold {
    /// The lines for people.
    pub announce: Vec<Send>,
}
