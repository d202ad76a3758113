//! What the daemon shows of itself while it runs: the agent loop's part by a `watch`, and the status
//! that the control socket and the chat make of it (R0-52, C28).

use gangline_api::status::{
    AgentStatus, RunningTool, Seen, Situation, State, StatusNote, Task, WaitingFor,
};
use gangline_core::{
    AgentName, Epoch,
    agent::{PhaseName, View},
    name::ChannelName,
};
use gangline_os::clock::rfc3339;
use gangline_store::{ApprovalRow, Held, Store};

use crate::rooms::Unread;

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

/// What the agent loop does not know.
#[derive(Debug, Default)]
pub(crate) struct Around {
    /// The open approvals.
    pub(crate) approvals: Vec<ApprovalRow>,
    /// Messages accepted and not yet in a turn.
    pub(crate) pending: u64,
    /// What is held, by cause.
    pub(crate) held: Vec<Held>,
    pub(crate) unread: Unread,
    /// Where the agent is.
    pub(crate) channels: Vec<ChannelName>,
}

impl Around {
    /// Asks the store; where it does not answer, what the agent loop knows has to do.
    pub(crate) async fn look(store: &Store, agent: &AgentName, showing: &Showing) -> Self {
        let approvals = match showing.view.approvals {
            0 => Vec::new(),
            _ => store.approvals(Some(agent), true).await.unwrap_or_default(),
        };
        let pending = match store.waiting(agent).await {
            Ok(pending) => pending,
            Err(_) => showing.view.waiting as u64,
        };
        let held = store.held(agent).await.unwrap_or_default();
        Self { approvals, pending, held, ..Self::default() }
    }
}

impl Showing {
    pub(crate) fn new(view: View) -> Self {
        Self { view, note: StatusNote::default(), tool: None, session: None }
    }

    fn state(&self) -> State {
        let view = &self.view;
        // It is this daemon that speaks, so what is down is its backend, which starts soon.
        let phase = match view.phase {
            PhaseName::Down if !view.draining => PhaseName::Starting,
            phase => phase,
        };
        State::of(Seen {
            phase: Some(phase.told()),
            paused: view.paused,
            draining: view.draining,
            needs_login: view.needs_login,
            compacting: self.note.compacting,
            tool_runs: self.tool.is_some(),
        })
    }

    /// Returns a sentence for people.
    pub(crate) fn describe(&self, around: &Around) -> String {
        let approval = around.approvals.first().map(|row| (row.number, row.tool.as_str()));
        Situation {
            state: self.state(),
            task: self.note.task.as_ref(),
            tool: self.tool.as_ref(),
            approval: approval.filter(|_| self.view.approvals > 0),
            login: self.note.needs_login.as_deref(),
            parked: self.note.parked.as_deref(),
            waiting: around.pending,
            rate_limited: self.view.rate_limited,
            paused: self.view.paused,
            degraded: self.view.degraded,
        }
        .describe()
    }

    /// Returns the whole status.
    pub(crate) fn status(&self, me: (&AgentName, Epoch), around: Around) -> AgentStatus {
        let (nick, epoch) = me;
        let view = &self.view;
        let login = self.note.needs_login.clone().filter(|_| view.needs_login);
        let waiting_for = around.approvals.iter().map(|row| WaitingFor::Approval {
            number: row.number,
            tool: row.tool.clone(),
            summary: row.summary.to_string(),
            asked_at: rfc3339(row.opened_at),
        });
        AgentStatus {
            nick: nick.clone(),
            running: view.phase != PhaseName::Parked,
            paused: view.paused,
            circuit_open: view.phase == PhaseName::Parked,
            turn_count: self.note.turn_count,
            last_activation: self.note.last_activation,
            activity: self.state().activity(),
            description: self.describe(&around),
            phase: view.phase.told().into(),
            epoch: Some(epoch),
            pid: Some(std::process::id()),
            session: self.session.clone(),
            tool: self.tool.clone(),
            task: self.note.task.clone(),
            pending: around.pending,
            waiting_for: waiting_for
                .chain(login.map(|hint| WaitingFor::Login { hint }))
                .chain(self.note.parked.clone().map(|why| WaitingFor::Resume { why }))
                .chain(around.held.into_iter().map(release))
                .chain(self.note.irc.clone().map(|trouble| WaitingFor::Irc { trouble }))
                .collect(),
            needs_login: view.needs_login,
            rate_limited: view.rate_limited,
            degraded: view.degraded,
            compacting: self.note.compacting,
            context_tokens: self.note.context_tokens,
            context_window: self.note.context_window,
            unread: around.unread,
            channels: around.channels,
            version: Some(VERSION.to_owned()),
            model: self.note.model.clone(),
            runtime: self.note.runtime.clone(),
            configured_runtime: self.note.configured_runtime.clone(),
            permissions: self.note.permissions.clone(),
            unasked: self.note.unasked.clone(),
        }
    }
}

fn release(held: Held) -> WaitingFor {
    WaitingFor::Release { cause: held.root, messages: held.messages, why: held.why }
}

/// Returns what a turn without a message is about: nobody asked.
pub(crate) fn unasked(since: String) -> Task {
    Task { message: None, sender: String::new(), place: String::new(), since, text: String::new() }
}
