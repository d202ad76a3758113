//! Questions, letters and reminders as every surface shows them.

use gangline_core::{
    id::{MessageId, QuestionNumber},
    name::AgentName,
};
use serde::{Deserialize, Serialize};

/// One question: an item of `gangline questions --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its number.
    pub number: QuestionNumber,
    /// Who asks.
    pub agent: AgentName,
    /// Who is asked: `operator`, `room:#ops`, `person:ori`, `agents:oak-ada,oak-bob`.
    pub to: String,
    /// Whose answer counts.
    pub rule: String,
    /// What is asked.
    pub question: String,
    /// What to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Whether several options may be chosen.
    pub multi: bool,
    /// Where it stands.
    pub state: String,
    /// The answer that stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Who gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answerer: Option<String>,
    /// What agents have answered so far, where an answer of theirs does not decide alone. Empty once the question
    /// is closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// When it was asked.
    pub asked_at: String,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// When the answer came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<String>,
}

/// What one agent has answered to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Who.
    pub agent: AgentName,
    /// What it said.
    pub answer: String,
}

/// One letter: an item of `gangline inbox --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Its number.
    pub letter: i64,
    /// Who sent it.
    pub agent: AgentName,
    /// The text.
    pub body: String,
    /// Where it stands: `new`, `read`, `answered`, `done`.
    pub state: String,
    /// The message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<MessageId>,
    /// The message to the agent that answers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<MessageId>,
    /// Who answered it or put it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<String>,
    /// When it was sent.
    pub sent_at: String,
}

/// One reminder: an item of `gangline reminders --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    /// Its number.
    pub reminder: i64,
    /// Who is reminded.
    pub agent: AgentName,
    /// Who set it.
    pub by: String,
    /// The text.
    pub body: String,
    /// Where the agent answers once it is reminded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Where it stands: `waiting`, `fired`.
    pub state: String,
    /// How often it has fired.
    pub fired: u64,
    /// When it is due next, or was last.
    pub due_at: String,
    /// How it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
    /// When it was set.
    pub made_at: String,
}
