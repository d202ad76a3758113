//! An agent's state as `ps --json`, `status --json` and the socket's `status` give it (R0-52), and
//! the one place where each surface's word for it is chosen (C28).
//!
//! Start at [`AgentStatus`]; the words are made of [`State`], the sentence of [`Situation`].

mod cut;
mod local;
mod paused;
mod situation;
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests;

pub use cut::cut;
pub use paused::{ShownPause, still_held};
pub use situation::{DESCRIPTION_MAX, Situation};

use std::collections::BTreeMap;

use gangline_core::{
    agent::AgentPhase,
    id::{ApprovalNumber, Epoch, MessageId, QuestionNumber},
    name::{AgentName, ChannelName},
    watch::Verdict,
    word::Stored,
};
use serde::{Deserialize, Serialize};

use crate::budget::Counted;

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

/// Where an agent stands, in the words of no surface; each surface's word is made of it (C28).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Its daemon does not run.
    Down,
    /// Its backend gets ready.
    Starting,
    /// It waits to be asked.
    Idle,
    /// In a turn: the model is at it.
    Thinking,
    /// In a turn: a tool runs.
    RunningTool,
    /// Its context is being shortened.
    Compacting,
    /// Its turn is being ended early.
    Ending,
    /// It keeps what comes and starts nothing.
    Paused,
    /// Nothing is fed before its backend has a login (R2-43).
    NeedsLogin,
    /// Its daemon is about to end.
    Draining,
    /// Its backend died too often and is not started again (R0-53).
    Parked,
    /// In a phase that only a newer program knows.
    Unknown,
}

/// What a [`State`] is told by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// The phase; `None` = only a newer program knows it.
    pub phase: Option<AgentPhase>,
    /// New turns are stopped, for whatever reason (R0-52).
    pub paused: bool,
    /// The daemon is about to end.
    pub draining: bool,
    /// The backend has no login.
    pub needs_login: bool,
    /// The context is being shortened.
    pub compacting: bool,
    /// A tool runs.
    pub tool_runs: bool,
}

impl State {
    /// Every state.
    pub const ALL: &'static [Self] = &[
        Self::Down,
        Self::Starting,
        Self::Idle,
        Self::Thinking,
        Self::RunningTool,
        Self::Compacting,
        Self::Ending,
        Self::Paused,
        Self::NeedsLogin,
        Self::Draining,
        Self::Parked,
        Self::Unknown,
    ];

    /// Returns the state that fits what was seen. What happens counts before what is ordered: an
    /// agent that was paused in the middle of a turn works until its end.
    #[must_use]
    pub fn of(seen: Seen) -> Self {
        match seen.phase {
            Some(AgentPhase::Down) if !seen.draining => Self::Down,
            Some(AgentPhase::Parked) => Self::Parked,
            Some(AgentPhase::Interrupting) => Self::Ending,
            _ if seen.compacting => Self::Compacting,
            Some(AgentPhase::Working) if seen.tool_runs => Self::RunningTool,
            Some(AgentPhase::Working) => Self::Thinking,
            _ if seen.draining => Self::Draining,
            _ if seen.needs_login => Self::NeedsLogin,
            _ if seen.paused => Self::Paused,
            Some(AgentPhase::Starting) => Self::Starting,
            Some(AgentPhase::Idle | AgentPhase::Down) => Self::Idle,
            None => Self::Unknown,
        }
    }

    /// Returns S0's word (R0-52).
    #[must_use]
    pub fn activity(self) -> Activity {
        match self {
            // Of what is not known only this is sure: it does not simply wait.
            Self::Thinking
            | Self::RunningTool
            | Self::Compacting
            | Self::Ending
            | Self::Unknown => Activity::Working,
            Self::Paused => Activity::Paused,
            Self::Down
            | Self::Starting
            | Self::Idle
            | Self::NeedsLogin
            | Self::Draining
            | Self::Parked => Activity::Idle,
        }
    }

    /// Returns S2's word (R2-40): `Idle`, `Thinking` or `Compacting`.
    #[must_use]
    pub fn turn_state(self) -> &'static str {
        match self {
            Self::Thinking | Self::RunningTool | Self::Ending | Self::Unknown => "Thinking",
            Self::Compacting => "Compacting",
            Self::Down
            | Self::Starting
            | Self::Idle
            | Self::Paused
            | Self::NeedsLogin
            | Self::Draining
            | Self::Parked => "Idle",
        }
    }

    /// Returns S4's word (R4-20): `thinking`, `running tool` or `idle`.
    #[must_use]
    pub fn loop_state(self) -> &'static str {
        match self {
            Self::Thinking | Self::Compacting | Self::Ending | Self::Unknown => "thinking",
            Self::RunningTool => "running tool",
            Self::Down
            | Self::Starting
            | Self::Idle
            | Self::Paused
            | Self::NeedsLogin
            | Self::Draining
            | Self::Parked => "idle",
        }
    }

    /// Returns the word of culture's `PRESENCE`: `idle`, `listening`, `thinking`, `working`,
    /// `draining` or `offline`. One that hears and starts nothing is `listening`.
    #[must_use]
    pub fn presence(self) -> &'static str {
        match self {
            Self::Starting | Self::Idle => "idle",
            Self::Paused | Self::NeedsLogin => "listening",
            Self::Thinking | Self::Compacting => "thinking",
            Self::RunningTool | Self::Ending | Self::Unknown => "working",
            Self::Draining => "draining",
            Self::Down | Self::Parked => "offline",
        }
    }
}

