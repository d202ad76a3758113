//! The backend's session, as far as turns depend on it: whether the conversation fits, and what
//! happens to it between turns. Pure.
//!
//! One phase with one owner for every compaction: asked for by a person, by the watermark
//! ([`super::care`]), or because a prompt no longer fitted. The last kind happens inside the turn,
//! which stays open: the prompt is given once more (R2-08).

use crate::{
    id::TurnId,
    outcome::{EndedBy, Outcome},
    time::Now,
};

use super::{
    Abilities, Agent, ChosenModel, ContextChange, Effect, Generation, ModelChange, Notice, Phase,
    StartWith,
    turn::{Again, Close, OpenedBy, Step, Turn},
};

/// The kind of a failed turn whose prompt no longer fitted.
pub(super) const OVERFLOW: &str = "context_overflow";

/// Whether the conversation fits its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Fits,
    /// A prompt did not fit, also after a compaction if there was one.
    TooLong,
}

/// What is to be done between turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// By a person: it outlives the generation that it was asked of.
    Clear,
    /// The same.
    Compact,
    /// By the watermark, or because a prompt did not fit: of this generation only.
    Room,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) can: Abilities,
    /// The generation has told what it can do.
    told: bool,
    size: Size,
    /// To be done once no turn is open.
    wanted: Option<Wanted>,
    model: Option<ChosenModel>,
    /// The backend is to be started anew with the effort that was chosen.
    effort: bool,
    /// The conversation is given up: the next generation begins an empty one with the checkpoint.
    given_up: bool,
}

impl Session {
    pub(super) fn new() -> Self {
        let can = Abilities::default();
        Self {
            can,
            told: false,
            size: Size::Fits,
            wanted: None,
            model: None,
            effort: false,
            given_up: false,
        }
    }

    /// A generation begins; returns with which session, if another one than is wanted anyway. It
    /// learns its model and its effort at its start.
    pub(super) fn begins(&mut self, with: StartWith) -> StartWith {
        let with = match (self.wanted, self.given_up) {
            // A new session that was promised begins, whatever ended the old one's backend.
            (Some(Wanted::Clear), _) => StartWith::Cleared,
            (Some(Wanted::Compact | Wanted::Room) | None, true) => StartWith::Renewed,
            (Some(Wanted::Compact | Wanted::Room) | None, false) => with,
        };
        let resumes = with == StartWith::Resume;
        let wanted = self.wanted.filter(|it| resumes && *it == Wanted::Compact);
        *self = Self { wanted, ..Self::new() };
        with
    }

    /// The context is shorter than when this was asked for, no matter for whom it was shortened.
    fn is_shorter(&mut self) {
        self.wanted = self.wanted.filter(|it| *it == Wanted::Clear);
    }

    /// There must be more room in the context, as soon as no turn is open.
    pub(super) fn wants_room(&mut self) {
        self.wanted.get_or_insert(Wanted::Room);
    }
}

impl Agent {
    /// A person wants the context changed.
    pub(super) fn change_context(&mut self, change: ContextChange) {
        match (change, self.session.wanted) {
            // What is about to be emptied need not be made shorter.
            (ContextChange::Compact, Some(Wanted::Clear)) => {}
            (ContextChange::Compact, _) => self.session.wanted = Some(Wanted::Compact),
            (ContextChange::Clear, _) => {
                self.session.wanted = Some(Wanted::Clear);
                self.care.emptied();
            }
        }
    }

    /// Another model was chosen. A generation that begins later has it from its start.
    pub(super) fn model_chosen(&mut self, model: ChosenModel) {
        self.session.model = Some(model);
    }

    /// Another ground level of the effort was chosen. A generation that begins later has it from its start.
    pub(super) fn effort_chosen(&mut self) {
        self.session.effort = true;
    }

    pub(super) fn backend_can(
        &mut self,
        (generation, abilities): (Generation, Abilities),
        out: &mut Vec<Effect>,
    ) {
        match self.running() == Some(generation) {
            true => (self.session.can, self.session.told) = (abilities, true),
            false => out.push(Effect::Notice(Notice::LateGeneration { generation })),
        }
    }

    /// Does what is wanted of a session in which no turn is open.
    pub(super) fn between_turns(&mut self, out: &mut Vec<Effect>) {
        let Phase::Idle { generation } = self.phase else { return };
        let mut restart = false;
        if let Some(model) = self.session.model.take() {
            out.push(Effect::Notice(Notice::ModelChanges));
            match (self.session.can.model, model) {
                (ModelChange::Any, _) | (ModelChange::Named, ChosenModel::Named) => {
                    out.push(Effect::SetModel { generation });
                }
                (ModelChange::Named | ModelChange::Restart, _) => restart = true,
            }
        }
        if std::mem::take(&mut self.session.effort) {
            out.push(Effect::Notice(Notice::EffortChanges));
            restart = true;
        }
        if restart {
            return self.restart(generation, out);
        }
        match self.session.wanted.take() {
            // Where nothing can make it shorter, an empty one with the checkpoint does as well.
            Some(Wanted::Room) if self.session.told && !self.session.can.compact => {
                self.renew(generation, out);
            }
            Some(Wanted::Compact | Wanted::Room) => out.push(Effect::Compact { generation }),
            Some(Wanted::Clear) => {
                out.push(Effect::Clear { generation });
                // It is empty again, as at the start.
                self.session.size = Size::Fits;
                if self.session.can.clear && self.options.first_words {
                    self.primes = Some(generation);
                }
            }
            None => {}
        }
    }

