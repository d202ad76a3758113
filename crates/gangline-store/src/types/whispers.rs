//! Whispers: what the agent alone is told, and how it reached the agent.

use gangline_core::{
    AgentName, FindingNumber, Redacted, TurnId,
    whisper::{WhisperKind, WhisperRoad, WhisperSource, pool::Whisper},
};
use gangline_os::clock::UnixMicros;

/// A whisper to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWhisper {
    /// Whom it is for.
    pub agent: AgentName,
    /// What it asks.
    pub kind: WhisperKind,
    /// Who whispers.
    pub source: WhisperSource,
    /// The text; as [`gangline_core::whisper::clean`] leaves it.
    pub text: Redacted,
    /// The account or nick of a person.
    pub by: Option<String>,
    /// The finding that it is about.
    pub finding: Option<OfFinding>,
    /// The turn that it is about.
    pub turn: Option<TurnId>,
}

/// One row of the whispers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhisperRow {
    /// The number, in a sequence of its own.
    pub id: i64,
    /// Whom it is for.
    pub agent: AgentName,
    /// What it asks.
    pub kind: WhisperKind,
    /// Who whispers.
    pub source: WhisperSource,
    /// The text.
    pub text: Redacted,
    /// The account or nick of a person.
    pub by: Option<String>,
    /// The finding that it is about.
    pub finding: Option<FindingNumber>,
    /// The turn that it is about.
    pub turn: Option<TurnId>,
    /// When it was said.
    pub said_at: UnixMicros,
    /// How it reached the agent, and when; `None` while it waits.
    pub delivered: Option<(WhisperRoad, UnixMicros)>,
    /// The turn in which it did.
    pub delivered_in: Option<TurnId>,
}

impl From<WhisperRow> for Whisper {
    fn from(row: WhisperRow) -> Self {
        let WhisperRow { id, kind, source, text, turn, .. } = row;
        Self { id, kind, source, text, turn }
    }
}

/// Whispers that have reached the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// Whose.
    pub agent: AgentName,
    /// Their numbers; those that were delivered before are passed over.
    pub ids: Vec<i64>,
    /// How.
    pub road: WhisperRoad,
    /// The turn that was open.
    pub turn: Option<TurnId>,
}

/// Which finding a whisper is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfFinding {
    /// The one of this number.
    Number(FindingNumber),
    /// The agent's unresolved one of this key, when the whisper is recorded.
    Key(String),
}
