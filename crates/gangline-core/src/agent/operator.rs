//! The operator's inputs and the daemon's end: pause, resume, interrupt, drain.

use super::{Agent, Drain, Draining, Effect, Notice, Operator, Phase};
use crate::{
    outcome::{By, Outcome},
    time::Now,
};

impl Agent {
    pub(super) fn operator(&mut self, now: Now, word: Operator, out: &mut Vec<Effect>) {
        match word {
            Operator::Pause => {
                if !self.paused {
                    out.push(Effect::Notice(Notice::Paused));
                }
                self.paused = true;
            }
            Operator::Resume => {
                if self.paused {
                    out.push(Effect::Notice(Notice::Resumed));
                }
                self.paused = false;
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
