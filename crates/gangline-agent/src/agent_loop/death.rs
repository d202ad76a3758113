//! What follows when the backend dies: what is recorded, who hears of it, and the line of an agent
//! that is parked after several deaths.
//!
//! What becomes of the turn is decided by the core (`Agent::exited`). Start at [`AgentLoop::gone`].

use gangline_api::status::cut;
use gangline_core::{
    MessageId, Tier,
    agent::PhaseName,
    alert::text,
    hook::WebhookEvent,
    outcome::EndedBy,
    patience::{MINUTE, REASONS_A_MINUTE},
};
use gangline_store::{Entry, LineKind, MessageRow, Send as StoreSend};

use super::AgentLoop;
use crate::texts;

/// The most messages whose cut-off attempts are remembered; an old one is a courtesy only.
const CUT_OFF_MAX: usize = 64;
/// So much of the reason for a park is kept, in characters.
const DEATH_MAX: usize = 300;

impl AgentLoop {
    /// The backend is gone.
    pub(super) fn gone(&mut self, by: EndedBy, how: &str) {
        if std::mem::take(&mut self.shown.compacting) {
            self.record_notice(None, "compacted", texts::NOT_COMPACTED.to_owned());
        }
        match by {
            EndedBy::Us => {}
            EndedBy::Itself => {
                if self.reports.cut_off.len() >= CUT_OFF_MAX {
                    self.reports.cut_off.clear();
                }
                let words = self.reports.last_words.take();
                let lost = self.core.view().messages;
                let told = texts::how_ended(how, words.as_deref());
                self.reports.cut_off.extend(lost.into_iter().map(|id| (id, told.to_owned())));
                self.error(None, how.to_owned());
                let death = texts::death(how, words.as_deref(), self.core.view().phase);
                self.died(&death);
                // Without a code only the backend's own words say how it ended.
                let how = if how == texts::exited(-1) { &death } else { how };
                let text = text::crashed(&self.me.agent, how);
                self.alert(WebhookEvent::AgentError, text);
            }
        }
        self.session_ends(how);
    }

    /// The backend has exited on its own while it was idle and without a fault (R0-20).
    pub(super) fn ended_well(&mut self) {
        if std::mem::take(&mut self.shown.compacting) {
            self.record_notice(None, "compacted", texts::NOT_COMPACTED.to_owned());
        }
        self.record_notice(None, "ended", texts::ENDED_WELL.to_owned());
        self.session_ends(texts::ENDED_WELL);
    }

    /// Keeps how the backend ended, or why it did not start, for those who ask why it is parked.
    pub(super) fn died(&mut self, how: &str) {
        let masked = self.me.redactor.redact(how).into_string();
        self.shown.death = Some(cut(&masked, DEATH_MAX));
        self.shown.start_notice = None;
    }

    /// Keeps what the backend says before it is ready, for those who wait for it.
    pub(super) fn says_at_start(&mut self, text: &str) {
        if self.core.view().phase == PhaseName::Starting {
            let masked = self.me.redactor.redact(text).into_string();
            self.shown.start_notice = Some(cut(&masked, DEATH_MAX));
            self.show();
        }
    }

    pub(super) fn parked(&mut self, deaths: usize, suspects: &[MessageId]) {
        let why = self.shown.death.clone().unwrap_or_default();
        let suspected = texts::suspected(suspects);
        self.record_notice(None, "circuit_open", texts::circuit_open(deaths, &why) + &suspected);
        let text = texts::alert_parked(&self.me.agent, deaths, &why) + &suspected;
        self.shown.parked = Some(text);
        // Finds that the breaker is open, with this alert.
        self.look_for_trouble();
    }

    /// Tells an asker, once for each message, that it waits until somebody fixes the agent.
    /// Somebody who asks often gets the first few of these only.
    pub(super) fn notify_parked(&mut self, row: &MessageRow) {
        let program = row.target.is_empty() || row.principal.tier == Tier::Agent;
        if program || self.reports.parked.contains(&row.id) {
            return;
        }
        let now = self.now();
        if !self.reports.reasons.may(now, &row.sender, (MINUTE, REASONS_A_MINUTE)) {
            return;
        }
        self.reports.parked.insert(row.id);
        let text = format!("{}: {} ({})", row.sender, texts::PARKED, row.id);
        self.journal.push(Entry::Send(Box::new(StoreSend {
            agent: self.me.agent.clone(),
            turn: None,
            idem_key: format!("k-{}-{:x}-{}", row.id, row.accepted_at.0, row.takes).into(),
            target: row.target.clone(),
            lines: vec![self.me.redactor.redact(&text).into()],
            // A notice never wakes.
            kind: LineKind::Notice,
            in_reply_to: Some(row.id),
            deliver: None,
        })));
    }
}
