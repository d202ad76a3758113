//! The messages between the tasks of one daemon.

use gangline_api::status::SupervisorStatus;
use gangline_core::{
    MessageId, TurnId,
    agent::{ContextChange, Drain},
    approval::Decision,
    finding::FindingKind,
    pause::PauseReason,
    redact::Redacted,
    whisper::{WhisperKind, WhisperSource},
};
use gangline_os::clock::UnixMicros;
use gangline_store::{ApprovalRow, MessageRow, NewFinding};
use tokio::sync::{mpsc, oneshot};

#[cfg(test)]
mod tests;

/// Room for what waits for the agent loop: senders wait beyond it, so back-pressure reaches the
/// socket and the pipe.
pub(crate) const LOOP_QUEUE: usize = 256;
/// Room for what waits for the link; truth is in the outbox.
pub(crate) const LINK_QUEUE: usize = 64;

/// Told once the loop has taken what it came with. A tool returns to its backend only then: the end
/// of the turn that the backend tells next must not overtake it.
pub(crate) type Heard = oneshot::Sender<()>;

/// Has the loop take something, and waits until it has.
///
/// # Errors
/// [`Ending`] when the loop takes nothing any more.
pub(crate) async fn taken(
    agent_loop: &mpsc::Sender<Incoming>,
    incoming: impl FnOnce(Heard) -> Incoming,
) -> Result<(), Ending> {
    let (heard, taken) = oneshot::channel();
    agent_loop.send(incoming(heard)).await.map_err(|_| Ending)?;
    taken.await.map_err(|_| Ending)
}

/// Nothing is taken in any more. Its text is what everybody hears who comes too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the daemon ends")]
pub(crate) struct Ending;

/// What reaches the agent loop.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// Everything is up: the backend may be started.
    Begin,
    /// This row is committed and waits for a turn; it is not known to be synced (see
    /// [`gangline_store::Store::accept_and_notify`]).
    Accepted(Box<MessageRow>),
    /// A waiting message was cancelled.
    Cancelled { message: MessageId },
    /// T2 is committed.
    Sent { turn: TurnId, to: String, in_reply_to: Option<MessageId>, heard: Heard },
    /// The agent said by tool that no reply is needed.
    NoReply { turn: TurnId, message: Option<MessageId>, heard: Heard },
    /// An operator's word. Its row is on disk.
    Operator(Word),
    /// Begins no new turn for this reason. A pause that already holds gets the new end and note.
    Pause { reason: PauseReason, until: Option<UnixMicros>, note: Option<Redacted> },
    /// This reason holds no more.
    Unpause(PauseReason),
    /// The supervisor has given up: a person must decide (R0-28, R1-34).
    Escalate(Box<Escalation>),
    /// The fault between the agent and its chat network; `None` = none.
    Irc(Option<String>),
    /// The agent is in its rooms, and its backend takes prompts or is not to be started: those who
    /// wait for it are to be told, after what was written before.
    Ready,
    /// This turn is to end, if it is still open. The order is on disk.
    EndTurn { turn: TurnId },
    /// The agent reads these messages by tool: those that wait join the open turn. `rows` are what the
    /// reader found in the store, where a row may be before the loop hears of it.
    Read { messages: Vec<MessageId>, rows: Vec<MessageRow>, heard: Heard },
    /// The agent looked at its inbox or at a channel, and nothing new was there for its turn.
    Looked,
    /// The supervisor says what it is doing.
    Watched(Box<SupervisorStatus>),
    /// The agent's context is to be shortened or emptied, once no turn is open. `order` is the number of
    /// the order's row.
    Change { change: ContextChange, order: i64 },
    /// Something was found about this agent.
    Finding(Box<NewFinding>),
    /// What was found under this key holds no more.
    FindingResolved { key: String },
    /// The agent is to be told something that nobody else sees.
    Whisper(Whisper),
    /// An answer to the agent can carry whispers.
    TakeWhispers(crate::whispers::Taking),
    /// The daemon must end.
    Drain(Drain),
    /// The daemon's tick, with the number that the loop shows when it has taken it.
    Tick(u64),
}

/// Something that the agent alone is told (R1-33).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Whisper {
    pub(crate) kind: WhisperKind,
    pub(crate) source: WhisperSource,
    /// Cut to [`gangline_core::whisper::TEXT_MAX`].
    pub(crate) text: String,
    /// The key of the finding that it is about.
    pub(crate) finding: Option<String>,
    /// The last turn that it is about; it may be over.
    pub(crate) turn: Option<TurnId>,
}

/// A human's decision on an approval.
#[derive(Debug)]
pub(crate) struct Ruled {
    pub(crate) decision: Decision,
    /// By whom, as others know that person.
    pub(crate) by: String,
    /// Why not, for the model.
    pub(crate) reason: Option<String>,
}

impl Ruled {
    /// Returns what was decided on an approval, if anything was.
    pub(crate) fn of(row: &ApprovalRow) -> Option<Self> {
        let account = || row.decided_by.as_ref().map(|by| by.account.clone());
        Some(Self {
            decision: row.decision?,
            by: row.decided_as.clone().or_else(account).unwrap_or_default(),
            reason: row.note.as_ref().map(ToString::to_string),
        })
    }
}

/// What the supervisor gave up on.
#[derive(Debug, Clone)]
pub(crate) struct Escalation {
    /// What is wrong.
    pub(crate) kind: FindingKind,
    /// What the agent is stuck on.
    pub(crate) task: Redacted,
    /// Why, in one sentence for people.
    pub(crate) cause: String,
    /// What was seen.
    pub(crate) evidence: String,
    /// How often it repeated the same call, if that was counted; 0 otherwise.
    pub(crate) retries: u32,
}

/// What an operator may say to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// Start no new turn, until somebody resumes the agent or until then.
    Pause { until: Option<UnixMicros> },
    /// Go on; closes the breaker too.
    Resume,
    /// End this turn, and an escalation.
    Abort { turn: Option<TurnId> },
}

/// Why the daemon cannot continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fatal {
    /// A newer daemon writes for the agent.
    Fenced(String),
    /// The database is damaged.
    Corrupt(String),
    /// A task ended that should not.
    TaskEnded(String),
    /// The agent loop does not turn any more.
    Stuck,
}
