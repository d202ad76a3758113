//! Reports to programs outside: hooks (R3-10) and alerts (R1-39), each also recorded as an event.

use std::collections::{HashMap, HashSet};

use gangline_api::{event::HookData, status::cut};
use gangline_config::Permissions;
use gangline_core::{
    MessageId, MessageState, Origin, TurnId,
    alert::text::complete,
    answer::Settlement,
    hook::{HookEvent, WebhookEvent},
    mention,
    outcome::Outcome,
    patience,
};
use gangline_irc::{client::LinkCommand, wire::Message};
use gangline_runtime::RuntimeEvent;
use gangline_store::{Entry, LineKind, NewAlert};

use super::{AgentLoop, wire};
use crate::{alerts::alert, place, shown_input, texts};

/// The most that is reported of a message or an error, in bytes.
const MESSAGE_MAX: usize = 16 * 1024;
/// So much of a tool that ran unasked is shown, in characters.
const UNASKED_MAX: usize = 120;
/// So much of a task is quoted in an alert, in bytes.
const TASK_MAX: usize = 80;

/// What was told of the backend's generations and turns so far.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// A start was told whose end was not.
    session_open: bool,
    /// What the backend said about the failure that the open turn ends with.
    pub(super) failure: Option<String>,
    /// What the open turn waited for when its time was over.
    pub(super) waited: Option<String>,
    /// Messages whose askers were told that the agent is parked.
    pub(super) parked: HashSet<MessageId>,
    /// How often each of them was.
    pub(super) reasons: patience::Notified,
    /// What the backend said last, if nothing else has come from it since.
    pub(super) last_words: Option<String>,
    /// How the last attempt at a message was cut off, until the next one is prompted.
    pub(super) cut_off: HashMap<MessageId, String>,
}

impl Reports {
    /// Notes what the backend said, if it was words for people.
    pub(super) fn hear(&mut self, event: &RuntimeEvent) {
        self.last_words = None;
        if let RuntimeEvent::Notice { text } = event {
            self.last_words = Some(text.clone());
        }
    }
}

impl AgentLoop {
    pub(super) fn session_begins(&mut self) {
        if !std::mem::replace(&mut self.reports.session_open, true) {
            self.hook(None, HookEvent::SessionStart, HookData::default());
        }
    }

    /// Tells once that the session that was begun is over.
    pub(super) fn session_ends(&mut self, how: &str) {
        self.shown.effort = None;
        if std::mem::take(&mut self.reports.session_open) {
            let data = HookData { message: how.to_owned(), ..HookData::default() };
            self.hook(None, HookEvent::SessionStop, data);
        }
    }

    /// A tool ran that should have been asked about: the owner hears of it once, in an alert and in
    /// the place where the turn was asked for; `ps` and WHOIS show it from now on (C5).
    pub(super) fn ran_unasked(&mut self, turn: TurnId, tool: &str, input: &serde_json::Value) {
        if self.shown.unasked.is_some() {
            return;
        }
        let shown = shown_input::recorded(tool, input, &self.me.redactor);
        let ran = match wire::in_a_line(tool, &shown) {
            unshown if unshown.is_empty() => tool.to_owned(),
            summary => cut(&format!("{tool} `{summary}`"), UNASKED_MAX),
        };
        let mode = self.shown.permissions.map_or("ask", Permissions::as_str);
        let text = texts::ran_unasked((&self.me.agent, mode), &ran);
        self.shown.unasked = Some(ran.clone());
        self.record_notice(Some(turn), "unasked", text.clone());
        // Nothing more of what ran is hidden.
        let text = self.me.redactor.sourced(&text);
        let agent = self.me.agent.clone();
        let alert = NewAlert::new(agent, WebhookEvent::AgentError, text.clone()).group("unasked");
        self.raise(alert);
        if let Some(row) = self.asker() {
            let key = format!("unasked-{turn}");
            let mut say = self.say_there(row, turn, key, "");
            say.lines = vec![text.into()];
            // A notice never wakes.
            say.kind = LineKind::Notice;
            self.journal.push(Entry::Send(Box::new(say)));
        }
        self.rename();
        self.show();
    }

    /// Tells the network, as far as it can be told now, what WHOIS shows; a new connection has it
    /// from the next start on.
    fn rename(&self) {
        let backend = self.shown.runtime.as_deref().unwrap_or_default();
        let unasked = self.shown.unasked.as_deref();
        let Some(permissions) = self.shown.permissions else { return };
        let name = texts::realname(backend, permissions, unasked);
        let line = Message::new("SETNAME").trailing(name);
        let _ = self.ports.link.try_send(LinkCommand::Raw(line));
    }

