//! Approvals: permission for one action, asked of a human.

use gangline_core::{
    AgentName, ApprovalNumber, Epoch, MessageId, Principal, TurnId,
    approval::{ApprovalState, Audience, Decision, view::Extent},
    redact::Redacted,
    rule::Offer,
    shown,
};
use gangline_os::clock::{UnixMicros, local_minute};

use super::{Accepted, OutboxId, Send};

/// Begins the name that decides by rules, with their numbers behind it. No account has a space.
const BY_RULE: &str = "rule ";

/// A runtime asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenApproval {
    /// Whose runtime.
    pub agent: AgentName,
    /// In which turn.
    pub turn: TurnId,
    /// The message that the turn works on; without one a re-ask gets a new number.
    pub message: Option<MessageId>,
    /// The runtime's own id of the request; the same one again in a turn is the same approval.
    pub request: String,
    /// The tool.
    pub tool: String,
    /// A hash of its arguments.
    pub args_hash: String,
    /// One line for people.
    pub summary: Redacted,
    /// All of it.
    pub detail: Redacted,
    /// Who may be shown all of it.
    pub audience: Audience,
    /// Where the agent works.
    pub folder: Redacted,
    /// What the agent said last before it asked; empty if nothing.
    pub said_before: Redacted,
    /// What it would make a rule of. If rules cover all of it, it is allowed in the same commit,
    /// by `rule N`, and nobody is asked.
    pub offer: Option<Offer>,
    /// The announcement, put into the outbox in the same commit; see
    /// [`crate::NUMBER_PLACEHOLDER`]. Not sent if the decision is there already.
    pub announce: Option<Announce>,
}

/// An announcement of an approval in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announce {
    /// The lines.
    pub send: Send,
    /// Where people will read them: a channel, or whose private conversation it is. The caller
    /// compares it with the place of a decision; the store only keeps it.
    pub place: String,
    /// Whether the lines show all of the action.
    pub extent: Extent,
    /// The server's id of the private line that they answer: they go to its conversation.
    pub question: Option<String>,
}

/// A place in which an approval was announced, or will be once the line is out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalPlace {
    /// See [`Announce::place`].
    pub place: String,
    /// The channel or nick that the lines went to.
    pub target: String,
    /// Whether they show all of the action.
    pub extent: Extent,
    /// When the last of them was said, by the server's clock, in the server's form.
    pub told_at: Option<String>,
    /// When the server's confirmation of it was recorded; `None` before.
    pub heard_at: Option<UnixMicros>,
}

/// Somebody's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// What.
    pub decision: Decision,
    /// By whom.
    pub by: Principal,
    /// How others know that person: several may use one account.
    pub known_as: String,
    /// With which words; of a refusal the model is told.
    pub note: Option<Redacted>,
    /// What is said of it wherever the approval was announced, in the same commit.
    pub say: Option<Redacted>,
}

/// What [`crate::Store::open_approval`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedApproval {
    /// The number that people use.
    pub number: ApprovalNumber,
    /// A decision made while the approval was void, now used up.
    pub decided: Option<Decision>,
    /// Whether the number was there before.
    pub reopened: bool,
    /// The rows of the announcement.
    pub outbox: Vec<OutboxId>,
    /// The announcement's row for another agent.
    pub delivered: Option<Accepted>,
}

/// A runtime waits no longer for an answer, in the middle of its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawApproval {
    /// Whose runtime.
    pub agent: AgentName,
    /// In which turn.
    pub turn: TurnId,
    /// The runtime's own id of the request.
    pub request: String,
    /// Why, for people.
    pub why: Redacted,
    /// What those are told who were asked, put into the outbox in the same commit; see
    /// [`crate::NUMBER_PLACEHOLDER`].
    pub say: Option<Send>,
}

/// What [`crate::Store::decide`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The number.
    pub number: ApprovalNumber,
    /// Whose runtime asked: notify its daemon.
    pub agent: AgentName,
    /// What was said.
    pub decision: Decision,
    /// Whether the approval was void: the decision waits for the message's next attempt.
    pub for_next_attempt: bool,
}

/// One approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRow {
    /// The number.
    pub number: ApprovalNumber,
    /// Whose runtime asked.
    pub agent: AgentName,
    /// In which turn, last.
    pub turn: TurnId,
    /// For which message.
    pub message: Option<MessageId>,
    /// The runtime's own id of the request.
    pub request: String,
    /// The tool.
    pub tool: String,
    /// A hash of its arguments.
    pub args_hash: String,
    /// One line for people.
    pub summary: Redacted,
    /// All of it.
    pub detail: Redacted,
    /// Who may be shown all of it.
    pub audience: Audience,
    /// Where it stands.
    pub state: ApprovalState,
    /// What was said; on a void one, for the next attempt.
    pub decision: Option<Decision>,
    /// By whom.
    pub decided_by: Option<Principal>,
    /// How others know the one who decided.
    pub decided_as: Option<String>,
    /// With which words; or why it was withdrawn.
    pub note: Option<Redacted>,
    /// Where the agent works; `None` of one from before this was recorded.
    pub folder: Option<Redacted>,
    /// What the agent said last before it asked.
    pub said_before: Option<Redacted>,
    /// Whether the runtime has the decision.
    pub delivered: bool,
    /// The announcement's server time.
    pub announced_at: Option<String>,
    /// The announcement's id at the server.
    pub announced_msgid: Option<String>,
    /// When it was (last) opened.
    pub opened_at: UnixMicros,
    /// When it was decided, voided or withdrawn.
    pub closed_at: Option<UnixMicros>,
    /// Of one that can be decided: when the same call was allowed in an earlier attempt at the message.
    pub before: Option<AllowedBefore>,
}

impl ApprovalRow {
    /// Returns the epoch under which it was last asked.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.turn.epoch
    }

    /// Returns whether rules decided it, so that nobody was asked.
    #[must_use]
    pub fn is_by_rules(&self) -> bool {
        self.decided_by.as_ref().is_some_and(|by| is_by_rules(&by.account))
    }
}

/// A call that a person allowed in an earlier attempt at a message. The backend had the decision, so
/// the call may have run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedBefore {
    /// The turn that asked.
    pub turn: TurnId,
    /// The tool.
    pub tool: String,
    /// A hash of its arguments.
    pub args_hash: String,
    /// When it was allowed.
    pub at: UnixMicros,
    /// By whom, as others know that person.
    pub by: String,
}

impl AllowedBefore {
    /// Returns what people who decide the call are told: by whom it was allowed, when by the clock here, and
    /// that it may have run.
    #[must_use]
    pub fn note(&self) -> String {
        let (_, minute) = local_minute(self.at);
        format!("{} allowed this at {minute}; it may have run", shown::label(&self.by))
    }
}

/// Returns the name under which rules decide: `rule 3`, `rule 3, 7`.
pub(crate) fn by_rules(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("{BY_RULE}{}", numbers.join(", "))
}

/// Returns whether rules decided, and no person.
pub(crate) fn is_by_rules(account: &str) -> bool {
    account.starts_with(BY_RULE)
}
