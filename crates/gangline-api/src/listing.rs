//! One agent as `ps` and `ps --json` list it: its status, and what is known of its daemon.

use gangline_core::{id::TurnId, name::AgentName, pause::PauseReason, word::Stored};
use serde::{Deserialize, Serialize};

use crate::status::{AgentStatus, Seen, State};

#[cfg(test)]
mod tests;

/// Where an agent of a fleet stands, in one word (C28).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The configuration does not have it run, and it does not.
    Off,
    /// An operator stopped it, and it does not run.
    Stopped,
    /// An operator stopped it, and it still runs.
    Stopping,
    /// It shall run and does not, and nothing is known to start it.
    Down,
    /// It died and is started again in a moment.
    Restarting,
    /// It ended in a way that no restart mends.
    Failed,
    /// Its backend gets ready.
    Starting,
    /// It waits to be asked.
    Idle,
    /// In a turn.
    Working,
    /// Its context is being shortened.
    Compacting,
    /// Its turn is being ended early.
    Interrupting,
    /// It keeps what comes and starts nothing.
    Paused,
    /// Nothing is fed before its backend has a login (R2-43).
    NeedsLogin,
    /// The model's rate limit stopped the last turn; waiting messages are retried automatically.
    RateLimited,
    /// The store cannot write: no new turns.
    Degraded,
    /// Its backend died too often (R0-53).
    Parked,
    /// In a phase that only a newer program knows; [`AgentStatus::phase`] has its word.
    Unknown,
}

impl Standing {
    /// Returns the word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Stopped => "stopped",
            Self::Stopping => "stopping",
            Self::Down => "down",
            Self::Restarting => "restarting",
            Self::Failed => "failed",
            Self::Starting => "starting",
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Compacting => "compacting",
            Self::Interrupting => "interrupting",
            Self::Paused => "paused",
            Self::NeedsLogin => "needs login",
            Self::RateLimited => "rate limited",
            Self::Degraded => "degraded",
            Self::Parked => "parked",
            Self::Unknown => "unknown",
        }
    }
}

/// What of a daemon its hub knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keeping {
    /// No hub keeps it, or nothing is wrong with it.
    #[default]
    Quiet,
    /// It is about to be started.
    Starts,
    /// It is not started again.
    GivenUp,
    /// The configuration does not have it run.
    Off,
}

impl Standing {
    /// Returns the word that fits: what an operator ordered counts first, then what hinders the
    /// agent, then what it does.
    #[must_use]
    pub fn of(status: &AgentStatus, desired: Desired, keeping: Keeping) -> Self {
        let runs = status.pid.is_some() || status.running;
        let state = State::of(Seen {
            phase: status.phase.known(),
            paused: status.paused,
            needs_login: status.needs_login,
            compacting: status.compacting,
            ..Seen::default()
        });
        match (desired, runs, state) {
            (_, false, _) if keeping == Keeping::Off => Self::Off,
            (Desired::Down, false, _) => Self::Stopped,
            (Desired::Down, true, _) => Self::Stopping,
            (Desired::Up, _, State::Parked) => Self::Parked,
            (Desired::Up, false, _) => match keeping {
                Keeping::GivenUp => Self::Failed,
                Keeping::Starts => Self::Restarting,
                Keeping::Quiet | Keeping::Off => Self::Down,
            },
            (Desired::Up, true, _) if status.degraded => Self::Degraded,
            (Desired::Up, true, State::Thinking | State::RunningTool) => Self::Working,
            (Desired::Up, true, State::Compacting) => Self::Compacting,
            (Desired::Up, true, State::Ending) => Self::Interrupting,
            (Desired::Up, true, State::NeedsLogin) => Self::NeedsLogin,
            (Desired::Up, true, State::Paused) if only_limited(status) => Self::RateLimited,
            (Desired::Up, true, State::Paused) => Self::Paused,
            (Desired::Up, true, State::Draining) => Self::Stopping,
            // Its backend is started once it may be fed.
            (Desired::Up, true, State::Down | State::Starting) if status.paused => Self::Paused,
            (Desired::Up, true, State::Down | State::Starting) => Self::Starting,
            (Desired::Up, true, State::Idle) if status.rate_limited && status.pending > 0 => {
                Self::RateLimited
            }
            (Desired::Up, true, State::Idle) => Self::Idle,
            (Desired::Up, true, State::Unknown) => Self::Unknown,
        }
    }
}

/// Returns whether it is paused for its provider's limit alone.
fn only_limited(status: &AgentStatus) -> bool {
    let limited = |reason: &Stored<PauseReason>| *reason == PauseReason::RateLimit;
    !status.pauses.is_empty() && status.pauses.iter().all(|pause| limited(&pause.reason))
}

/// What an operator wants of a daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Desired {
    /// It shall run.
    Up,
    /// It shall not.
    Down,
}

/// One agent of the fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentListing {
    /// Its status; the fields stand beside the others.
    #[serde(flatten)]
    pub status: AgentStatus,
    /// Where it stands.
    pub standing: Standing,
    /// Whether it shall run.
    pub desired: Desired,
    /// Who stopped it; absent while it shall run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// The open turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// When the open turn began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_started_at: Option<String>,
    /// When its daemon began; absent while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// Whether the program that its daemon runs was replaced on the disk since it began: a restart
    /// takes the new one.
    #[serde(default)]
    pub replaced: bool,
    /// Whether the configuration has changed since its daemon began: a restart takes the new one.
    #[serde(default)]
    pub outdated: bool,
    /// Why it failed, in one line; absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_because: Option<String>,
}

impl AgentListing {
    /// Returns the agent.
    #[must_use]
    pub fn nick(&self) -> &AgentName {
        &self.status.nick
    }
}
