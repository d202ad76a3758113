//! What a watchdog, a detector or the supervisor has found about an agent.
//!
//! A finding is kept until it is resolved. One that a person must decide waits in the attention list,
//! with its cause, what can be done, and what is affected.

use serde::{Deserialize, Serialize};

use crate::words;

words! {
    /// What was found.
    FindingKind, "kind of finding" {
        /// The supervisor's verdict, or three detections in a row: the agent repeats itself (R1-36).
        Spiraling = "spiraling",
        /// The agent left its task (R1-36).
        Drift = "drift",
        /// The agent makes no progress (R1-36).
        Stalling = "stalling",
        /// The agent thinks too little for its task (R1-36).
        Shallow = "shallow",
        /// The same tool call again and again.
        RepeatedCall = "repeated_call",
        /// The same error again and again.
        RepeatedError = "repeated_error",
        /// Edits that undo each other.
        UndoneEdits = "undone_edits",
        /// The agent did not look at its inbox for long (R1-30).
        UnreadInbox = "unread_inbox",
        /// The context is nearly full.
        ContextFilling = "context_filling",
        /// A turn without output.
        SilentTurn = "silent_turn",
        /// A turn longer than allowed.
        LongTurn = "long_turn",
        /// A message has waited too long for a turn.
        WaitingInbox = "waiting_inbox",
        /// The daemon has not shown that it lives.
        NoHeartbeat = "no_heartbeat",
        /// The agent is to run, and no daemon of it does.
        NotRunning = "not_running",
        /// The backend crashed too often and is not started any more (R0-22).
        BreakerOpen = "breaker_open",
        /// An approval waits for a person.
        UnansweredApproval = "unanswered_approval",
        /// The supervisor has given up: a person must decide (R1-34).
        Escalation = "escalation",
        /// A budget is spent or nearly so.
        Budget = "budget",
        /// The provider's limit is reached.
        RateLimit = "rate_limit",
        /// Another agent of the same account has met the provider's limit.
        SharedLimit = "shared_limit",
        /// A message was given up.
        DeadLetter = "dead_letter",
        /// Messages are held back: their request has used up its turns or its hops.
        HeldMessages = "held_messages",
        /// The agent's folder brings along what starts programs or changes settings, and nobody has
        /// allowed it.
        UntrustedFolder = "untrusted_folder",
    }
}

words! {
    /// Where a finding stands.
    FindingState, "state of a finding" {
        /// Nobody has looked at it.
        Open = "open",
        /// A person has seen it, and it still holds.
        Seen = "seen",
        /// It holds no more, or a person has decided.
        Resolved = "resolved",
    }
}

words! {
    /// How grave a finding is, as alerts have it (R1-39).
    Severity, "severity" {
        /// Good to know.
        Info = "info",
        /// Somebody should look.
        Warning = "warning",
        /// Work stands still.
        Error = "error",
    }
}

words! {
    /// What a person may choose for a finding. Each word is carried out by the command of that name.
    ChoiceWord, "choice" {
        /// The agent goes on: lifts what holds it and closes its breaker.
        Resume = "resume",
        /// The open turn ends; the agent goes on with what waits.
        Abort = "abort",
        /// The message is tried again, with its attempts counted anew.
        Retry = "retry",
        /// Held messages are let go.
        Release = "release",
        /// The daemon is started.
        Start = "start",
        /// The daemon is ended and started again.
        Restart = "restart",
        /// The finding is put away, and nothing is done.
        Dismiss = "dismiss",
    }
}

/// One of the things that a person may choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The word to answer with.
    pub word: ChoiceWord,
    /// What it does, for people.
    pub what: String,
}

impl Choice {
    /// Returns a choice with what it does.
    #[must_use]
    pub fn new(word: ChoiceWord, what: impl Into<String>) -> Self {
        Self { word, what: what.into() }
    }
}

impl FindingKind {
    /// Returns whether a finding may be put away without a decision. An escalation holds the agent until
    /// somebody decides.
    #[must_use]
    pub fn may_be_dismissed(self) -> bool {
        self != Self::Escalation
    }

    /// Returns how grave a finding of this kind is unless its maker knows better.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::Spiraling
            | Self::Drift
            | Self::Stalling
            | Self::Shallow
            | Self::RepeatedCall
            | Self::RepeatedError
            | Self::UndoneEdits
            | Self::UnreadInbox
            | Self::ContextFilling
            | Self::SharedLimit => Severity::Info,
            Self::SilentTurn
            | Self::LongTurn
            | Self::WaitingInbox
            | Self::UnansweredApproval
            | Self::RateLimit
            | Self::Budget
            | Self::HeldMessages
            | Self::UntrustedFolder => Severity::Warning,
            Self::NoHeartbeat
            | Self::NotRunning
            | Self::BreakerOpen
            | Self::Escalation
            | Self::DeadLetter => Severity::Error,
        }
    }
}
