//! The operator's inputs and the daemon's end: pause, resume, interrupt, drain.

use super::{Agent, Drain, Draining, Effect, Notice, Operator, Phase};
use crate::{
    outcome::{By, Outcome},
    pause::{PauseReason, Until},
    time::Now,
};

impl Agent {
    pub(super) fn operator(&mut self, now: Now, word: Operator, out: &mut Vec<Effect>) {
        match word {
            Operator::Resume => {
                for reason in PauseReason::ALL.iter().filter(|reason| reason.ends_with_resume()) {
                    self.unpause(*reason, out);
                }
                // What a limit made wait is tried.
                self.feed_after = None;
                self.needs_login = false;
                if matches!(self.phase, Phase::Parked) {
                    self.breaker.half_open(now);
                    self.phase = Phase::Down;
                    out.push(Effect::Notice(Notice::Unparked));
                    out.push(Effect::Rescan);
                }
            }
            Operator::Interrupt(by) => match &mut self.phase {
                Phase::Turn(turn) => turn.interrupt(
                    now.plus(self.options.interrupt_grace),
                    Outcome::Interrupted(by),
                    out,
                ),
                Phase::Down | Phase::Starting { .. } | Phase::Idle { .. } | Phase::Parked => {
                    out.push(Effect::Notice(Notice::NothingToInterrupt));
                }
            },
        }
    }

    /// Begins a pause, or gives it another end. The open turn continues.
    pub(super) fn pause(
        &mut self,
        now: Now,
        reason: PauseReason,
        until: Option<Until>,
        out: &mut Vec<Effect>,
    ) {
        if self.pauses.begin(now, reason, until) {
            out.push(Effect::Notice(Notice::Paused(reason)));
        }
    }

    pub(super) fn unpause(&mut self, reason: PauseReason, out: &mut Vec<Effect>) {
        if self.pauses.end(reason) && !self.pauses.hold() {
            out.push(Effect::Notice(Notice::Resumed));
        }
    }

    /// Ends the pauses whose time is over.
    pub(super) fn pauses_over(&mut self, now: Now, out: &mut Vec<Effect>) {
        let over = self.pauses.expire(now);
        let some = !over.is_empty();
        out.extend(over.into_iter().map(|held| Effect::PauseOver { held }));
        if some && !self.pauses.hold() {
            out.push(Effect::Notice(Notice::Resumed));
        }
    }

    pub(super) fn drain(&mut self, now: Now, drain: Drain, out: &mut Vec<Effect>) {
        self.draining = Draining::Yes;
        match (drain, &mut self.phase) {
            (Drain::Now, Phase::Turn(turn)) => turn.interrupt(
                now.plus(self.options.interrupt_grace),
                Outcome::Interrupted(By::Drain),
                out,
            ),
            (Drain::Soft | Drain::Now, _) => {}
        }
    }

    pub(super) fn finish_drain(&mut self, out: &mut Vec<Effect>) {
        match &self.phase {
            Phase::Starting { generation, .. } | Phase::Idle { generation } => {
                out.push(Effect::KillRuntime { generation: *generation });
            }
            Phase::Down | Phase::Turn(_) | Phase::Parked => {}
        }
        self.phase = Phase::Down;
        self.queue.clear();
        self.draining = Draining::Done;
        out.push(Effect::Drained);
    }
}