/// What a turn is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The message that woke it; absent if the backend began by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// Who asked.
    #[serde(default)]
    pub sender: String,
    /// Where the answer goes: a channel, a nick, or nothing for the command line.
    #[serde(default)]
    pub place: String,
    /// Since when, RFC 3339.
    pub since: String,
    /// The beginning of what was asked, redacted.
    #[serde(default)]
    pub text: String,
}

/// A tool that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningTool {
    /// Its name.
    pub name: String,
    /// Its main argument, such as the command: in one line, redacted and fit to be shown.
    #[serde(default)]
    pub what: String,
    /// Since when, RFC 3339.
    pub since: String,
}

/// What a daemon writes into its agent's row beside the phase, for those who look from outside.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusNote {
    /// See [`AgentStatus::turn_count`].
    pub turn_count: u64,
    /// See [`AgentStatus::last_activation`].
    pub last_activation: Option<f64>,
    /// Details that were not recorded because the store did not keep up.
    pub records_skipped: u64,
    /// Whether the store cannot write.
    pub degraded: bool,
    /// What somebody has to do so that the backend has a login.
    pub needs_login: Option<String>,
    /// See [`AgentStatus::rate_limited`].
    pub rate_limited: bool,
    /// See [`AgentStatus::pauses`].
    pub pauses: Vec<ShownPause>,
    /// Why it was escalated; see [`AgentStatus::escalated`].
    pub escalated: Option<String>,
    /// Why it is parked: how its backend ended the last time, or could not be started, in one line.
    pub parked: Option<String>,
    /// How its backend ended the last time, or why it did not start, in one line, while it is
    /// started again.
    pub last_failure: Option<String>,
    /// What its backend has said while it starts, in one line: why it is not ready yet.
    pub start_notice: Option<String>,
    /// Whether the context is being shortened.
    pub compacting: bool,
    /// See [`AgentStatus::context_tokens`].
    pub context_tokens: Option<u64>,
    /// See [`AgentStatus::context_window`].
    pub context_window: Option<u64>,
    /// What the open turn is about.
    pub task: Option<Task>,
    /// What stands between the agent and its chat network.
    pub irc: Option<String>,
    /// See [`AgentStatus::version`].
    pub version: Option<String>,
    /// See [`AgentStatus::model`].
    pub model: Option<String>,
    /// See [`AgentStatus::effort`].
    pub effort: Option<String>,
    /// See [`AgentStatus::whispers`].
    pub whispers: usize,
    /// See [`AgentStatus::runtime`].
    pub runtime: Option<String>,
    /// See [`AgentStatus::configured_runtime`].
    pub configured_runtime: Option<String>,
    /// See [`AgentStatus::permissions`].
    pub permissions: Option<String>,
    /// See [`AgentStatus::unasked`].
    pub unasked: Option<String>,
    /// See [`AgentStatus::supervisor`].
    pub supervisor: Option<SupervisorStatus>,
}

