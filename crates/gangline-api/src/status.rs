//! An agent's state as `ps --json`, `status --json` and the socket's `status` give it (R0-52).

use gangline_core::{
    id::{ApprovalNumber, Epoch},
    name::AgentName,
};
use serde::{Deserialize, Serialize};

/// What an agent is doing, in S0's three words (C28).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// In a turn.
    Working,
    /// No new turns until somebody resumes it.
    Paused,
    /// Waiting to be asked.
    Idle,
}

/// Something for which the agent waits for a human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WaitingFor {
    /// A decision about one action.
    Approval {
        /// The number by which it is decided.
        number: ApprovalNumber,
        /// The tool that wants to run.
        tool: String,
        /// What it would do, in one line.
        summary: String,
        /// When it was asked.
        asked_at: String,
    },
    /// A login of the backend (R2-43).
    Login {
        /// How it is done, in one line.
        hint: String,
    },
}

/// The state of one agent. The first seven fields are S0's and keep its forms (R0-52, C36).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentStatus {
    /// The agent.
    pub nick: AgentName,
    /// Whether its backend runs or is started when needed; `false` when parked or its daemon is
    /// down.
    pub running: bool,
    /// Whether it is paused.
    pub paused: bool,
    /// Whether repeated deaths stopped the restarts (R0-53).
    pub circuit_open: bool,
    /// Turns of this epoch.
    pub turn_count: u64,
    /// When the last turn began, in seconds since 1970; `null` = none yet.
    pub last_activation: Option<f64>,
    /// What it is doing.
    pub activity: Activity,
    /// The same as a sentence for people.
    pub description: String,
    /// The exact phase, in the words of the glossary: `down`, `starting`, `idle`, `prompting`,
    /// `working`, `interrupting`, `parked`.
    pub phase: String,
    /// The generation of its daemon; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// The process id of its daemon, while there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The backend's own session id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Messages accepted and not yet in a turn.
    pub pending: u64,
    /// What it waits for a human for; empty = nothing.
    #[serde(default)]
    pub waiting_for: Vec<WaitingFor>,
}
