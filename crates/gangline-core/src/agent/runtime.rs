//! How the agent handles the runtime's reports and the store's answers to T1.

use std::time::Duration;

use crate::{
    approval::Decision,
    id::{MessageId, TurnId},
    outcome::{By, EndedBy, Outcome},
    pause::{Held, PauseReason, Until},
    time::Now,
};

use super::{
    Agent, Draining, Effect, Finish, Generation, Limit, Notice, Phase, RuntimeInput, StartWith,
    session::OVERFLOW,
    turn::{Close, OpenedBy, Step, Taking, Turn},
};

/// A provider that says "at once" is not asked without a pause for ever.
const RATE_LIMIT_LEAST: Duration = Duration::from_secs(1);

impl Agent {
    #[allow(clippy::too_many_lines, reason = "a line or a few for each event of a backend")]
    pub(super) fn runtime(&mut self, now: Now, input: RuntimeInput, out: &mut Vec<Effect>) {
        match input {
            RuntimeInput::Ready { generation } => self.ready(now, generation, out),
            RuntimeInput::Began { generation } => self.began(generation, out),
            RuntimeInput::NeedsLogin { generation } if self.generation() == Some(generation) => {
                self.needs_login = true;
            }
            RuntimeInput::Primes { generation } if self.generation() == Some(generation) => {
                self.primes = Some(generation)
            }
            RuntimeInput::Primes { generation } => {
                out.push(Effect::Notice(Notice::LateGeneration { generation }));
            }
            RuntimeInput::LoggedIn { generation } if self.generation() == Some(generation) => {
                self.needs_login = false;
            }
            RuntimeInput::NeedsLogin { generation } | RuntimeInput::LoggedIn { generation } => {
                out.push(Effect::Notice(Notice::LateGeneration { generation }));
            }
            RuntimeInput::Ended { generation } if self.ends_well(now, generation) => {
                self.needs_login = false;
                // As after a death: whatever it does, it is not started in a hot loop.
                self.start_after = Some(now.plus(self.options.restart_delay));
                self.phase = Phase::Down;
            }
            RuntimeInput::Ended { generation } => self.gone(now, generation, EndedBy::Itself, out),
            RuntimeInput::Exited { generation, by } => self.gone(now, generation, by, out),
            RuntimeInput::Accepted { turn } | RuntimeInput::Output { turn } => {
                self.in_turn(now, turn, out, |_| {});
            }
            RuntimeInput::Steered { turn, messages } => {
                self.in_turn(now, turn, out, |open| open.steered(&messages));
            }
            RuntimeInput::Text { turn, text } => {
                self.in_turn(now, turn, out, |open| open.text(text))
            }
            RuntimeInput::ToolResult { turn, tool } => {
                self.in_turn(now, turn, out, |open| open.tool_result(tool));
            }
            RuntimeInput::ApprovalAsked { turn, request } => match self.open(turn) {
                Some(open) if open.may_ask() => {
                    if open.pending.insert(request.clone()) {
                        out.push(Effect::AskHuman { turn, request });
                    }
                    self.in_turn(now, turn, out, |_| {});
                }
                // Nobody will decide it, and the runtime must not wait for ever.
                Some(_) | None => {
                    let decision = Decision::Deny;
                    out.push(Effect::Decide { turn, request, decision });
                }
            },
            RuntimeInput::ApprovalWithdrawn { turn, request } => {
                let watchdog = now.plus(self.options.turn_output);
                if self.open(turn).is_some_and(|open| open.decide(&request, watchdog)) {
                    out.push(Effect::ApprovalTakenBack { turn, request });
                }
                self.in_turn(now, turn, out, |_| {});
            }
            RuntimeInput::Holds { tokens, window } => self.care.holds(tokens, window),
            RuntimeInput::Can { generation, abilities } => {
                self.backend_can((generation, abilities), out);
            }
            RuntimeInput::Compacted { generation } => self.compacted(now, (generation, true), out),
            RuntimeInput::NotCompacted { generation } => {
                self.compacted(now, (generation, false), out);
            }
            RuntimeInput::Unusable { generation } => self.unusable(now, generation, out),
            RuntimeInput::Finished { turn, how } => self.finished(now, turn, how, out),
        }
    }

    /// Records a sign of life of the open turn.
    fn in_turn(
        &mut self,
        now: Now,
        turn: TurnId,
        out: &mut Vec<Effect>,
        record: impl FnOnce(&mut Turn),
    ) {
        let watchdog = self.options.turn_output;
        match self.open(turn) {
            Some(open) => {
                open.lives(now, watchdog);
                record(open);
            }
            None => out.push(Effect::Notice(Notice::Late { turn })),
        }
    }

