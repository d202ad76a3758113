//! What the daemon asks of a backend, in one shape for all of them.

use gangline_core::{TurnId, effort::Effort};

use crate::{ApprovalReply, Prompt, StopReason};

/// What the owner of a session asks of it. None of them waits for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Hand over one prompt (R0-13). Before the session is ready, the prompt waits for that; it is
    /// refused while a turn is open: queueing is the daemon's part (C23).
    Prompt(Prompt),
    /// Make the turn that the backend began unasked ([`crate::RuntimeEvent::Began`]) this one: its
    /// events follow. Ignored if that turn is over and was adopted already.
    Adopt(TurnId),
    /// Add text to the open turn; [`crate::RuntimeEvent::Steered`] follows when the model has it.
    /// If the turn ends before, nothing follows, and the model never has it.
    Steer(Prompt),
    /// End the open turn early; safe when idle. Never refused.
    Interrupt,
    /// Answer an `ApprovalAsked`; an answer to a request that is gone is ignored. Never refused.
    Decide(ApprovalReply),
    /// Use another model from the next turn on.
    SetModel(String),
    /// Have the model think harder, or as before, from when [`crate::Capabilities::effort`] says
    /// (R1-11). [`crate::RuntimeEvent::Effort`] follows if that changes something; nothing does where the
    /// model thinks as hard as it can.
    SetEffort(Effort),
    /// Shorten the context: [`crate::RuntimeEvent::Compacting`], then
    /// [`crate::RuntimeEvent::Compacted`]. The session does it between turns; a prompt that comes
    /// meanwhile waits.
    Compact,
    /// Forget the context: the next turn begins an empty session. [`crate::RuntimeEvent::Session`]
    /// tells its id once it is known, also if it is the old one's.
    Clear,
    /// End the session: interrupt, wait, then kill (R0-08 … R0-11). Never refused.
    Stop(StopReason),
}
