//! Why an agent starts no new turn: the reasons of a pause.

use crate::words;

words! {
    /// Why an agent is paused. Several may hold at once; it goes on when none does.
    PauseReason, "reason of a pause" {
        /// A person said so.
        Operator = "operator",
        /// A question of its own expired that was to end so (R1-53).
        Question = "question",
        /// The supervisor has escalated (R1-34, R1-35).
        Escalation = "escalation",
        /// It sleeps by its schedule (`sleep_start`, `sleep_end`; R0-52).
        Schedule = "schedule",
        /// A budget is spent.
        Budget = "budget",
        /// The provider's quota is spent until a named time.
        RateLimit = "rate_limit",
        /// The whole installation's limit is reached.
        Fleet = "fleet",
    }
}
