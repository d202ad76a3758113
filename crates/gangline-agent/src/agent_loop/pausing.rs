//! Pauses and escalations: what begins and ends them, what of them is kept, what people are told.

use std::collections::BTreeMap;

use gangline_api::status::ShownPause;
use gangline_config::OnEscalation;
use gangline_core::{
    agent::{Input, Operator},
    finding::{ChoiceWord, FindingKind},
    pause::{Held, PauseReason, Schedule, Until},
    redact::Redacted,
    time::WallMicros,
};
use gangline_os::clock::{UnixMicros, rfc3339};
use gangline_store::{AlertWords, Entry, Holds, NewFinding, NewPause, PauseRow};
use jiff::{Timestamp, Zoned, tz::TimeZone};
use tracing::info;

use super::AgentLoop;
use crate::{
    bus::Escalation, escalation, journal::Single, settings::Account, texts::pauses as texts,
};

/// What is known of pauses beside the state machine's set of them.
#[derive(Debug, Default)]
pub(super) struct Pausing {
    on_escalation: OnEscalation,
    schedule: Option<Schedule>,
    /// What people are told of the cause of each.
    notes: BTreeMap<PauseReason, Redacted>,
    /// Why it was escalated; no person has decided since.
    escalated: Option<Redacted>,
    /// Until when somebody woke it from its sleep.
    woken_until: Option<UnixMicros>,
    /// What the backend spends from.
    account: Account,
    /// Whether the last turn is about a private message.
    in_private: bool,
}

impl Pausing {
    pub(super) fn is_escalated(&self) -> bool {
        self.escalated.is_some()
    }

    pub(super) fn escalated(&self) -> Option<String> {
        self.escalated.as_ref().map(ToString::to_string)
    }

    /// Returns what holds as a status shows it.
    pub(super) fn shown(&self, held: &[Held]) -> Vec<ShownPause> {
        let one = |held: &Held| ShownPause {
            reason: held.reason.into(),
            until: held.until.map(|at| rfc3339(UnixMicros(at.0))),
            note: self.notes.get(&held.reason).map(ToString::to_string),
        };
        held.iter().map(one).collect()
    }
}

impl AgentLoop {
    /// Says when the agent sleeps, and what follows from an escalation.
    pub(crate) fn rests(mut self, schedule: Option<Schedule>, on_escalation: OnEscalation) -> Self {
        self.pausing.schedule = schedule;
        self.pausing.on_escalation = on_escalation;
        self
    }

    /// Says from which account the backend spends: its other agents are warned of a spent quota.
    pub(crate) fn spends_from(mut self, account: Account) -> Self {
        self.pausing.account = account;
        self
    }

    /// A person paused the agent. The row is written already.
    pub(super) fn paused_by_a_person(&mut self, until: Option<UnixMicros>) {
        self.words += 1;
        let reason = PauseReason::Operator;
        self.pausing.notes.remove(&reason);
        self.think(Input::Pause { reason, until: self.until(until) });
    }

    /// Begins no new turn for this reason, over restarts too; the open turn continues. One that holds
    /// already gets another end.
    pub(super) fn pause(&mut self, reason: PauseReason, until: Option<UnixMicros>) {
        self.pause_with(NewPause::new(self.me.agent.clone(), reason, until));
    }

    /// Ends a pause. The agent continues when no other reason holds.
    pub(super) fn unpause(&mut self, reason: PauseReason) {
        self.words += 1;
        self.journal.push(Single::Unpause { reason, until: None });
        self.pausing.notes.remove(&reason);
        self.think(Input::Unpause { reason });
    }

    /// As [`Self::pause`], with a note that tells people the cause.
    pub(super) fn pause_with(&mut self, pause: NewPause) {
        self.words += 1;
        let (reason, until, note) = (pause.reason, pause.until, pause.note.clone());
        self.journal.push(Single::Pause(Box::new(pause)));
        match note {
            Some(note) => self.pausing.notes.insert(reason, note),
            None => self.pausing.notes.remove(&reason),
        };
        self.think(Input::Pause { reason, until: self.until(until) });
    }

    /// Takes what the store has when the daemon begins. What is over by now is forgotten. Any input may
    /// start a backend, so this comes before the first one, and after what the agent's schedule and
    /// account are.
    pub(crate) fn begins_paused(mut self, rows: &[PauseRow]) -> Self {
        let now = self.me.clock.now();
        for row in rows.iter().filter(|row| row.holds == Holds::Yes && !row.stops(now)) {
            self.journal.push(Single::Unpause { reason: row.reason, until: row.until });
        }
        if !rows.iter().any(|row| row.reason == PauseReason::RateLimit && row.stops(now)) {
            // It may have ended while no daemon ran.
            self.limit_over();
        }
        self.obey(rows);
        self.look_at_the_clock();
        self
    }

