//! What was found about this agent: recorded by the loop, the only writer; and its watchdogs.

use gangline_core::{
    agent::PhaseName,
    finding::FindingKind,
    watchdog::{Changes, Found, KINDS, Limits, Sight},
};
use gangline_store::{AlertWords, Entry, MessageRow, NewFinding};

use super::AgentLoop;
use crate::texts::findings::{self as texts, Oldest, Told};

impl AgentLoop {
    /// Says after what time the agent counts as stuck.
    pub(crate) fn with_watchdogs(mut self, limits: Limits) -> Self {
        self.watchdogs = gangline_core::watchdog::Watchdogs::new(limits);
        self
    }

    /// Raises a finding; a second one of its key gives the first new texts.
    pub(super) fn finding(&mut self, new: NewFinding) {
        self.journal.push(Entry::Finding(Box::new(new)));
    }

    /// What was found under this key holds no more; nothing happens if nothing was.
    pub(super) fn finding_resolved(&mut self, key: impl Into<String>) {
        self.journal.push(Entry::FindingResolved(self.me.agent.clone(), key.into()));
    }

    /// Lets the watchdogs look: at each tick, and while one of them barks at each change.
    pub(super) fn look_for_trouble(&mut self) {
        let view = self.core.view();
        let waits = !view.paused && !view.draining;
        let sight = Sight {
            turn: view.turn,
            asks: view.approvals > 0,
            oldest: self.oldest().filter(|_| waits).map(|row| self.age(row)),
            parked: view.phase == PhaseName::Parked,
        };
        let Changes { found, over } = self.watchdogs.look(self.now(), &sight);
        for kind in over {
            self.finding_resolved(kind.as_str());
        }
        for found in found {
            self.barks(found);
        }
    }

    /// The daemon ends: what is about its turn or its waiting holds no more.
    pub(super) fn turn_is_over(&mut self) {
        if !self.watchdogs.is_barking() {
            return;
        }
        for kind in KINDS.into_iter().filter(|kind| *kind != FindingKind::BreakerOpen) {
            self.finding_resolved(kind.as_str());
        }
    }

    fn barks(&mut self, found: Found) {
        let view = self.core.view();
        let tool = self.tool();
        let oldest = self.oldest();
        let login = self.shown.login_hint.as_ref();
        let login = login.map(|hint| self.me.redactor.redact(hint).into_string());
        let told = texts::watchdog(
            found,
            Told {
                task: self.shown.task_text(),
                tool: tool.as_ref(),
                oldest: oldest.map(|row| Oldest { id: row.id, sender: &row.sender }),
                waiting: view.waiting,
                needs_login: login.as_deref(),
                death: self.shown.death.as_deref(),
                in_turn: view.turn.is_some(),
            },
        );
        let redact = |text: &str| self.me.redactor.redact(text);
        let mut new = NewFinding::new(self.me.agent.clone(), found.kind, redact(&told.cause));
        // Of texts that are masked: nothing more of a tool that runs is hidden.
        new.evidence = self.me.redactor.sourced(&told.evidence);
        new.message = oldest
            .filter(|_| found.kind == FindingKind::WaitingInbox)
            .map(|row| row.id)
            .or_else(|| view.messages.first().copied());
        new.choices = told.choices;
        new.recommended = told.recommended;
        if found.kind == FindingKind::BreakerOpen {
            let words = |text: &String| AlertWords { text: redact(text), room_text: None };
            new.alert = self.shown.parked.as_ref().map(words);
        }
        self.finding(new);
    }

    /// Returns the message that has waited longest for its turn.
    fn oldest(&self) -> Option<&MessageRow> {
        let view = self.core.view();
        let waiting = self.rows.values().map(|waiting| &waiting.row);
        let waiting = waiting.filter(|row| !view.messages.contains(&row.id));
        waiting.filter(|row| !row.is_restart_note()).min_by_key(|row| (row.accepted_at, row.id))
    }

    fn age(&self, row: &MessageRow) -> std::time::Duration {
        self.me.clock.now().since(row.accepted_at)
    }
}
