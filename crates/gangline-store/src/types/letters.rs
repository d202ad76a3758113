//! Letters: what agents send to the owners.

use gangline_core::{AgentName, MessageId, TurnId, redact::Redacted, words};
use gangline_os::clock::UnixMicros;

words! {
    /// Where a letter stands.
    LetterState, "letter state" {
        /// Nobody has read it.
        New = "new",
        /// Somebody has read it.
        Read = "read",
        /// Somebody has answered it.
        Answered = "answered",
        /// Somebody has put it away.
        Done = "done",
    }
}

/// A letter to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLetter {
    /// Who sends it.
    pub agent: AgentName,
    /// The turn that sends it.
    pub turn: Option<TurnId>,
    /// Makes a repetition the same letter; unique per agent.
    pub idem_key: String,
    /// The message that it answers.
    pub in_reply_to: Option<MessageId>,
    /// The text.
    pub body: Redacted,
}

/// One row of the letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LetterRow {
    /// The number, in a sequence of its own.
    pub id: i64,
    /// Who sent it.
    pub agent: AgentName,
    /// The turn that sent it.
    pub turn: Option<TurnId>,
    /// The message that it answers.
    pub in_reply_to: Option<MessageId>,
    /// The text.
    pub body: Redacted,
    /// Where it stands.
    pub state: LetterState,
    /// The message to the agent that answers it.
    pub answer: Option<MessageId>,
    /// Who answered it or put it away.
    pub settled_by: Option<String>,
    /// When it was sent.
    pub sent_at: UnixMicros,
}

/// Which letters to list; every part narrows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LetterFilter {
    /// Only this agent's.
    pub agent: Option<AgentName>,
    /// Only those that nobody has read.
    pub unread: bool,
    /// Also those that are answered or put away.
    pub settled: bool,
}
