//! Inputs of the agent.

use std::{fmt, time::Duration};

use crate::{
    answer::Tool,
    approval::Decision,
    id::{MessageId, TurnId},
    message::Origin,
    outcome::{By, EndedBy},
    pause::{PauseReason, QUOTA_FROM, Until},
    time::WallMicros,
    whisper::WhisperRoad,
};

use super::{Abilities, ChosenModel, ContextChange};

/// One generation of the runtime, counted from 1: it tells reports of old generations apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub i64);

/// The runtime's own id of a permission request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalRequestId(pub String);

impl fmt::Display for ApprovalRequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A durable message that waits (its row is `accepted` and due). Without its body.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Queued {
    /// Its id.
    pub id: MessageId,
    /// Who asked: a nick or label.
    pub asker: String,
    /// Where the answer goes: a channel, a nick, or empty.
    pub target: String,
    /// Why it exists.
    pub origin: Origin,
    /// The attempts that its row has counted so far.
    pub attempt: i64,
    /// Set if it is itself an answer.
    pub in_reply_to: Option<MessageId>,
    /// The message that it all began with; its own id if no agent caused it.
    pub cause: MessageId,
    /// Whether it needs a turn of its own.
    pub needs: Needs,
}

/// Whether a message needs a turn of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Needs {
    /// It starts a turn.
    #[default]
    Turn,
    /// It is taken with the next message, and starts a turn if no other waits.
    AnyTurn,
    /// It is taken with the next message, and starts none.
    OtherMessage,
}

/// What reaches the agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Input {
    /// A message waits. One that is known already (a re-scan gives it again) is passed over.
    Message(Queued),
    /// A waiting message was withdrawn.
    Cancelled {
        /// Which.
        message: MessageId,
    },
    /// T1 is committed: the turn exists.
    Taken {
        /// Which turn.
        turn: TurnId,
    },
    /// T1 could not be committed: the turn never was.
    TakeFailed {
        /// Which turn.
        turn: TurnId,
        /// Messages that are no longer to be taken. None: the store cannot write.
        gone: Vec<MessageId>,
    },
    /// The agent reads these messages by tool; those that wait join the open turn.
    Read {
        /// Which messages.
        messages: Vec<MessageId>,
    },
    /// [`super::Effect::Steer`] is committed for these.
    Joined {
        /// Which turn.
        turn: TurnId,
        /// Which messages.
        messages: Vec<MessageId>,
    },
    /// [`super::Effect::Join`] or [`super::Effect::Steer`] could not be committed for these.
    JoinFailed {
        /// Which turn.
        turn: TurnId,
        /// Which messages.
        messages: Vec<MessageId>,
    },
    /// From the runtime.
    Runtime(RuntimeInput),
    /// T2 is committed: a send by tool. Must come before the tool hears `ok`.
    Sent {
        /// The turn that sent.
        turn: TurnId,
        /// The channel or nick.
        to: String,
        /// The message it names.
        in_reply_to: Option<MessageId>,
    },
    /// The agent said by tool that no reply is needed. Must come before the tool hears `ok`.
    NoReply {
        /// The turn that said so.
        turn: TurnId,
        /// To this message; `None` means each one of the turn.
        message: Option<MessageId>,
    },
    /// An approval was decided.
    Decision {
        /// The turn that asked.
        turn: TurnId,
        /// Which request.
        request: ApprovalRequestId,
        /// What was decided.
        decision: Decision,
    },
    /// An operator's word.
    Operator(Operator),
    /// Feed nothing new for this reason; rows are kept (C3). The open turn continues. Given again, it
    /// has another end.
    Pause {
        /// Why.
        reason: PauseReason,
        /// When it ends by itself.
        until: Option<Until>,
    },
    /// This reason holds no more; messages are fed again when none does.
    Unpause {
        /// Which.
        reason: PauseReason,
    },
    /// A person wants this done to the context, once no turn is open.
    Change(ContextChange),
    /// Another model was chosen than the backend was started with or told last.
    ModelChosen(ChosenModel),
    /// Another ground level of the effort was chosen than the backend was started with.
    EffortChosen,
    /// The agent is given a whisper that asks it to think deeper. With a prompt: before that is given.
    ThinkDeeper {
        /// In which turn.
        turn: TurnId,
        /// By which road.
        road: WhisperRoad,
    },
    /// The daemon is to end.
    Drain(Drain),
    /// The store cannot write: no new turns.
    StoreDegraded,
    /// The store can write again.
    StoreOk,
    /// A deadline may be over.
    Tick,
}

