//! What a watchdog, a detector or the supervisor has found about an agent.
//!
//! A finding is kept until it is resolved. One that a person must decide waits in the attention list,
//! with its cause, what can be done, and what is affected.

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
        /// A message was given up.
        DeadLetter = "dead_letter",
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