    /// Begins a new session in the place of this one.
    pub(super) fn renew(&mut self, generation: Generation, out: &mut Vec<Effect>) {
        self.session.given_up = true;
        self.care.shortened();
        self.restart(generation, out);
    }

    /// Ends the backend, which did nothing wrong; the next generation begins at once.
    fn restart(&mut self, generation: Generation, out: &mut Vec<Effect>) {
        out.push(Effect::EndRuntime { generation });
        self.phase = Phase::Down;
    }

    /// The backend is there and takes no commands, or not this one.
    pub(super) fn unusable(&mut self, now: Now, generation: Generation, out: &mut Vec<Effect>) {
        if self.running() != Some(generation) {
            return out.push(Effect::Notice(Notice::LateGeneration { generation }));
        }
        out.push(Effect::KillRuntime { generation });
        self.exited(now, generation, EndedBy::Us, out);
    }

    /// The prompt of this turn did not fit. Returns whether the turn goes on: the context is made
    /// shorter for it.
    pub(super) fn tries_again(&mut self, now: Now, turn: TurnId, out: &mut Vec<Effect>) -> bool {
        let watchdog = now.plus(self.options.turn_output);
        let able = self.options.compacts && self.session.can.compact;
        let fitted = self.session.size == Size::Fits;
        let Some(turn) = self.open(turn).filter(|turn| able && fitted && turn.may_try_again())
        else {
            return false;
        };
        turn.again = Again::Compacting;
        turn.go(Step::Working, watchdog);
        out.push(Effect::Compact { generation: turn.generation });
        true
    }

    /// A compaction ended, no matter who asked for it.
    pub(super) fn compacted(
        &mut self,
        now: Now,
        (generation, well): (Generation, bool),
        out: &mut Vec<Effect>,
    ) {
        if self.running() != Some(generation) {
            return out.push(Effect::Notice(Notice::LateGeneration { generation }));
        }
        match well {
            true => {
                self.session.size = Size::Fits;
                self.session.is_shorter();
                self.care.shortened();
            }
            false => self.care.not_shortened(),
        }
        let watchdog = now.plus(self.options.turn_output);
        match &mut self.phase {
            Phase::Turn(turn) if turn.again == Again::Compacting => {
                turn.again = Again::Done;
                match &turn.step {
                    // Its end was told before.
                    Step::Interrupting(outcome) => {
                        let outcome = outcome.clone();
                        self.close(now, &Close { outcome, runtime_gone: false }, out);
                    }
                    Step::Taking(_) | Step::Prompting | Step::Working if well => {
                        turn.go(Step::Prompting, watchdog);
                        out.push(Effect::PromptAgain { turn: turn.id });
                    }
                    Step::Taking(_) | Step::Prompting | Step::Working => {
                        self.session.size = Size::TooLong;
                        let outcome = Outcome::Failed(OVERFLOW.to_owned());
                        self.close(now, &Close { outcome, runtime_gone: false }, out);
                    }
                }
            }
            Phase::Idle { .. } if !well && self.session.size == Size::TooLong => {
                self.give_up_session(now, generation, out);
            }
            // What does not fit shows at the turn's end.
            Phase::Turn(_)
            | Phase::Idle { .. }
            | Phase::Down
            | Phase::Starting { .. }
            | Phase::Parked => {}
        }
    }

    /// A turn ended: says what follows for the session.
    pub(super) fn size_after(&mut self, now: Now, outcome: &Outcome, out: &mut Vec<Effect>) {
        let Phase::Idle { generation } = self.phase else { return };
        match outcome {
            Outcome::Completed => self.session.size = Size::Fits,
            Outcome::Failed(kind) if kind == OVERFLOW && self.options.compacts => {
                match self.session.can.compact && self.session.size == Size::Fits {
                    true => {
                        self.session.size = Size::TooLong;
                        self.session.wants_room();
                    }
                    false => self.give_up_session(now, generation, out),
                }
            }
            Outcome::Failed(_)
            | Outcome::TimedOut
            | Outcome::RateLimited(_)
            | Outcome::NeedsLogin
            | Outcome::Interrupted(_)
            | Outcome::Lost(_) => {}
        }
    }

    /// The session no longer fits its model, and nothing but an empty one will.
    fn give_up_session(&mut self, now: Now, generation: Generation, out: &mut Vec<Effect>) {
        let (_, worked) = self.proven;
        self.renew(generation, out);
        if !worked {
            // Its first words alone may be too long: it is not begun anew in a hot loop.
            self.start_after = Some(now.plus(self.options.restart_delay));
        }
    }

    /// Opens the turn with an empty session's first prompt (R0-07).
    pub(super) fn take_first_words(&mut self, generation: Generation, out: &mut Vec<Effect>) {
        self.primes = None;
        let turn = self.next_turn();
        self.open_own(turn, OpenedBy::Priming, generation, out);
    }

    /// Opens a turn without messages that has a prompt of ours.
    pub(super) fn open_own(
        &mut self,
        id: TurnId,
        by: OpenedBy,
        generation: Generation,
        out: &mut Vec<Effect>,
    ) {
        out.push(Effect::Take { turn: id, messages: Vec::new() });
        self.phase = Phase::Turn(Box::new(Turn::new(id, generation, by, Vec::new())));
    }

    /// Returns the generation that runs. One whose turn is being recorded may be gone.
    fn running(&self) -> Option<Generation> {
        let gone = matches!(&self.phase, Phase::Turn(turn) if turn.has_no_runtime());
        self.generation().filter(|_| !gone)
    }
}

#[cfg(test)]
mod tests;
