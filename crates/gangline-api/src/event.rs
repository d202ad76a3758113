//! The record of facts on the wire: one envelope, one payload type per kind.
//!
//! Kinds and fields are only added within version [`EVENT_VERSION`]; a reader skips kinds that it
//! does not know and ignores fields that it does not know. A known kind with a broken payload is
//! an error, not an unknown kind.

use gangline_core::{
    answer::How,
    block::Block,
    hook::WebhookEvent,
    id::{ApprovalNumber, FindingNumber, MessageId, QuestionNumber, TurnId},
    message::Origin,
    name::{AgentName, Target},
    outcome::OutcomeRecord,
    whisper::{WhisperKind, WhisperRoad, WhisperSource},
    word::Stored,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{approval::Decision, finding::Finding};

mod hooks;

pub use hooks::{HookData, HookPayload, OnError, OnMessage, SessionStart, SessionStop};

/// The version of the envelope and the payloads.
pub const EVENT_VERSION: u32 = 1;

/// One event as it is given to clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// [`EVENT_VERSION`] of the writer.
    pub v: u32,
    /// The cursor: opaque, ordered by the database, good for "everything after this".
    pub seq: String,
    /// The agent it is about.
    pub agent: AgentName,
    /// The turn it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The kind; see [`Event::kind`].
    pub kind: String,
    /// When, RFC 3339.
    pub at: String,
    /// The payload of the kind.
    pub payload: Value,
}

impl EventRecord {
    /// Reads the payload; `None` for a kind of a newer version.
    ///
    /// # Errors
    /// The kind is known and its payload is not what it must be.
    pub fn event(&self) -> Result<Option<Event>, PayloadError> {
        Event::decode(&self.kind, self.payload.clone())
    }
}

/// A take as the store records it by itself, which tells more than [`TurnStarted`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TakeRecord {
    /// `woke`, `steered` or `read`.
    pub how: Stored<How>,
    /// The messages that came into the turn.
    pub messages: Vec<TakenMessage>,
}

/// One message of a [`TakeRecord`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TakenMessage {
    /// Which.
    pub id: MessageId,
    /// The number of the attempt, from 1.
    pub attempt: u32,
}

impl TakeRecord {
    /// Reads the payload of a stored event; `None` if the event is no take.
    #[must_use]
    pub fn read(kind: &str, payload: &str) -> Option<Self> {
        if !["turn_started", "turn_steered"].contains(&kind) {
            return None;
        }
        serde_json::from_str(payload).ok()
    }
}

/// Returns a stored payload in the wire's form. A payload that is no JSON becomes a string.
#[must_use]
pub fn stored_payload(kind: &str, turn: Option<TurnId>, payload: &str) -> Value {
    if let ("turn_started", Some(turn), Some(record)) =
        (kind, turn, TakeRecord::read(kind, payload))
    {
        let attempt = record.messages.iter().map(|taken| taken.attempt).max().unwrap_or(1);
        let messages = record.messages.iter().map(|taken| taken.id).collect();
        return serde_json::to_value(TurnStarted { turn, messages, attempt }).unwrap_or_default();
    }
    if let ("turn_steered", Some(turn), Some(record)) =
        (kind, turn, TakeRecord::read(kind, payload))
    {
        let messages = record.messages.iter().map(|taken| taken.id).collect();
        let how = record.how;
        return serde_json::to_value(TurnSteered { turn, messages, how }).unwrap_or_default();
    }
    serde_json::from_str(payload).unwrap_or_else(|_| Value::from(payload))
}

/// A payload that does not fit its kind.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the payload of a `{kind}` event")]
pub struct PayloadError {
    kind: String,
    source: serde_json::Error,
}

macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident = $kind:literal),* $(,)?) => {
        /// A fact about an agent; every payload type of this version.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Event { $($(#[$doc])* $variant($variant)),* }

        impl Event {
            /// Every kind, in order.
            pub const KINDS: &'static [&'static str] = &[$($kind),*];

            /// Returns the kind's name on the wire.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind),* }
            }

            /// Returns the payload as JSON bytes, as the store keeps it.
            ///
            /// # Errors
            /// The payload cannot be written as JSON.
            pub fn encode(&self) -> Result<Vec<u8>, PayloadError> {
                let bytes = match self { $(Self::$variant(payload) => serde_json::to_vec(payload)),* };
                bytes.map_err(|source| PayloadError { kind: self.kind().to_owned(), source })
            }

            /// Reads a payload; `None` for a kind of a newer version.
            ///
            /// # Errors
            /// The kind is known and its payload is not what it must be.
            pub fn decode(kind: &str, payload: Value) -> Result<Option<Self>, PayloadError> {
                match kind {
                    $($kind => read(kind, payload).map(Self::$variant).map(Some),)*
                    _ => Ok(None),
                }
            }
        }
        $(impl From<$variant> for Event {
            fn from(payload: $variant) -> Self { Self::$variant(payload) }
        })*
    };
}

events! {
    /// A message was committed.
    MessageAccepted = "message_accepted",
    /// A turn began.
    TurnStarted = "turn_started",
    /// Messages came into a turn that was open.
    TurnSteered = "turn_steered",
    /// The model spoke.
    Assistant = "assistant",
    /// A tool ended.
    ToolResult = "tool_result",
    /// A line was committed to be sent.
    Sent = "sent",
    /// A turn ended.
    TurnEnded = "turn_ended",
    /// Somebody must decide.
    ApprovalAsked = "approval_asked",
    /// Somebody decided.
    ApprovalDecided = "approval_decided",
    /// The session's phase changed.
    Phase = "phase",
    /// A step of the daemon's start (R0-35).
    StartStep = "start_step",
    /// The backend takes prompts (R3-10).
    SessionStart = "session_start",
    /// The backend is gone (R3-10).
    SessionStop = "session_stop",
    /// A message was taken into a turn (R3-10).
    OnMessage = "on_message",
    /// A turn failed, or the backend crashed (R3-10).
    OnError = "on_error",
    /// Something that a human may want to be told of (R1-39).
    Alert = "alert",
    /// The supervisor's model has judged the agent's turns (R0-25 … R0-28).
    Verdict = "verdict",
    /// Anything else that people should know.
    Notice = "notice",
    /// Another agent asks this one (R2-22).
    QuestionAsked = "question_asked",
    /// A question of this agent has its answer (R2-22).
    QuestionAnswered = "question_answered",
    /// A watchdog, a detector or the supervisor found something, or it is seen or resolved.
    Finding = "finding",
    /// The agent alone is to be told something (R1-33).
    Whisper = "whisper",
    /// Whispers have reached the agent.
    WhisperDelivered = "whisper_delivered",
}

fn read<T: DeserializeOwned>(kind: &str, payload: Value) -> Result<T, PayloadError> {
    serde_json::from_value(payload).map_err(|source| PayloadError { kind: kind.to_owned(), source })
}

/// Payload of `message_accepted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageAccepted {
    /// The message.
    pub message: MessageId,
    /// Why it exists.
    pub origin: Origin,
    /// The nick or label of the sender.
    pub sender: String,
    /// Where an answer goes; absent for the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// The beginning of the text, redacted.
    pub preview: String,
}

/// Payload of `turn_started`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStarted {
    /// The turn.
    pub turn: TurnId,
    /// The messages it was woken by; empty when the backend began by itself.
    pub messages: Vec<MessageId>,
    /// The highest attempt number among them; 1 = the first.
    pub attempt: u32,
}

/// Payload of `turn_steered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSteered {
    /// The turn.
    pub turn: TurnId,
    /// The messages that came into it.
    pub messages: Vec<MessageId>,
    /// How: `steered`, they were given to it; `read`, the agent read them by itself.
    pub how: Stored<How>,
}

/// Payload of `assistant`: one message of the model, in the form that is the same for every
/// backend (R0-18).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "assistant")]
pub struct Assistant {
    /// The model that spoke.
    pub model: String,
    /// Its blocks, in order.
    pub content: Vec<Block>,
}