    /// Obeys what another process wrote into the store. What was read before an order of ours was
    /// written is older than that order: it is read again.
    pub(super) fn paused_row(&mut self, rows: &[PauseRow], words: u64) {
        match words == self.words {
            true => self.obey(rows),
            false => self.journal.push(Single::LookAtPause { words: self.words }),
        }
    }

    fn obey(&mut self, rows: &[PauseRow]) {
        let now = self.me.clock.now();
        let rows: Vec<&PauseRow> =
            rows.iter().filter(|row| row.until.is_none_or(|until| until > now)).collect();
        let find = |reason| rows.iter().find(|row| row.reason == reason);
        let escalated = find(PauseReason::Escalation);
        let why = |row: &&PauseRow| row.note.clone().unwrap_or_default();
        self.pausing.escalated = escalated.map(why);
        let woken = find(PauseReason::Schedule).filter(|row| row.holds == Holds::No);
        self.pausing.woken_until = woken.and_then(|row| row.until);
        let before = self.core.view().pauses;
        for row in rows.iter().filter(|row| row.stops(now)) {
            if let Some(note) = row.note.clone() {
                self.pausing.notes.insert(row.reason, note);
            }
            if !before.contains(&row.held()) {
                self.think(Input::Pause { reason: row.reason, until: self.until(row.until) });
            }
        }
        for held in before {
            if !rows.iter().any(|row| row.reason == held.reason && row.stops(now)) {
                self.pausing.notes.remove(&held.reason);
                self.think(Input::Unpause { reason: held.reason });
                if held.reason == PauseReason::RateLimit {
                    self.limit_over();
                    // What waited for its end may be taken.
                    self.looks.want();
                }
            }
        }
        self.show();
    }

    /// What every tick does: hours of sleep begin and end, and the wall clock may have been set.
    pub(super) fn look_at_the_clock(&mut self) {
        for held in self.core.view().pauses {
            if let Some(at) = held.until {
                let until = self.until(Some(UnixMicros(at.0)));
                self.think(Input::Pause { reason: held.reason, until });
            }
        }
        let now = self.me.clock.now();
        let local = Timestamp::from_microsecond(now.0).unwrap_or_default();
        let local = Zoned::new(local, TimeZone::system());
        let asleep = self.pausing.schedule.and_then(|schedule| schedule.asleep(&local));
        let asleep = asleep.map(|asleep| UnixMicros(asleep.until.0));
        let held = self.core.view().pauses;
        let held = held.iter().find(|held| held.reason == PauseReason::Schedule);
        match (asleep, held) {
            (Some(until), _) if self.pausing.woken_until == Some(until) => {}
            (Some(until), Some(held)) if held.until == Some(WallMicros(until.0)) => {}
            (Some(until), _) => self.pause(PauseReason::Schedule, Some(until)),
            (None, Some(_)) => self.unpause(PauseReason::Schedule),
            (None, None) => {}
        }
    }

    /// A person lifts what a person may; the rows are changed already. What the loop itself began is ended
    /// once more behind what it has yet to write. Woken from its sleep, it sleeps again at the next
    /// `sleep_start`.
    pub(super) fn resume(&mut self) {
        self.words += 1;
        let asleep = |held: &Held| held.reason == PauseReason::Schedule;
        if let Some(held) = self.core.view().pauses.into_iter().find(asleep) {
            self.pausing.woken_until = held.until.map(|at| UnixMicros(at.0));
        }
        if self.pausing.escalated.take().is_some() {
            let reason = PauseReason::Escalation;
            self.journal.push(Single::Unpause { reason, until: None });
            self.finding_resolved(FindingKind::Escalation.as_str());
        }
        if self.core.view().pauses.iter().any(|held| held.reason == PauseReason::RateLimit) {
            let reason = PauseReason::RateLimit;
            self.journal.push(Single::Unpause { reason, until: None });
            self.finding_resolved(FindingKind::RateLimit.as_str());
            self.limit_over();
        }
        // What waited for the end of a limit may be taken.
        self.looks.want();
        self.pausing.notes.retain(|reason, _| !reason.ends_with_resume());
        self.think(Input::Operator(Operator::Resume));
    }

    /// A person has decided on an escalation.
    pub(super) fn guided(&mut self) {
        if self.pausing.escalated.take().is_some() {
            self.finding_resolved(FindingKind::Escalation.as_str());
            self.unpause(PauseReason::Escalation);
        }
    }

