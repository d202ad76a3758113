//! Turns: which messages a turn had, and how it ended.

use gangline_core::{
    AgentName, ApprovalNumber, MessageId, MessageState, TurnId, answer::How,
    outcome::OutcomeRecord, redact::Redacted,
};
use gangline_os::clock::UnixMicros;

use super::{MessageRow, NewEvent, OutboxId, Send};

/// T1: messages go into a turn, before a byte goes to the backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Take {
    /// Whose turn.
    pub agent: AgentName,
    /// The turn; made if it is not there yet.
    pub turn: TurnId,
    /// The messages; none for a turn that the backend began by itself.
    pub messages: Vec<MessageId>,
    /// The id that the prompt carries to the backend.
    pub prompt_uuid: String,
    /// How they came in.
    pub how: How,
    /// How many turns one root cause may have, as far as this agent is concerned.
    pub turns_per_cause: i64,
}

/// What [`crate::Store::take`] took.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Taken {
    /// The taken messages with their attempt, from 1. Empty though messages were named: all are
    /// gone, and no turn was opened.
    pub attempts: Vec<(MessageId, i64)>,
    /// The messages that were not waiting any more, or are held or cancelled because of their
    /// cause.
    pub gone: Vec<MessageId>,
    /// How many more messages of the agent are due and wait.
    pub pending: u64,
    /// Who tells people of a limit that was reached: notify it.
    pub teller: Option<AgentName>,
}

/// What becomes of one message at its turn's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settle {
    /// The message.
    pub message: MessageId,
    /// Its new state; `Accepted` sends it back to the queue.
    pub state: MessageState,
    /// Why, in words.
    pub reason: Option<String>,
    /// The answer that settled it.
    pub answer: Option<Redacted>,
    /// Back in the queue: not before this time.
    pub not_before: Option<UnixMicros>,
    /// Whether this attempt does not count, since its end was ours.
    pub uncount_attempt: bool,
}

/// T3: the end of a turn, one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndTurn {
    /// Whose turn.
    pub agent: AgentName,
    /// The turn; of an older epoch when a lost one is recovered.
    pub turn: TurnId,
    /// How it ended.
    pub outcome: OutcomeRecord,
    /// What becomes of its messages. One that is left out goes back to the queue.
    pub settle: Vec<Settle>,
    /// Relayed answers and notices.
    pub sends: Vec<Send>,
    /// What is recorded of the end.
    pub events: Vec<NewEvent>,
    /// Why approvals that are still open are withdrawn, which is said wherever they were announced;
    /// without it `the turn ended`.
    pub withdraw_approvals: Option<String>,
}

/// What [`crate::Store::end_turn`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ended {
    /// The rows of the outbox, in the order of the sends' lines.
    pub outbox: Vec<OutboxId>,
    /// The other agents that have something of it, such as a message or the answer to their question: notify
    /// them.
    pub notify: Vec<AgentName>,
    /// Messages named in `settle` that this turn does not hold.
    pub skipped: Vec<MessageId>,
    /// Messages that `settle` forgot; they wait again.
    pub returned: Vec<MessageId>,
    /// The approvals that were withdrawn.
    pub withdrawn: Vec<ApprovalNumber>,
}

/// One turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRow {
    /// Whose.
    pub agent: AgentName,
    /// The turn.
    pub turn: TurnId,
    /// The id that the prompt carried.
    pub prompt_uuid: String,
    /// When it was opened.
    pub started_at: UnixMicros,
    /// When it ended; none while it is open.
    pub ended_at: Option<UnixMicros>,
    /// How it ended; `None` while it is open.
    pub outcome: Option<OutcomeRecord>,
}

/// A message of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnMessage {
    /// The message.
    pub message: MessageRow,
    /// How it came in.
    pub how: How,
}

/// A turn without an end, with its messages: what recovery works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTurn {
    /// The turn.
    pub turn: TurnRow,
    /// Its messages, by id.
    pub messages: Vec<TurnMessage>,
    /// Who ordered it to end, if somebody did.
    pub ended_by: Option<String>,
}
