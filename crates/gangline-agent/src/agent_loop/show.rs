//! The agent's state as others see it: live for tasks of this daemon, a row for everybody else.

use gangline_api::{
    event,
    status::{RunningTool, StatusNote, SupervisorStatus, Task},
};
use gangline_config::Permissions;
use gangline_core::{
    TurnId,
    agent::{AgentPhase, PhaseName, View},
    effort::EffortLevel,
    pause::Held,
    pulse::Waits,
};
use gangline_os::clock::rfc3339;
use gangline_runtime::RuntimeEvent;
use gangline_store::AgentUpdate;

use super::AgentLoop;
use crate::{
    showing::{self, Showing, VERSION},
    texts,
};

/// So much of a message is quoted, in bytes.
const QUOTED_BYTES: usize = 200;

/// What was shown last.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) turns: u64,
    phase: Option<AgentPhase>,
    turn: Option<TurnId>,
    paused: Vec<Held>,
    escalated: bool,
    /// What somebody has to do so that the backend has a login.
    pub(super) login_hint: Option<String>,
    /// Our own id of the session, as `GT_SESSION_ID` has it.
    pub(super) known_as: Option<String>,
    pub(super) compacting: bool,
    /// How the backend ended the last time, or why it did not start; told while it is parked, or
    /// starts again.
    pub(super) death: Option<String>,
    /// What the backend has said while it starts.
    pub(super) start_notice: Option<String>,
    /// The alert of its last parking.
    pub(super) parked: Option<String>,
    /// The fault between the agent and its chat network.
    pub(super) irc: Option<String>,
    /// Tokens that the conversation holds, and that the model's context can hold.
    pub(super) context: (Option<u64>, Option<u64>),
    pub(super) last_activation: Option<f64>,
    /// The model that was configured or chosen, and the one that spoke last, as it calls itself.
    pub(super) model: Option<String>,
    pub(super) spoke: String,
    /// The effort, while it is raised.
    pub(super) effort: Option<EffortLevel>,
    /// The backend's own session id.
    pub(super) session: Option<String>,
    /// The backend, and the configured one if that is another.
    pub(super) runtime: Option<String>,
    pub(super) configured_runtime: Option<String>,
    /// The permission mode, and the first tool that ran unasked in spite of it (C5).
    pub(super) permissions: Option<Permissions>,
    pub(super) unasked: Option<String>,
    /// Who watches the agent, and what came of it.
    pub(super) supervisor: Option<SupervisorStatus>,
    /// What the open turn is about.
    task: Option<Task>,
    /// What the program waits for, if that is a hook or the like.
    pub(super) waits: Option<Tool>,
    /// The tools that were called and have not come back.
    pub(super) tools: Vec<Tool>,
    /// What the row said last, beside the phase, that people must hear of at once.
    told: Trouble,
}

/// A tool that runs.
#[derive(Debug)]
pub(super) struct Tool {
    /// The call's id.
    pub(super) id: String,
    pub(super) name: String,
    /// Its main argument, masked, fit to be shown in a line; empty if owners alone are shown it.
    what: String,
    /// Since when, RFC 3339.
    since: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Trouble {
    degraded: bool,
    login_hint: Option<String>,
    compacting: bool,
    irc: Option<String>,
    model: Option<String>,
    effort: Option<EffortLevel>,
    whispers: usize,
    unasked: Option<String>,
    supervisor: Option<SupervisorStatus>,
    death: Option<String>,
    start_notice: Option<String>,
}

impl AgentLoop {
    /// Says which backend the agent has, and which one is configured if that is another.
    pub(crate) fn with_backend(mut self, name: String, instead_of: Option<String>) -> Self {
        self.shown.runtime = Some(name);
        self.shown.configured_runtime = instead_of;
        self
    }

    /// Says how tools are permitted, and which one ran unasked in an earlier generation of the
    /// daemon.
    pub(crate) fn permitted(mut self, permissions: Permissions, unasked: Option<String>) -> Self {
        self.shown.permissions = Some(permissions);
        self.shown.unasked = unasked;
        self
    }

    /// Publishes the state, and writes the row if something changed that people see.
    pub(super) fn show(&mut self) {
        let view = self.core.view();
        let phase = view.phase.public();
        if !view.needs_login {
            self.shown.login_hint = None;
        }
        // A turn may follow upon another one without an idle moment.
        let next = view.turn.is_some() && view.turn != self.shown.turn;
        let turned = next || self.shown.phase != Some(phase);
        if turned {
            self.turned(phase, &view);
        }
        let trouble = Trouble {
            degraded: view.degraded,
            login_hint: self.shown.login_hint.clone(),
            compacting: self.shown.compacting,
            irc: self.shown.irc.clone(),
            model: self.shown.model(),
            effort: self.shown.effort,
            whispers: self.whispers.waiting(),
            unasked: self.shown.unasked.clone(),
            supervisor: self.shown.supervisor.clone(),
            death: self.shown.death.clone(),
            start_notice: self.shown.start_notice.clone(),
        };
        let escalated = self.pausing.is_escalated();
        let paused = self.shown.paused == view.pauses && self.shown.escalated == escalated;
        let same = !turned && paused && self.shown.told == trouble;
        self.shown.paused.clone_from(&view.pauses);
        self.shown.escalated = escalated;
        self.ports.view.send_replace(view.clone());
        let note = self.note(&view);
        if !same {
            self.shown.told = trouble;
            self.journal.agent(AgentUpdate {
                phase: Some(phase),
                status_json: serde_json::to_string(&note).ok(),
                ..AgentUpdate::default()
            });
        }
        self.watchdogs.see(self.now(), view.turn, view.approvals > 0);
        if self.watchdogs.is_barking() {
            self.look_for_trouble();
        }
        let tool = self.tool();
        let waits = if view.approvals > 0 { Waits::ForHuman } else { Waits::ForNobody };
        self.pulse.see(self.now(), view.turn, waits);
        let now = Showing { view, note, tool, session: self.shown.session.clone() };
        self.ports.showing.send_if_modified(|showing| {
            let changed = *showing != now;
            *showing = now;
            changed
        });
    }

