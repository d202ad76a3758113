//! A durable message: its source, its author and its state.

use serde::{Deserialize, Serialize};

use crate::words;

words! {
    /// The life of a message: `accepted → in_turn →` one of the terminal states.
    MessageState, "message state" {
        /// Committed, waiting for a turn.
        Accepted = "accepted",
        /// Part of an open turn.
        InTurn = "in_turn",
        /// Settled: an answer was recorded.
        Answered = "answered",
        /// Settled: the agent said that no reply is needed.
        NoReply = "no_reply",
        /// Settled: the turn failed; the asker was told.
        Failed = "failed",
        /// Settled: its time to live ran out.
        Expired = "expired",
        /// Settled: the sender may not prompt this agent.
        Refused = "refused",
        /// Settled: withdrawn by somebody.
        Cancelled = "cancelled",
        /// Kept, not fed, until a human lifts it.
        Held = "held",
        /// Settled: attempts used up.
        DeadLetter = "dead_letter",
    }
}

impl MessageState {
    /// Returns whether the message has reached its final state.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Accepted | Self::InTurn | Self::Held => false,
            Self::Answered
            | Self::NoReply
            | Self::Failed
            | Self::Expired
            | Self::Refused
            | Self::Cancelled
            | Self::DeadLetter => true,
        }
    }

    /// Returns what became of a message, for people: `m42 was answered already`.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Accepted => "waits",
            Self::InTurn => "is in an open turn",
            Self::Answered => "was answered already",
            Self::NoReply => "was read already, and needed no reply",
            Self::Failed => "has failed already",
            Self::Expired => "has expired already",
            Self::Refused => "was refused already",
            Self::Cancelled => "was cancelled already",
            Self::Held => "is held",
            Self::DeadLetter => "was given up already, after too many attempts",
        }
    }
}

words! {
    /// Why a prompt exists.
    Origin, "message origin" {
        /// A line in a channel that names the agent.
        Mention = "mention",
        /// A private line to the agent.
        Direct = "direct",
        /// The command line (`gangline prompt`).
        Cli = "cli",
        /// The HTTP interface.
        Http = "http",
        /// A tool of another agent.
        Agent = "agent",
        /// A reminder that fell due.
        Reminder = "reminder",
        /// An answer to a question the agent asked.
        Answer = "answer",
        /// A wake from outside.
        Wake = "wake",
        /// The harness itself.
        System = "system",
    }
}

words! {
    /// How far somebody is trusted (design: Trust), lowest first.
    Tier, "tier" {
        /// Somebody unknown; lines can be read, but start no turn.
        Stranger = "stranger",
        /// An agent of this installation.
        Agent = "agent",
        /// A person who may prompt.
        Member = "member",
        /// An owner: prompts, approves, pauses.
        Owner = "owner",
    }
}

/// Who speaks: an account and its tier. A nick is never a principal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Principal {
    /// The account's name, or `~<nick>` for somebody without one.
    pub account: String,
    /// How far the account is trusted.
    pub tier: Tier,
}
