//! Agents, their epochs, accounts, usage, and the health of the store itself.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use gangline_core::{
    AgentName, Epoch, Principal, Tier, TurnId, agent::AgentPhase, usage::Spender, word::Stored,
};
use gangline_os::clock::UnixMicros;

use super::PauseRow;

/// Whose sessions a daemon goes on with: a backend by the name under which its sessions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whose<'a> {
    /// The backend that the daemon has.
    pub runtime: &'a str,
    /// The configured one: a session of which nobody knows whose it is counts as its own.
    pub configured: &'a str,
}

/// What a daemon finds when it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpochStart {
    /// Its epoch; every older writer is fenced from now on.
    pub epoch: Epoch,
    /// The session that this runtime had last.
    pub session: Option<String>,
    /// Our own id of that session; none of one from before there were such ids.
    pub known_as: Option<String>,
    /// The session that another runtime had since: it stays kept for that one.
    pub left: Option<LeftSession>,
    /// Whether a human paused the agent.
    pub paused: bool,
    /// Everything that is known of why it begins no new turn, what is over too.
    pub pauses: Vec<PauseRow>,
}

/// A session that is not gone on with, since another runtime made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftSession {
    /// The name of that runtime.
    pub runtime: String,
    /// Its session.
    pub session: String,
}

/// What a daemon says of itself; `None` leaves a value as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentUpdate {
    /// Where it stands.
    pub phase: Option<AgentPhase>,
    /// The session of the epoch's runtime; `Some(None)` forgets it. Those of others stay.
    pub session: Option<Option<String>>,
    /// Our own id of that session, by which its shells and hooks know it.
    pub known_as: Option<String>,
    /// Whether new turns are stopped.
    pub paused: Option<bool>,
    /// A JSON object for `status`.
    pub status_json: Option<String>,
    /// Whether the agent has just become ready.
    pub ready: bool,
}

/// A session that an agent has, or had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The name under which the sessions of its runtime are kept.
    pub runtime: String,
    /// The runtime's id.
    pub session: String,
    /// Our own id, as `GT_SESSION_ID` has it. Several sessions of the runtime share it where one
    /// followed the other in the same process.
    pub known_as: String,
    /// When it was first told.
    pub begun_at: UnixMicros,
    /// When it was last begun or gone on with.
    pub used_at: UnixMicros,
    /// Whether the runtime's next start goes on with it.
    pub kept: bool,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    /// Its name.
    pub agent: AgentName,
    /// The last epoch begun.
    pub epoch: Epoch,
    /// The process of that epoch.
    pub pid: i64,
    /// What that process said of itself.
    pub note: String,
    /// Where it says that it stands.
    pub phase: Option<Stored<AgentPhase>>,
    /// The name under which the sessions of that epoch's runtime are kept; none of an epoch that
    /// began before names were.
    pub runtime: Option<String>,
    /// The runtime's session.
    pub session: Option<String>,
    /// Whether a human stopped new turns; see [`AgentRow::holding`].
    pub paused: bool,
    /// Why it begins no new turn, what is over too.
    pub pauses: Vec<PauseRow>,
    /// A JSON object for `status`.
    pub status_json: Option<String>,
    /// When that epoch began.
    pub started_at: UnixMicros,
    /// When it became ready; none before.
    pub ready_at: Option<UnixMicros>,
    /// When it last said something of itself.
    pub updated_at: UnixMicros,
}

impl AgentRow {
    /// Returns the phase, unless none was told yet or only a newer program knows it.
    #[must_use]
    pub fn known_phase(&self) -> Option<AgentPhase> {
        self.phase.as_ref().and_then(Stored::known)
    }

    /// Returns whether its backend died too often.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        self.known_phase() == Some(AgentPhase::Parked)
    }

    /// Returns whether a turn is open.
    #[must_use]
    pub fn in_turn(&self) -> bool {
        matches!(self.known_phase(), Some(AgentPhase::Working | AgentPhase::Interrupting))
    }
}

/// An account: name and tier; secrets are kept elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRow {
    /// The name and how far it is trusted.
    pub principal: Principal,
    /// When it was made.
    pub created_at: UnixMicros,
}

impl AccountRow {
    /// Returns how far the account is trusted.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.principal.tier
    }
}

/// What a model call used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUsage {
    /// Whose.
    pub agent: AgentName,
    /// In which turn.
    pub turn: Option<TurnId>,
    /// Who asked the model.
    pub by: Spender,
    /// The model's name.
    pub model: String,
    /// Tokens read, without the cache.
    pub input: i64,
    /// Tokens written.
    pub output: i64,
    /// Tokens read from the cache.
    pub cache_read: i64,
    /// Tokens written to the cache.
    pub cache_write: i64,
    /// Cost in millionths of a dollar, if known.
    pub cost_micros: Option<i64>,
    /// Who counted.
    pub source: gangline_core::budget::UsageSource,
}

/// Usage added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageSum {
    /// Model calls.
    pub calls: i64,
    /// Tokens read, without the cache.
    pub input: i64,
    /// Tokens written.
    pub output: i64,
    /// Tokens read from the cache.
    pub cache_read: i64,
    /// Tokens written to the cache.
    pub cache_write: i64,
    /// Known cost in millionths of a dollar.
    pub cost_micros: i64,
}

/// How often the write-ahead log was synced.
#[derive(Debug, Clone, Default)]
pub struct Syncs(Arc<AtomicU64>);

impl Syncs {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the count since the store was opened.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How the store of this process does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// Why writes fail; none while they do not. Cleared by the next write that succeeds.
    pub degraded: Option<String>,
    /// Since when.
    pub since: Option<UnixMicros>,
    /// Writes that failed for the storage's sake since the store was opened.
    pub failed_writes: u64,
    /// Whether the write-ahead log is larger than 256 MiB: somebody reads without end.
    pub wal_alarm: bool,
}
