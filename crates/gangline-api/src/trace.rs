//! The whole life of one message: what `gangline trace <id> --json` prints.

use gangline_core::{
    act::ActKind,
    answer::How,
    id::{MessageId, TurnId},
    message::{MessageState, Origin, Principal},
    name::{AgentName, Target},
    outcome::OutcomeRecord,
    word::Stored,
};
use serde::{Deserialize, Serialize};

use crate::{approval::Approval, event::EventRecord};

/// One message and everything that refers to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The message.
    pub message: TracedMessage,
    /// What all that has the same root has used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<TracedCause>,
    /// The turns that had it, oldest first.
    pub turns: Vec<TracedTurn>,
    /// The lines that were sent because of it, in order.
    pub sends: Vec<TracedSend>,
    /// Calls that were answered with what an earlier attempt had done, so that it was not done again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<TracedRepeat>,
    /// The approvals that were asked for it.
    pub approvals: Vec<Approval>,
    /// The events of those turns, oldest first; at most 500.
    pub events: Vec<EventRecord>,
}

/// A root cause: the budget of turns that a message shares with all that has the same root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedCause {
    /// The message at the root.
    pub root: MessageId,
    /// The turns so far, over all agents.
    pub turns: u64,
    /// How many agents had them.
    pub agents: u64,
    /// Their tokens, in and out, without what was read from a cache; 0 if none were told.
    pub tokens: u64,
    /// Messages that are held.
    pub held: u64,
    /// Since when messages are held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_at: Option<String>,
    /// Who ended all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
}

/// The message of a trace: its row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedMessage {
    /// The message.
    pub id: MessageId,
    /// Who was asked.
    pub agent: AgentName,
    /// Why it exists.
    pub origin: Origin,
    /// Who asked.
    pub principal: Principal,
    /// The asker's nick or label.
    pub sender: String,
    /// Where an answer goes; absent for the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// The text, redacted.
    pub body: String,
    /// Where it stands.
    pub state: MessageState,
    /// Why it stands there, when that needs saying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The recorded answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// How often it was given to the agent.
    pub attempt: u32,
    /// The human message that everything began with, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause_root: Option<MessageId>,
    /// Steps from agent to agent since then.
    pub hops: u32,
    /// When it was committed.
    pub accepted_at: String,
    /// When it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<String>,
}

/// One turn that had the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedTurn {
    /// The turn.
    pub turn: TurnId,
    /// How the message came into it: `woke`, `steered` or `read`.
    pub how: Stored<How>,
    /// When the turn began.
    pub started_at: String,
    /// When it ended; absent while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeRecord>,
}

/// One call that an earlier attempt had made, so that nothing was done again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedRepeat {
    /// The turn that made the call again.
    pub turn: TurnId,
    /// When it did, RFC 3339.
    pub at: String,
    /// `send`, `letter`, `question`, `reminder`, `change` or `order`.
    pub kind: Stored<ActKind>,
    /// The number of what is there: of a line in the outbox, a letter, a question, a reminder, a change, a
    /// restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// The message that a line to an agent became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// The turn that did it.
    pub done_by: TurnId,
}

/// One line that was sent because of the message: a row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedSend {
    /// Where it goes.
    pub to: Target,
    /// The line, redacted.
    pub text: String,
    /// `queued`, `sent`, `confirmed` or `undeliverable`.
    pub state: String,
    /// Its place among the lines of one text, from 1, and their number.
    pub part: (u32, u32),
    /// The server's id of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msgid: Option<String>,
    /// Whether a crash may have made it appear twice.
    #[serde(default)]
    pub may_be_doubled: bool,
    /// Why it could not be delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