/// Payload of `tool_result`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Whether it failed or was refused.
    pub is_error: bool,
    /// The beginning of what it gave, redacted.
    pub preview: String,
}

/// Payload of `sent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Where it goes.
    pub to: Target,
    /// The message it answers, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<MessageId>,
    /// The beginning of the text, redacted.
    pub preview: String,
}

/// Payload of `turn_ended`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnded {
    /// The turn.
    pub turn: TurnId,
    /// How: `completed`, `failed:api_error`, `rate_limited`, `needs_login`, `interrupted:drain`,
    /// `timed_out`, `lost`.
    pub outcome: OutcomeRecord,
    /// More about it, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The messages it had.
    pub messages: Vec<MessageId>,
}

/// Payload of `approval_asked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalAsked {
    /// The number by which it is decided.
    pub number: ApprovalNumber,
    /// The tool that wants to run.
    pub tool: String,
    /// What it would do, in one line, redacted.
    pub summary: String,
}

/// Payload of `approval_decided`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalDecided {
    /// The number.
    pub number: ApprovalNumber,
    /// What was said.
    pub decision: Decision,
    /// The account that said it.
    pub by: String,
}

/// Payload of `phase`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The phase that ended.
    pub from: Stored<gangline_core::agent::AgentPhase>,
    /// The phase that began.
    pub to: Stored<gangline_core::agent::AgentPhase>,
}

/// Payload of `start_step`: the daemon's start, step by step, in the order of R0-35.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartStep {
    /// The step: `buffer`, `irc`, `webhook`, `socket`, `supervisor`, `runner`.
    pub step: String,
    /// What became of it.
    pub state: StepState,
}

/// What became of a step of the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// It stands.
    Done,
    /// It is not configured.
    Absent,
}

/// Payload of `verdict`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// What the supervisor said.
    pub verdict: Stored<gangline_core::watch::Verdict>,
    /// Its message to the agent, redacted; empty for `OK`.
    pub message: String,
    /// Which evaluation of this daemon it is, from 1.
    pub evaluation: u64,
    /// The backend of the supervisor.
    pub by: String,
}

/// Payload of `notice`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// A word that programs may branch on.
    pub code: String,
    /// The sentence for people, redacted.
    pub text: String,
}

/// Payload of `question_asked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event")]
pub struct QuestionAsked {
    /// The question's number.
    pub id: QuestionNumber,
    /// Who asks.
    pub asker: AgentName,
    /// What is asked, redacted.
    pub question: String,
    /// What to choose from.
    #[serde(default)]
    pub options: Vec<String>,
    /// Whether several options may be chosen.
    #[serde(default)]
    pub multi: bool,
}

/// Payload of `question_answered`: also when nobody answered in time, or it was withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event")]
pub struct QuestionAnswered {
    /// The question's number.
    pub id: QuestionNumber,
    /// What was asked, redacted.
    pub question: String,
    /// The answer, redacted; `[expired]` or `[cancelled]` for none.
    pub answer: String,
    /// Who gave it; `ttl-watchdog` when the time was over.
    pub answerer: String,
}

/// Payload of `whisper`: the store records it with the whisper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whisper {
    /// Its number.
    pub id: i64,
    /// What it asks.
    pub whisper_type: Stored<WhisperKind>,
    /// Who whispers.
    pub source: Stored<WhisperSource>,
    /// The text, redacted.
    pub text: String,
    /// The account or nick of a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The number of the finding that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<FindingNumber>,
}

/// Payload of `whisper_delivered`: the store records it with the delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhisperDelivered {
    /// The numbers of the whispers.
    pub ids: Vec<i64>,
    /// How they reached the agent.
    pub road: Stored<WhisperRoad>,
}

/// Payload of `alert` (R1-39, R1-42).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// What happened.
    pub event: WebhookEvent,
    /// How grave it is: `info`, `warning`, `error`.
    pub severity: String,
    /// The line for people, redacted.
    pub text: String,
}