    /// The supervisor has given up (R0-28, R1-34): intake is held, the open turn ends as it will, and
    /// people are told. While one escalation waits, another one says nothing new.
    pub(super) fn escalate(&mut self, escalation: &Escalation) {
        if self.pausing.is_escalated() {
            return;
        }
        let note = self.me.redactor.sourced(&texts::stuck(escalation));
        let holds = match self.pausing.on_escalation {
            OnEscalation::Hold => Holds::Yes,
            OnEscalation::Notify => Holds::No,
        };
        info!(kind = %escalation.kind, "escalated");
        let text = texts::escalation(&self.me.agent, escalation, self.pausing.on_escalation);
        self.pausing.escalated = Some(note.clone());
        let (agent, reason) = (self.me.agent.clone(), PauseReason::Escalation);
        let pause = NewPause { agent, reason, until: None, holds, note: Some(note) };
        match holds {
            Holds::Yes => self.pause_with(pause),
            Holds::No => {
                self.words += 1;
                self.journal.push(Single::Pause(Box::new(pause)));
            }
        }
        self.finding(self.escalated_finding(escalation, &text));
        // Only the owner reads the log.
        self.record_notice(None, "escalated", text);
        self.show();
    }

    /// Notes whether the new turn is about a private message.
    pub(super) fn turn_is_private(&mut self, in_private: bool) {
        self.pausing.in_private = in_private;
    }

    fn escalated_finding(&self, it: &Escalation, notice: &str) -> NewFinding {
        // The supervisor's texts are masked: nothing more of the calls that they quote is hidden.
        let masked = |text: &str| self.me.redactor.sourced(text);
        let (short, notice) = match self.pausing.in_private {
            true => {
                let without = texts::without_words(it);
                let then = self.pausing.on_escalation;
                let notice = texts::escalation(&self.me.agent, &without, then);
                (texts::spiraling(&self.me.agent, &without), notice)
            }
            false => (texts::spiraling(&self.me.agent, it), notice.to_owned()),
        };
        let choices = escalation::choices();
        let (agent, cause) = (self.me.agent.clone(), masked(&it.cause));
        let affects = texts::affected(it, self.pausing.on_escalation);
        NewFinding {
            evidence: masked(&it.evidence),
            choices,
            recommended: Some(ChoiceWord::Resume),
            affects: masked(&affects),
            alert: Some(AlertWords { text: masked(&short), room_text: Some(masked(&notice)) }),
            // Whether it was asked in private.
            message: self.core.view().messages.first().copied(),
            ..NewFinding::new(agent, FindingKind::Escalation, cause)
        }
    }

    /// The backend's limit paused the agent: it is kept, and people are told.
    pub(super) fn keep_pause(&mut self, held: Held) {
        self.words += 1;
        if held.reason == PauseReason::RateLimit {
            let (agent, text) = (self.me.agent.clone(), texts::limited(held.until));
            let cause = self.me.redactor.redact(&text);
            self.finding(NewFinding::new(agent, FindingKind::RateLimit, cause));
            self.record_notice(None, "rate_limit", text);
            self.warn_of_limit(held);
        }
        let until = held.until.map(|at| UnixMicros(at.0));
        let pause = NewPause::new(self.me.agent.clone(), held.reason, until);
        self.journal.push(Single::Pause(Box::new(pause)));
    }

    /// The time of a pause is over.
    pub(super) fn pause_over(&mut self, held: Held) {
        let until = held.until.map(|at| UnixMicros(at.0));
        self.pausing.notes.remove(&held.reason);
        self.journal.push(Single::Unpause { reason: held.reason, until });
        if held.reason == PauseReason::RateLimit {
            self.finding_resolved(FindingKind::RateLimit.as_str());
            self.limit_over();
        }
    }

    /// Warns the other agents of the account: each gets a finding that needs no decision, until this agent
    /// continues. They are not held, because they may not reach the limit.
    fn warn_of_limit(&mut self, held: Held) {
        let Account { name, others } = self.pausing.account.clone();
        let text = texts::limit_of_another(&self.me.agent, &name, held.until);
        let cause = self.me.redactor.redact(&text);
        for other in others {
            let key = self.limit_key();
            let new = NewFinding::new(other, FindingKind::SharedLimit, cause.clone());
            self.finding(NewFinding { key, ..new });
        }
    }

    /// What the other agents were warned of holds no more.
    fn limit_over(&mut self) {
        for other in self.pausing.account.others.clone() {
            self.journal.push(Entry::FindingResolved(other, self.limit_key()));
        }
    }

    fn limit_key(&self) -> String {
        format!("{}/{}", FindingKind::SharedLimit, self.me.agent)
    }

    fn until(&self, until: Option<UnixMicros>) -> Option<Until> {
        let now = WallMicros(self.me.clock.now().0);
        until.map(|at| Until::from(WallMicros(at.0), now))
    }
}