    /// Messages are in the turn now.
    pub(super) fn messages_taken(&mut self, turn: TurnId, ids: &[MessageId]) {
        let rows = ids.iter().filter_map(|id| self.rows.get(id));
        let in_private = rows.map(|it| &it.row.target).any(|target| place::is_private(target));
        self.turn_is_private(in_private);
        for id in ids {
            let Some(row) = self.rows.get(id).map(|waiting| &waiting.row) else { continue };
            let data = HookData {
                message: row.body.as_str().to_owned(),
                id: Some(*id),
                sender: Some(row.sender.clone()),
            };
            self.hook(Some(turn), HookEvent::OnMessage, data);
        }
    }

    /// The turn is over; its rows are still known.
    pub(super) fn turn_reported(
        &mut self,
        turn: TurnId,
        outcome: &Outcome,
        settled: &[Settlement],
    ) {
        let failure = self.reports.failure.take();
        match outcome {
            Outcome::Failed(kind) => {
                self.error(Some(turn), failure.unwrap_or_else(|| kind.clone()))
            }
            Outcome::NeedsLogin => self.error(Some(turn), failure.unwrap_or_default()),
            Outcome::TimedOut => {
                let waits = self.reports.waited.take();
                self.error(Some(turn), texts::turn_timeout(waits.as_deref()));
            }
            Outcome::Completed => self.completed(turn, settled),
            // A crash is told when the backend is gone; the others are nobody's fault.
            Outcome::Lost(_) | Outcome::RateLimited(_) | Outcome::Interrupted(_) => {}
        }
    }

    /// Alerts that the task is finished: nothing waits, and nothing went back to the queue. If a question of
    /// the turn is open, the alert waits for the turn that its answer begins.
    fn completed(&mut self, turn: TurnId, settled: &[Settlement]) {
        let open = settled.iter().any(|one| one.state == MessageState::Accepted);
        if open || self.core.view().waiting > 0 {
            return;
        }
        // Gangline's own notes may come with a task. One is the task only if nothing else was there.
        let rows = || settled.iter().rev().filter_map(|one| self.rows.get(&one.message));
        let task = rows().find(|waiting| waiting.row.origin != Origin::System);
        let Some(row) = task.or_else(|| rows().next()).map(|waiting| &waiting.row) else { return };
        let task = row.body.head(TASK_MAX).into_string();
        let task = task.lines().next().unwrap_or_default().trim();
        let task = match row.question {
            // Its text is the program's own heading and an answer.
            Some(question) => format!("the answer to question {question}"),
            None => mention::strip(task, &[&self.me.agent]),
        };
        let text = complete(&self.me.agent, &task, &row.target);
        let alert = Box::new(alert(&self.me, WebhookEvent::AgentComplete, &text));
        self.journal.push(Entry::AlertUnlessAsked { alert, turn, message: row.id });
    }

    pub(super) fn error(&mut self, turn: Option<TurnId>, message: String) {
        self.hook(turn, HookEvent::OnError, HookData { message, ..HookData::default() });
    }

    /// Raises an alert that nobody needs to answer (R1-39). Alerts of one event that come quickly
    /// after each other are told as one.
    pub(super) fn alert(&mut self, event: WebhookEvent, text: String) {
        self.raise(alert(&self.me, event, &text));
    }

    /// Raises an alert: one record in the store, with the alert itself in the same commit.
    pub(super) fn raise(&mut self, alert: NewAlert) {
        self.journal.push(Entry::Alert(Box::new(alert)));
    }

    fn hook(&mut self, turn: Option<TurnId>, event: HookEvent, mut data: HookData) {
        // Masked before it is cut: half a secret is one too.
        data.message = self.me.redactor.redact(&data.message).head(MESSAGE_MAX).into_string();
        // As its shells know it (C22), and not before there is one.
        let session = self.shown.session.as_ref().and(self.shown.known_as.clone());
        let payload = self.hooks.payload(event, session.clone(), (self.me.clock.now(), data));
        if self.hooks.wants(event)
            && let Ok(json) = serde_json::to_string(&payload)
        {
            self.hooks.send(event, session, self.me.redactor.redact(&json).into_string());
        }
        self.record(turn, payload);
    }
}
