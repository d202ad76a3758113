//! Findings: what watchdogs, detectors and the supervisor have found, until it holds no more.

use gangline_core::{
    AgentName, FindingNumber, MessageId, TurnId,
    attention::{Affects, Item, ItemKind, ItemState, Offer},
    finding::{Choice, ChoiceWord, FindingKind, FindingState, Severity},
    privacy::Said,
    redact::Redacted,
    time::WallMicros,
    word::Stored,
};
use gangline_os::clock::UnixMicros;

use super::Released;

/// A finding to be raised. An agent has at most one unresolved finding of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFinding {
    /// The agent that it is about.
    pub agent: AgentName,
    /// What makes it the same finding while it holds: its kind, and more where a kind may hold twice.
    pub key: String,
    /// What was found.
    pub kind: FindingKind,
    /// How grave it is.
    pub severity: Severity,
    /// Why, in one sentence for people.
    pub cause: Redacted,
    /// What shows it; empty for nothing.
    pub evidence: Redacted,
    /// What a person may choose. Without choices nobody has to decide, and it does not wait in the
    /// attention list.
    pub choices: Vec<Choice>,
    /// The choice that is recommended.
    pub recommended: Option<ChoiceWord>,
    /// What it affects, in words; empty if it is the agent alone.
    pub affects: Redacted,
    /// The message that it is about.
    pub message: Option<MessageId>,
    /// The words of its alert, if its kind has one; `None` for the usual ones.
    pub alert: Option<AlertWords>,
}

/// What an alert about a finding says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertWords {
    /// To webhooks, and on IRC.
    pub text: Redacted,
    /// On IRC, if that is something else.
    pub room_text: Option<Redacted>,
}

impl NewFinding {
    /// Returns a finding of this kind with its usual severity, the kind as its key, and no choices.
    #[must_use]
    pub fn new(agent: AgentName, kind: FindingKind, cause: Redacted) -> Self {
        Self {
            agent,
            key: kind.as_str().to_owned(),
            kind,
            severity: kind.severity(),
            cause,
            evidence: Redacted::default(),
            choices: Vec::new(),
            recommended: None,
            affects: Redacted::default(),
            message: None,
            alert: None,
        }
    }
}

/// What [`crate::Store::raise_finding`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raised {
    /// The number by which people name it.
    pub number: FindingNumber,
    /// Whether it is new; else an unresolved one has new texts and keeps its number and its state.
    pub new: bool,
}

/// One row of the findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingRow {
    /// The number.
    pub number: FindingNumber,
    /// The agent that it is about.
    pub agent: AgentName,
    /// See [`NewFinding::key`].
    pub key: String,
    /// What was found.
    pub kind: Stored<FindingKind>,
    /// How grave it is.
    pub severity: Severity,
    /// Why.
    pub cause: Redacted,
    /// What shows it.
    pub evidence: Redacted,
    /// What a person may choose; what only a newer program knows is left out.
    pub choices: Vec<Choice>,
    /// The choice that is recommended.
    pub recommended: Option<ChoiceWord>,
    /// What it affects.
    pub affects: Redacted,
    /// The message that it is about.
    pub message: Option<MessageId>,
    /// Where it stands.
    pub state: FindingState,
    /// Who saw it first.
    pub seen_by: Option<String>,
    /// Who decided; `None` if it held no more by itself.
    pub resolved_by: Option<String>,
    /// What was chosen.
    pub choice: Option<ChoiceWord>,
    /// When it was raised.
    pub raised_at: UnixMicros,
    /// When its texts were last changed.
    pub changed_at: UnixMicros,
    /// When somebody saw it.
    pub seen_at: Option<UnixMicros>,
    /// When it was resolved.
    pub resolved_at: Option<UnixMicros>,
}

/// A person's answer to a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingAnswer {
    /// The finding.
    pub number: FindingNumber,
    /// What was chosen.
    pub choice: ChoiceWord,
    /// Who answers, as others know that person.
    pub by: String,
    /// How many more turns a release gives.
    pub released: i64,
}

/// What [`crate::Store::answer_finding`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingAnswered {
    /// The finding, resolved.
    pub finding: FindingRow,
    /// What the choice did.
    pub done: ChoiceDone,
}

/// What a choice did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoiceDone {
    /// What a `resume` lifts is lifted, and the backend is tried again.
    Resumed,
    /// The open turn is ordered to end, if there is one; an escalation is over.
    Aborted(Option<TurnId>),
    /// The message waits again.
    Retried(MessageId),
    /// The message is not given up any more.
    NotGivenUp(MessageId),
    /// What was held of the message's cause.
    Released(Released),
    /// It is about no message, so there was nothing to do.
    NoMessage,
    /// The daemon shall run.
    Started,
    /// The daemon is to be followed by another one.
    Restarted,
    /// It was put away.
    Dismissed,
}

impl FindingRow {
    /// Returns whether it may be put away without a decision.
    #[must_use]
    pub fn may_be_dismissed(&self) -> bool {
        self.kind.known().is_none_or(FindingKind::may_be_dismissed)
    }
}

impl FindingRow {
    /// Returns the finding as an item of the attention list, for owners: what it is about may have been said
    /// in private.
    #[must_use]
    pub fn into_item(self, affects: Affects) -> Item {
        let offer = |it: Choice| Offer { word: it.word.to_string(), what: it.what };
        Item {
            number: self.number.0,
            kind: ItemKind::Finding,
            what: self.kind.to_string(),
            agent: self.agent,
            severity: self.severity,
            state: match self.state {
                FindingState::Open => ItemState::Open,
                FindingState::Seen => ItemState::Seen,
                FindingState::Resolved => ItemState::Resolved,
            },
            seen_by: self.seen_by,
            cause: self.cause,
            evidence: self.evidence,
            options: self.choices.into_iter().map(offer).collect(),
            recommended: self.recommended.map(|word| word.to_string()),
            affects: Affects { text: self.affects, ..affects },
            since: WallMicros(self.raised_at.0),
            // What it is about is in another row.
            said: Said::InPrivate,
        }
    }
}

/// Which findings to list; every part narrows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingFilter {
    /// Only those about this agent.
    pub agent: Option<AgentName>,
    /// Also those that are resolved.
    pub resolved: bool,
}