    fn ready(&mut self, now: Now, generation: Generation, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Starting { generation: starting, .. } if starting == generation => {
                self.failed_resumes = 0;
                self.fell_back = false;
                self.crashed = false;
                self.proven = (Some(now), false);
                self.phase = Phase::Idle { generation };
            }
            Phase::Starting { .. }
            | Phase::Down
            | Phase::Idle { .. }
            | Phase::Turn(_)
            | Phase::Parked => out.push(Effect::Notice(Notice::LateGeneration { generation })),
        }
    }

    pub(super) fn began(&mut self, generation: Generation, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Idle { generation: idle } if idle == generation => {
                let id = self.next_turn();
                let turn = Turn::new(id, generation, OpenedBy::Runtime, Vec::new());
                out.push(Effect::Take { turn: id, messages: Vec::new() });
                out.push(Effect::AdoptTurn { turn: id, generation });
                self.phase = Phase::Turn(Box::new(turn));
            }
            Phase::Idle { .. }
            | Phase::Starting { .. }
            | Phase::Down
            | Phase::Turn(_)
            | Phase::Parked => out.push(Effect::Notice(Notice::LateGeneration { generation })),
        }
    }

    /// Returns whether a clean end of this generation would be none of the deaths that park the
    /// agent (R0-20, R0-22): nothing is under way, and it has done something or lived for a while.
    #[must_use]
    pub fn ends_well(&self, now: Now, generation: Generation) -> bool {
        let (ready_at, worked) = self.proven;
        let lived = ready_at.is_some_and(|at| now.since(at) >= self.options.short_generation);
        matches!(self.phase, Phase::Idle { generation: idle } if idle == generation)
            && (worked || lived)
    }

    fn gone(&mut self, now: Now, generation: Generation, by: EndedBy, out: &mut Vec<Effect>) {
        if self.generation() == Some(generation) {
            // The next generation finds out for itself.
            self.needs_login = false;
        }
        self.exited(now, generation, by, out);
    }

    pub(super) fn exited(
        &mut self,
        now: Now,
        generation: Generation,
        by: EndedBy,
        out: &mut Vec<Effect>,
    ) {
        match &mut self.phase {
            Phase::Starting { generation: current, .. } if *current == generation => {
                self.start_failed(now, by, out);
            }
            Phase::Idle { generation: current } if *current == generation => {
                self.died(now, by, Vec::new());
                self.down_or_park(now, out);
            }
            Phase::Turn(turn) if turn.generation == generation => match &mut turn.step {
                Step::Taking(taking) if !taking.runtime_gone => {
                    taking.runtime_gone = true;
                    // Whoever opened it, the prompt of ours was not given.
                    let lost = match turn.by {
                        OpenedBy::Us | OpenedBy::Notes | OpenedBy::Priming => {
                            Outcome::Lost(EndedBy::Us)
                        }
                        OpenedBy::Runtime => Outcome::Lost(by),
                    };
                    let wanted = taking.wanted.take();
                    taking.ended.get_or_insert_with(|| wanted.unwrap_or(lost));
                    turn.withdraw(out);
                    self.died(now, by, Vec::new());
                }
                Step::Taking(_) => {}
                Step::Interrupting(outcome) => {
                    // It ended because it was asked to.
                    let outcome = outcome.clone();
                    self.close(now, &Close { outcome, runtime_gone: true }, out);
                }
                Step::Prompting | Step::Working => {
                    let messages = turn.message_ids();
                    self.died(now, by, messages);
                    let outcome = Outcome::Lost(by);
                    self.close(now, &Close { outcome, runtime_gone: true }, out);
                }
            },
            Phase::Starting { .. }
            | Phase::Idle { .. }
            | Phase::Turn(_)
            | Phase::Down
            | Phase::Parked => out.push(Effect::Notice(Notice::LateGeneration { generation })),
        }
    }

    pub(super) fn start_failed(&mut self, now: Now, by: EndedBy, out: &mut Vec<Effect>) {
        if let Phase::Starting { with: StartWith::Resume, .. } = self.phase
            && by == EndedBy::Itself
        {
            self.failed_resumes += 1;
        }
        self.died(now, by, Vec::new());
        self.down_or_park(now, out);
    }

    /// Counts a death in a turn with these messages, unless it was our doing.
    fn died(&mut self, now: Now, by: EndedBy, messages: Vec<MessageId>) {
        match by {
            EndedBy::Us => {}
            EndedBy::Itself => {
                self.crashed = true;
                self.breaker.record(now, messages);
                self.start_after = Some(now.plus(self.options.restart_delay));
            }
        }
    }

    fn finished(&mut self, now: Now, turn: TurnId, how: Finish, out: &mut Vec<Effect>) {
        if how == Finish::Overflow && self.tries_again(now, turn, out) {
            return;
        }
        let Some(open) = self.open(turn) else {
            out.push(Effect::Notice(Notice::Late { turn }));
            return;
        };
        let limited = match &how {
            Finish::RateLimited { wait, until, limit } => Some((*wait, *until, *limit)),
            Finish::Completed
            | Finish::Failed(_)
            | Finish::Overflow
            | Finish::NeedsLogin
            | Finish::Interrupted => None,
        };
        let outcome = outcome_of(how);
        match &mut open.step {
            Step::Taking(Taking { ended, .. }) if open.by == OpenedBy::Runtime => {
                ended.get_or_insert(outcome);
                open.withdraw(out);
            }
            // No prompt was given yet: it cannot be this turn's end.
            Step::Taking(_) => out.push(Effect::Notice(Notice::Late { turn })),
            Step::Prompting | Step::Working => {
                self.needs_login |= outcome == Outcome::NeedsLogin;
                self.close(now, &Close { outcome, runtime_gone: false }, out);
                if let Some((wait, at, limit)) = limited {
                    let wait = wait.max(RATE_LIMIT_LEAST);
                    self.feed_after = Some(now.plus(wait));
                    if limit == Limit::Quota {
                        self.quota_spent(now, Until { at, wait }, out);
                    }
                }
            }
            Step::Interrupting(wanted) => {
                let outcome = if outcome == Outcome::Completed { outcome } else { wanted.clone() };
                // The prompt was taken back and never reached it: the next one would not either.
                let hangs = outcome == Outcome::TimedOut && open.not_taken;
                if hangs {
                    out.push(Effect::KillRuntime { generation: open.generation });
                }
                self.close(now, &Close { outcome, runtime_gone: hangs }, out);
            }
        }
    }

    /// Nothing passes before a named time: the agent is paused until then.
    fn quota_spent(&mut self, now: Now, until: Until, out: &mut Vec<Effect>) {
        let reason = PauseReason::RateLimit;
        self.pause(now, reason, Some(until), out);
        out.push(Effect::PauseBegun { held: Held { reason, until: Some(until.at) } });
    }

    pub(super) fn taken(&mut self, now: Now, turn: TurnId, out: &mut Vec<Effect>) {
        let watchdog = now.plus(self.options.turn_output);
        let grace = now.plus(self.options.interrupt_grace);
        let Some(open) = self.open(turn) else {
            out.push(Effect::Notice(Notice::Late { turn }));
            return;
        };
        let Step::Taking(taking) = &open.step else { return };
        let Taking { wanted, ended, runtime_gone } = taking.clone();
        match (ended, wanted, open.by) {
            (Some(outcome), _, _) => self.close(now, &Close { outcome, runtime_gone }, out),
            (None, Some(outcome), OpenedBy::Us | OpenedBy::Notes | OpenedBy::Priming) => {
                self.close(now, &Close { outcome, runtime_gone }, out);
            }
            (None, wanted, OpenedBy::Runtime) => {
                open.go(Step::Working, watchdog);
                if let Some(outcome) = wanted {
                    open.interrupt(grace, outcome, out);
                }
            }
            (None, None, OpenedBy::Us) => {
                open.go(Step::Prompting, watchdog);
                out.push(Effect::SendPrompt { turn });
            }
            (None, None, OpenedBy::Notes) => {
                open.go(Step::Prompting, watchdog);
                out.push(Effect::AskNotes { turn });
            }
            (None, None, OpenedBy::Priming) => {
                open.go(Step::Prompting, watchdog);
                out.push(Effect::Prime { turn });
            }
        }
    }

    /// The turn never was: nothing is settled, and what is not gone waits again, first in line.
    pub(super) fn take_failed(
        &mut self,
        now: Now,
        turn: TurnId,
        gone: &[MessageId],
        out: &mut Vec<Effect>,
    ) {
        let is_taking = self.open(turn).is_some_and(|open| matches!(open.step, Step::Taking(_)));
        if !is_taking {
            out.push(Effect::Notice(Notice::Late { turn }));
            return;
        }
        let Phase::Turn(mut open) = std::mem::replace(&mut self.phase, Phase::Down) else { return };
        let Step::Taking(taking) = open.step.clone() else { return };
        let generation = open.generation;
        open.withdraw(out);
        if gone.is_empty() {
            self.degraded = true;
        }
        match open.by {
            OpenedBy::Notes => self.notes_not_taken(),
            OpenedBy::Priming => self.primes = Some(generation),
            OpenedBy::Us | OpenedBy::Runtime => {}
        }
        let by = open.by;
        for queued in open.into_queued().into_iter().rev() {
            if !gone.contains(&queued.id) && self.draining == Draining::No {
                self.queue.push_front(queued);
            }
        }
        if taking.runtime_gone {
            self.down_or_park(now, out);
        } else if by == OpenedBy::Runtime && taking.ended.is_none() {
            // It works on something that cannot be recorded.
            out.push(Effect::KillRuntime { generation });
        } else {
            self.phase = Phase::Idle { generation };
        }
    }
}

fn outcome_of(how: Finish) -> Outcome {
    match how {
        Finish::Completed => Outcome::Completed,
        Finish::Failed(kind) => Outcome::Failed(kind),
        Finish::Overflow => Outcome::Failed(OVERFLOW.to_owned()),
        Finish::RateLimited { until, .. } => Outcome::RateLimited(until),
        Finish::NeedsLogin => Outcome::NeedsLogin,
        // Not by us: somebody at the runtime's own terminal.
        Finish::Interrupted => Outcome::Interrupted(By::Operator),
    }
}
