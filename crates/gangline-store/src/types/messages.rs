//! Messages: what somebody asked an agent, from acceptance to its last state.

use gangline_core::{
    AgentName, Epoch, MessageId, MessageState, Origin, Principal, QuestionNumber, TurnId,
    redact::Redacted,
};
use gangline_os::clock::UnixMicros;

/// A place in a target's history, to be moved in the intake's own commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorMove {
    /// The channel or nick whose history was read.
    pub target: String,
    /// The place, as the server names it.
    pub cursor: String,
}

/// A message to be accepted (or recorded as refused).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// For whom.
    pub agent: AgentName,
    /// The network it came from; `local` for what did not come over IRC.
    pub network_id: String,
    /// What makes it the same message when it is taken in twice; unique per agent and network.
    pub intake_key: Option<String>,
    /// Why it exists.
    pub origin: Origin,
    /// Who speaks.
    pub principal: Principal,
    /// The nick or label shown as the speaker.
    pub sender: String,
    /// Where an answer goes: a channel, a nick, or nothing for the command line.
    pub target: String,
    /// The text.
    pub body: Redacted,
    /// The message it answers. Such a message owes no answer.
    pub in_reply_to: Option<MessageId>,
    /// The human message at the root of the chain of causes.
    pub cause_root: Option<MessageId>,
    /// How many agents have passed it on since that root.
    pub hops: i64,
    /// `Accepted`, `Refused`, or `Held` for one that too many agents have passed on; every other
    /// state is an error.
    pub state: MessageState,
    /// Moved in the same commit, also when the message is a duplicate.
    pub cursor: Option<CursorMove>,
    /// Not taken before this time.
    pub not_before: Option<UnixMicros>,
    /// The server's own id of the line.
    pub msgid: Option<String>,
}

/// What [`crate::Store::accept`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// The row, new or the one that was there.
    pub id: MessageId,
    /// Whether the intake key was known already; then nothing but the cursor changed.
    pub duplicate: bool,
}

/// One row of the messages, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// The number.
    pub id: MessageId,
    /// For whom.
    pub agent: AgentName,
    /// The network it came from.
    pub network_id: String,
    /// See [`NewMessage::intake_key`].
    pub intake_key: Option<String>,
    /// Why it exists.
    pub origin: Origin,
    /// Who speaks.
    pub principal: Principal,
    /// The nick or label shown as the speaker.
    pub sender: String,
    /// Where an answer goes.
    pub target: String,
    /// The text.
    pub body: Redacted,
    /// The message it answers.
    pub in_reply_to: Option<MessageId>,
    /// The human message at the root of the chain of causes.
    pub cause_root: Option<MessageId>,
    /// How many agents have passed it on since that root.
    pub hops: i64,
    /// Where it stands.
    pub state: MessageState,
    /// Why it stands there, in words.
    pub reason: Option<String>,
    /// The answer that settled it.
    pub answer: Option<Redacted>,
    /// How many turns have had it, without those whose end was not its fault.
    pub attempt: i64,
    /// How many turns have had it, all counted.
    pub takes: i64,
    /// The last turn that had it.
    pub turn: Option<TurnId>,
    /// Not taken before this time.
    pub not_before: Option<UnixMicros>,
    /// The server's own id of the line.
    pub msgid: Option<String>,
    /// The question that it asks, or brings the answer to. Only the store sets it, so the message's
    /// text is ours.
    pub question: Option<QuestionNumber>,
    /// The epoch of the daemon's start that it tells of ([`crate::Store::note_restart`]).
    pub restart: Option<Epoch>,
    /// When it was committed.
    pub accepted_at: UnixMicros,
    /// When it was last taken.
    pub taken_at: Option<UnixMicros>,
    /// When it was settled.
    pub settled_at: Option<UnixMicros>,
}

impl MessageRow {
    /// Returns whether it tells the agent of its daemon's start.
    #[must_use]
    pub fn is_restart_note(&self) -> bool {
        self.restart.is_some()
    }
}

/// Which messages to list; every part narrows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageFilter {
    /// Only this agent's.
    pub agent: Option<AgentName>,
    /// Only in one of these states; empty means every state.
    pub states: Vec<MessageState>,
    /// Only older ones than this.
    pub before: Option<MessageId>,
}

/// A line that became a message ([`crate::Store::taken_in`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenIn {
    /// Its intake key.
    pub key: String,
    /// The message.
    pub id: MessageId,
    /// How far the message is.
    pub state: MessageState,
}

/// What [`crate::Store::cancel`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancel {
    /// The message waited (or was held) and is cancelled now.
    Done,
    /// A turn has it: interrupt that turn instead.
    InTurn(TurnId),
    /// It was settled before.
    Settled(MessageState),
    /// There is no such message.
    Unknown,
}