/// Who watches an agent, and what came of it since its daemon started (R0-33).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SupervisorStatus {
    /// `rules`, or the backend of the model that watches.
    pub agent: String,
    /// That model; absent = the backend's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why the model is not asked any more; rules go on watching.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<String>,
    /// Nothing is evaluated, since people have to decide.
    pub paused: bool,
    /// How many verdicts the model has given.
    pub evaluations: u64,
    /// The last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Stored<Verdict>>,
    /// Tokens that the model has read, without those of its cache.
    pub input_tokens: u64,
    /// Tokens that it has written.
    pub output_tokens: u64,
    /// What it cost in millionths of a dollar, as far as its backend says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
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
    /// An answer to a question that it asked people.
    Question {
        /// The number by which it is answered.
        number: QuestionNumber,
        /// What it asked, in one line.
        question: String,
        /// When it was asked.
        asked_at: String,
    },
    /// A login of the backend (R2-43).
    Login {
        /// How it is done, in one line.
        hint: String,
    },
    /// Somebody to mend its backend and to say `resume`: it is parked (R0-53).
    Resume {
        /// How the backend ended the last time, or why it did not start, in one line.
        why: String,
    },
    /// Guidance after an escalation: `resume` or `abort` (R1-35).
    Guidance {
        /// What it is stuck on, in one line.
        why: String,
    },
    /// An owner's word on messages that are held: what they follow from has used its turns.
    Release {
        /// The message at the root.
        cause: MessageId,
        /// How many of the agent's messages are held.
        messages: u64,
        /// Why, in one line.
        why: String,
    },
    /// Its chat network: the server, its nick or a room.
    Irc {
        /// What is wrong, in one line.
        trouble: String,
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
    /// Whether it begins no new turn, for whatever reason; see [`Self::pauses`].
    pub paused: bool,
    /// Whether repeated deaths stopped the restarts (R0-53).
    pub circuit_open: bool,
    /// Turns of this epoch.
    pub turn_count: u64,
    /// When the last turn began, in seconds since 1970; `null` = none yet.
    pub last_activation: Option<f64>,
    /// What it is doing.
    pub activity: Activity,
    /// The same as a sentence for people; see [`Situation::describe`].
    pub description: String,
    /// The exact phase: `down`, `starting`, `idle`, `working`, `interrupting`, `parked`, or the word of
    /// a newer program.
    pub phase: Stored<AgentPhase>,
    /// The generation of its daemon; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// The process id of its daemon, while there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The backend's own session id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The tool that runs, if its daemon was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<RunningTool>,
    /// What the open turn is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// Messages accepted and not yet in a turn.
    pub pending: u64,
    /// What it waits for a human for; empty = nothing.
    #[serde(default)]
    pub waiting_for: Vec<WaitingFor>,
    /// Whether nothing is fed before its backend has a login (R2-43).
    #[serde(default)]
    pub needs_login: bool,
    /// Whether the model refused the last request for its rate limit. What waits is tried again by
    /// itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rate_limited: bool,
    /// Why it begins no new turn, and until when; empty = it is not paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<ShownPause>,
    /// Whether it was escalated and no person has said `resume` or `abort` since (R1-34). Under
    /// `on_escalation: notify` it works on meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    /// Whether the store cannot write: what comes is kept by nobody until it can.
    #[serde(default)]
    pub degraded: bool,
    /// Whether its context is being shortened.
    #[serde(default)]
    pub compacting: bool,
    /// How many tokens the conversation holds, if the backend says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// How many tokens the model's context can hold, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Lines that the agent has not read, by channel or nick, those with none left out. Only a
    /// daemon knows them: absent elsewhere.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unread: BTreeMap<String, u64>,
    /// The channels that it is in, sorted. Only a daemon knows them: absent elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelName>,
    /// The version of its daemon's program; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The model that was chosen or configured, else the one that spoke last (R2-04); absent as
    /// long as neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The effort of the model, while it is raised for a task (R1-11): `high`; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// How many whispers wait that it reads with its next prompt at the latest; absent for none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub whispers: usize,
    /// The backend that its daemon has, or had last; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The backend of the configuration, if `--runtime` put another in its place (R3-17).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configured_runtime: Option<String>,
    /// How its tools are permitted (C5): `ask`, `allowlist` or `bypass`; absent before its first
    /// daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// The first tool that its program ran without asking, although it was to ask: the permissions
    /// do not hold with this program. Absent as long as none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unasked: Option<String>,
    /// What it spent today, its supervisor included, by who counted; empty = nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<Counted>,
    /// Who watches it; absent if nobody does, and before its first daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supervisor: Option<SupervisorStatus>,
}

/// The word of [`AgentStatus::permissions`] under which every tool runs unasked.
pub const BYPASS: &str = "bypass";
