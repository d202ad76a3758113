//! The outbox: lines that must leave even if the link is down, one row per IRC line.

use std::fmt;

use gangline_core::{
    AgentName, MessageId, SendKey, TurnId,
    redact::Redacted,
    split::{Joint, Line},
};
use gangline_os::clock::UnixMicros;

use super::{Accepted, NewMessage};

/// The number of a row of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OutboxId(pub i64);

impl fmt::Display for OutboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "o{}", self.0)
    }
}

gangline_core::words! {
    /// What kind of IRC line it is.
    LineKind, "kind of line" {
        /// A line that may wake.
        Privmsg = "privmsg",
        /// A line that never wakes.
        Notice = "notice",
    }
}

gangline_core::words! {
    /// `queued → sent → confirmed | undeliverable`.
    OutboxState, "outbox state" {
        /// Waits for the link.
        Queued = "queued",
        /// Written to the socket.
        Sent = "sent",
        /// The server has it.
        Confirmed = "confirmed",
        /// The server refused it, or nobody is there.
        Undeliverable = "undeliverable",
    }
}

gangline_core::words! {
    /// How the lines of a send reach the server. The first time decides: a repetition in another form
    /// would be another message to the server.
    SentAs, "form of a send" {
        /// A message for each line.
        Lines = "lines",
        /// All lines as one message, under one id.
        Whole = "whole",
    }
}

/// What the server said of a line that it has taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    /// Its id there.
    pub msgid: Option<String>,
    /// When it was said, by the server's clock.
    pub at: Option<String>,
}

/// T2: something an agent says, split into IRC lines once and for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Send {
    /// Who says it.
    pub agent: AgentName,
    /// The turn it is said in.
    pub turn: Option<TurnId>,
    /// Makes a repetition the same rows.
    pub idem_key: SendKey,
    /// A channel or nick.
    pub target: String,
    /// One IRC line each.
    pub lines: Vec<Line<Redacted>>,
    /// PRIVMSG or NOTICE.
    pub kind: LineKind,
    /// The message it answers.
    pub in_reply_to: Option<MessageId>,
    /// The row for an agent of this installation: the row *is* the delivery. Give it an intake
    /// key, so that a repetition does not deliver twice when there are no lines.
    pub deliver: Option<NewMessage>,
}

/// What [`crate::Store::send`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SendReceipt {
    /// The rows, by part.
    pub outbox: Vec<OutboxId>,
    /// Whether the idempotency key was known already; then nothing changed.
    pub repeated: bool,
    /// The row made for another agent: notify it.
    pub delivered: Option<Accepted>,
}

/// One row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// The number.
    pub id: OutboxId,
    /// Who says it.
    pub agent: AgentName,
    /// See [`Send::idem_key`].
    pub idem_key: SendKey,
    /// From 0.
    pub part: i64,
    /// How many lines the send has.
    pub parts: i64,
    /// A channel or nick.
    pub target: String,
    /// The line's text.
    pub body: Redacted,
    /// How it follows the part before it.
    pub joint: Joint,
    /// PRIVMSG or NOTICE.
    pub kind: LineKind,
    /// Where it stands.
    pub state: OutboxState,
    /// How it was said first; `None` while it was not.
    pub sent_as: Option<SentAs>,
    /// The turn it was said in.
    pub turn: Option<TurnId>,
    /// The message it answers.
    pub in_reply_to: Option<MessageId>,
    /// How often it was written to a socket.
    pub attempts: i64,
    /// Whom to tell if it cannot be delivered: the sender of the message that it answers.
    pub tell: Option<String>,
    /// Why it is undeliverable.
    pub why: Option<String>,
    /// The server's id of the line.
    pub msgid: Option<String>,
    /// Whether it may stand in the room twice.
    pub may_be_doubled: bool,
    /// The server's id of the line that a private line answers, or belongs to.
    pub question: Option<String>,
    /// The root of the chain of causes, from the answered message or the turn's messages.
    pub cause_root: Option<MessageId>,
    /// The hops a message made of this line has.
    pub hops: i64,
    /// When it was committed.
    pub created_at: UnixMicros,
    /// When it was last written to a socket.
    pub sent_at: Option<UnixMicros>,
    /// When it was confirmed or given up.
    pub settled_at: Option<UnixMicros>,
}