    /// A tool was called. `what` is its call in one line, masked.
    pub(super) fn tool_begins(&mut self, id: String, name: String, what: String) {
        let since = rfc3339(self.me.clock.now());
        self.shown.tools.push(Tool { id, name, what, since });
    }

    /// The program waits for something that is not the model and not a tool.
    pub(super) fn waits(&mut self, on: String) {
        if self.shown.waits.as_ref().is_some_and(|it| it.name == on) {
            return;
        }
        let since = rfc3339(self.me.clock.now());
        let turn = self.shown.turn;
        self.record_notice(turn, "waits", texts::waits(&on));
        self.shown.waits = Some(Tool { id: String::new(), name: on, what: String::new(), since });
        self.show();
    }

    /// What the backend told shows whether its turn goes on.
    pub(super) fn shows_life(&mut self, event: &RuntimeEvent) {
        if matches!(event, RuntimeEvent::Waits { .. }) {
            return;
        }
        self.watchdogs.output(self.now());
        let remark = matches!(event, RuntimeEvent::Notice { .. });
        if !remark && self.shown.waits.take().is_some() {
            self.show();
        }
    }

    /// Returns the tool that has run longest.
    pub(super) fn tool(&self) -> Option<RunningTool> {
        let tool = self.shown.waits.as_ref().or(self.shown.tools.first())?;
        let (name, what, since) = (tool.name.clone(), tool.what.clone(), tool.since.clone());
        Some(RunningTool { name, what, since })
    }

    /// The backend has this model. Before its start that is no news of its own.
    pub(super) fn model(&mut self, model: Option<String>) {
        self.shown.model = model;
        if self.shown.phase.is_some() {
            self.show();
        }
    }

    /// The phase has changed, or another turn is open.
    fn turned(&mut self, to: AgentPhase, view: &View) {
        let from = self.shown.phase.unwrap_or(AgentPhase::Down);
        self.shown.turn = view.turn;
        if to == AgentPhase::Working {
            let now = self.me.clock.now();
            #[allow(clippy::cast_precision_loss, reason = "the wire has seconds as a float")]
            let seconds = now.0 as f64 / 1e6;
            self.shown.last_activation = Some(seconds);
            self.shown.task = Some(self.task(view, rfc3339(now)));
        } else if to != AgentPhase::Interrupting {
            self.shown.task = None;
            self.shown.tools.clear();
            self.shown.waits = None;
        }
        if to != AgentPhase::Starting {
            self.shown.start_notice = None;
        }
        if matches!(to, AgentPhase::Idle | AgentPhase::Working) {
            self.shown.death = None;
        }
        if from != to {
            self.record(None, event::Phase { from: from.into(), to: to.into() });
        }
        self.shown.phase = Some(to);
    }

    fn task(&self, view: &View, since: String) -> Task {
        let row = view.messages.first().and_then(|id| self.rows.get(id)).map(|it| &it.row);
        let Some(row) = row else {
            let notes = view.turn.is_some() && view.turn == self.notes.turn.map(|(turn, _)| turn);
            let text = if notes { texts::WRITES_NOTES.to_owned() } else { String::new() };
            return Task { text, ..showing::unasked(since) };
        };
        Task {
            message: Some(row.id),
            sender: row.sender.clone(),
            place: row.target.clone(),
            since,
            text: row.body.head(QUOTED_BYTES).into_string(),
        }
    }

    /// Returns what the agent's row says beside its phase.
    fn note(&self, view: &View) -> StatusNote {
        let parked = view.phase == PhaseName::Parked;
        // What a daemon that ends leaves in its row is read at the start of the next one.
        let starts = matches!(view.phase, PhaseName::Down | PhaseName::Starting) && !view.draining;
        StatusNote {
            turn_count: self.shown.turns,
            last_activation: self.shown.last_activation,
            records_skipped: self.skipped,
            degraded: view.degraded,
            needs_login: self.shown.login_hint.clone(),
            rate_limited: view.rate_limited,
            pauses: self.pausing.shown(&view.pauses),
            escalated: self.pausing.escalated(),
            parked: self.shown.death.clone().filter(|_| parked),
            last_failure: self.shown.death.clone().filter(|_| starts),
            start_notice: self.shown.start_notice.clone(),
            compacting: self.shown.compacting,
            context_tokens: self.shown.context.0,
            context_window: self.shown.context.1,
            task: self.shown.task.clone(),
            irc: self.shown.irc.clone(),
            version: Some(VERSION.to_owned()),
            model: self.shown.model(),
            effort: self.shown.effort.map(|level| level.as_str().to_owned()),
            whispers: self.whispers.waiting(),
            runtime: self.shown.runtime.clone(),
            configured_runtime: self.shown.configured_runtime.clone(),
            permissions: self.shown.permissions.map(|mode| mode.as_str().to_owned()),
            unasked: self.shown.unasked.clone(),
            supervisor: self.shown.supervisor.clone(),
        }
    }
}

impl Shown {
    /// Returns what the open turn is about, in words.
    pub(super) fn task_text(&self) -> Option<&str> {
        self.task.as_ref().map(|task| task.text.as_str()).filter(|text| !text.is_empty())
    }

    fn model(&self) -> Option<String> {
        let spoke = || (!self.spoke.is_empty()).then(|| self.spoke.clone());
        self.model.clone().or_else(spoke)
    }
}