/// What an operator (or the supervisor) asks of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Feed again, as far as a person may say so ([`PauseReason::ends_with_resume`]); also closes the
    /// breaker half.
    Resume,
    /// End the open turn early (`abort`, `interrupt`).
    Interrupt(By),
}

/// How urgently the daemon is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Drain {
    /// The open turn may end on its own.
    Soft,
    /// The open turn is interrupted.
    Now,
}

/// A provider's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Too much at once: the next request may pass.
    Throttle,
    /// What the account may use until a named time is used up.
    Quota,
}

impl Limit {
    /// Returns the limit that a wait of this length means.
    #[must_use]
    pub fn of(wait: Duration) -> Self {
        if wait >= QUOTA_FROM { Self::Quota } else { Self::Throttle }
    }
}

/// How the runtime says that a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Finish {
    /// It yielded. While an interrupt is under way too: then the turn was quicker.
    Completed,
    /// It failed; a short word for why.
    Failed(String),
    /// Its prompt does not fit the model any more. The turn may go on: see
    /// [`super::Effect::PromptAgain`].
    Overflow,
    /// Its backend takes nothing before this time.
    RateLimited {
        /// Until when, by the wall clock: the message's row keeps it.
        until: WallMicros,
        /// How long that is from now: nothing else is fed for so long either.
        wait: Duration,
        /// Which limit it met. A spent quota pauses the agent until then.
        limit: Limit,
    },
    /// Its backend has no login (R2-43): nothing is fed until [`RuntimeInput::LoggedIn`], a
    /// [`Operator::Resume`] or the end of this generation.
    NeedsLogin,
    /// It ended because of an interrupt.
    Interrupted,
}

/// What the runtime reports.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RuntimeInput {
    /// It takes prompts now.
    Ready {
        /// Which generation.
        generation: Generation,
    },
    /// Its session is empty and is told something first: a turn of its own begins before the next
    /// message is taken (R0-07).
    Primes {
        /// Which generation.
        generation: Generation,
    },
    /// It started a turn on its own. Answered with [`super::Effect::AdoptTurn`].
    Began {
        /// Which generation.
        generation: Generation,
    },
    /// It took the prompt.
    Accepted {
        /// Which turn.
        turn: TurnId,
    },
    /// Any sign of life.
    Output {
        /// Which turn.
        turn: TurnId,
    },
    /// It has taken up what it was steered with: what comes from now on may be the answer.
    Steered {
        /// Which turn.
        turn: TurnId,
        /// Which messages.
        messages: Vec<MessageId>,
    },
    /// A block of the assistant's text.
    Text {
        /// Which turn.
        turn: TurnId,
        /// The text.
        text: String,
    },
    /// A tool came back.
    ToolResult {
        /// Which turn.
        turn: TurnId,
        /// What kind of tool.
        tool: Tool,
    },
    /// It waits for a permission.
    ApprovalAsked {
        /// Which turn.
        turn: TurnId,
        /// Which request.
        request: ApprovalRequestId,
    },
    /// It waits for it no longer.
    ApprovalWithdrawn {
        /// Which turn.
        turn: TurnId,
        /// Which request.
        request: ApprovalRequestId,
    },
    /// The turn ended.
    Finished {
        /// Which turn.
        turn: TurnId,
        /// How.
        how: Finish,
    },
    /// Its context holds so much.
    Holds {
        /// In tokens.
        tokens: u64,
        /// How many tokens there is room for, if known.
        window: Option<u64>,
    },
    /// It was started, and can do this. Told before `Ready`.
    Can {
        /// Which generation.
        generation: Generation,
        /// What it can do.
        abilities: Abilities,
    },
    /// Its context is shorter now.
    Compacted {
        /// Which generation.
        generation: Generation,
    },
    /// Its context was to be made shorter or empty, and could not be.
    NotCompacted {
        /// Which generation.
        generation: Generation,
    },
    /// It does not take a command that it must take: it is ended, and nobody is to blame.
    Unusable {
        /// Which generation.
        generation: Generation,
    },
    /// Its backend found out at its start that it has no login (R2-43): nothing is fed.
    NeedsLogin {
        /// Which generation.
        generation: Generation,
    },
    /// Its backend has a login again.
    LoggedIn {
        /// Which generation.
        generation: Generation,
    },
    /// The program exited on its own and reports success: code 0 (R0-20). After work, and with no
    /// turn open, that is no death.
    Ended {
        /// Which generation.
        generation: Generation,
    },
    /// The program is gone.
    Exited {
        /// Which generation.
        generation: Generation,
        /// Whose doing it was.
        by: EndedBy,
    },
}
