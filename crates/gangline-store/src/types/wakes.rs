//! Wakes: what programs outside tell an agent.

use gangline_core::{AgentName, Tier, redact::Redacted, wake::Label};

/// A wake to be stored: a message of the origin `wake`, from the principal `wake:LABEL`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWake {
    /// Who is woken.
    pub agent: AgentName,
    /// The program that wakes.
    pub label: Label,
    /// How far its caller is trusted.
    pub tier: Tier,
    /// What it tells.
    pub body: Redacted,
    /// Makes a repetition the same wake; unique per agent and label.
    pub key: Option<String>,
}
