//! Reminders: messages that an agent gets later, once or again and again.

use gangline_core::{AgentName, MessageId, Principal, TurnId, redact::Redacted};
use gangline_os::clock::UnixMicros;

/// A reminder to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReminder {
    /// Whose inbox it comes to.
    pub agent: AgentName,
    /// Who wants it: the agent itself, or a person.
    pub by: Principal,
    /// The turn in which the agent asks for it.
    pub turn: Option<TurnId>,
    /// Makes a repetition the same reminder; unique per agent.
    pub request: String,
    /// Where the agent answers once it is reminded: a channel, a nick, or nothing.
    pub target: String,
    /// What it is reminded of, or where that is.
    pub body: Redacted,
    /// When.
    pub due_at: UnixMicros,
    /// How it repeats, as [`gangline_core::reminder`] writes it.
    pub repeats: Option<String>,
    /// The most that the agent may have waiting.
    pub open_max: u32,
}

/// What became of a reminder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReminderState {
    /// It waits for its time.
    Waiting,
    /// It has fired, and does not repeat.
    Fired,
}

/// One row of the reminders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReminderRow {
    /// The number, in a sequence of its own.
    pub id: i64,
    /// Whose.
    pub agent: AgentName,
    /// Who wants it.
    pub by: Principal,
    /// Where the agent answers.
    pub target: String,
    /// What it is reminded of.
    pub body: Redacted,
    /// When it fires next, or fired last.
    pub due_at: UnixMicros,
    /// How it repeats.
    pub repeats: Option<String>,
    /// Whether it still waits.
    pub state: ReminderState,
    /// How often it has fired.
    pub fired: u64,
    /// The message in whose turn it was made.
    pub parent: Option<MessageId>,
    /// When it was made.
    pub created_at: UnixMicros,
}

/// A reminder that is due, and what comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firing {
    /// Which.
    pub id: i64,
    /// The time that it was due, as it was read: a second firing of it finds another.
    pub due_at: UnixMicros,
    /// The message's text.
    pub body: Redacted,
    /// When it fires again.
    pub next: Option<UnixMicros>,
}
