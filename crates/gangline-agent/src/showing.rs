//! The daemon's live state: the agent loop publishes it by a `watch`; the control socket and the
//! chat make the status from it (R0-52, C28).
//!
//! | type | is | a fact belongs there that |
//! |---|---|---|
//! | [`View`] (core) | what the state machine tells of itself | follows from turns and phases |
//! | `Shown` (`agent_loop/show.rs`) | what the loop keeps of the backend and its turn | is to be published |
//! | [`StatusNote`] | what of it stands in the agent's row | those see too who ask no daemon, as `ps` |
//! | [`Showing`] | all of this, published | only this daemon's own tasks need |
//! | [`Around`] | what the store knows beside it | is counted when somebody asks |
//! | [`Seen`] | what the one word of the situation follows from | changes that word |
//! | [`Known`] | everything that is known when somebody asks | goes into a status |
//! | [`AgentStatus`] | the status for people and programs: a published wire | everybody sees |

use gangline_api::status::{AgentStatus, RunningTool, Seen, StatusNote, Task};
use gangline_core::{
    AgentName, Epoch,
    agent::{PhaseName, View},
};
use gangline_os::clock::UnixMicros;
use gangline_store::Store;

use crate::status::{self, Around, Known};

#[cfg(test)]
mod tests;

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the agent loop shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Showing {
    pub(crate) view: View,
    /// What stands in the agent's row too.
    pub(crate) note: StatusNote,
    /// The tool that runs.
    pub(crate) tool: Option<RunningTool>,
    /// The backend's own session id.
    pub(crate) session: Option<String>,
}

impl Showing {
    pub(crate) fn new(view: View) -> Self {
        Self { view, note: StatusNote::default(), tool: None, session: None }
    }

    /// Asks the store; where it does not answer, what the agent loop knows has to do.
    pub(crate) async fn around(&self, store: &Store, agent: &AgentName, now: UnixMicros) -> Around {
        let approvals = match self.view.approvals {
            0 => Vec::new(),
            _ => store.approvals(Some(agent), true).await.unwrap_or_default(),
        };
        let pending = match store.waiting(agent).await {
            Ok(pending) => pending,
            Err(_) => self.view.waiting as u64,
        };
        let held = store.held(agent).await.unwrap_or_default();
        let questions = status::questions(store, agent).await.unwrap_or_default();
        let changes = store.changes(Some(agent), true).await.unwrap_or_default();
        let spent = status::spent(store, agent, now).await.unwrap_or_default();
        Around { approvals, changes, questions, pending, held, spent, ..Around::default() }
    }

    /// Returns the whole status.
    pub(crate) fn status(self, (nick, epoch): (&AgentName, Epoch), around: Around) -> AgentStatus {
        let seen = self.seen();
        let Self { view, note, tool, session } = self;
        Known {
            nick: nick.clone(),
            runs: true,
            phase: view.phase.public().into(),
            seen,
            note: StatusNote {
                rate_limited: view.rate_limited,
                degraded: view.degraded,
                version: Some(VERSION.to_owned()),
                ..note
            },
            works_on: None,
            tool,
            epoch: Some(epoch),
            pid: Some(std::process::id()),
            session,
            trouble: None,
            around,
        }
        .status()
    }

    fn seen(&self) -> Seen {
        let view = &self.view;
        // It is this daemon that speaks, so what is down is its backend, which starts soon.
        let phase = match view.phase {
            PhaseName::Down if !view.draining => PhaseName::Starting,
            phase => phase,
        };
        Seen {
            phase: Some(phase.public()),
            paused: view.paused,
            draining: view.draining,
            needs_login: view.needs_login,
            compacting: self.note.compacting,
            tool_runs: self.tool.is_some(),
        }
    }
}

/// Returns what a turn without a message is about: nobody asked.
pub(crate) fn unasked(since: String) -> Task {
    Task { message: None, sender: String::new(), place: String::new(), since, text: String::new() }
}
