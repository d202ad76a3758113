//! The agent's state machine: phase, queue, turn, pause, drain and circuit breaker. Pure: it takes
//! `(now, input)` and returns effects; it cannot fail because it touches nothing.
//!
//! The shell owes it three things: effects are carried out in order (the store's in one queue);
//! [`Input::Sent`] and [`Input::NoReply`] reach it before the tool hears `ok`; and [`Input::Tick`]
//! comes at [`Agent::next_deadline`]. Start at [`Agent::handle`]; states in [`PhaseName`].

use std::collections::{HashSet, VecDeque};

use crate::{
    answer::Settlement,
    id::{MessageId, TurnId},
    message::MessageState,
    outcome::{EndedBy, Outcome},
    pause::Pauses,
    time::Now,
};

pub use abilities::{Abilities, ChosenModel, ContextChange, ModelChange};
pub use care::{ColdReset, WATERMARK_TOKENS, Watermark};
pub use effect::{Deadline, Effect, Notice, StartWith};
pub use input::{
    ApprovalRequestId, Drain, Finish, Generation, Input, Limit, Needs, Operator, Queued,
    RuntimeInput,
};
pub use options::{AgentOptions, OnCrash, StartMode, WhenBusy};
pub use view::{AgentPhase, PhaseName, View};

use breaker::Breaker;
use care::Care;
use effort::Deeper;
use session::Session;
use turn::{Close, OpenedBy, Step, Turn};

mod abilities;
mod attached;
mod breaker;
mod care;
mod effect;
mod effort;
mod input;
mod operator;
mod options;
mod queue;
mod runtime;
mod session;
mod turn;
mod view;

/// One agent, as its daemon's agent loop sees it.
#[derive(Debug)]
pub struct Agent {
    options: AgentOptions,
    phase: Phase,
    pauses: Pauses,
    degraded: bool,
    /// The backend said that it has no login.
    needs_login: bool,
    draining: Draining,
    /// Messages that wait, in the order of their ids. Bounded: see `overflow`.
    queue: VecDeque<Queued>,
    /// Messages were passed over because the queue was full; the store still has them.
    overflow: bool,
    breaker: Breaker,
    /// Starts in a row that were to resume a session and never got ready.
    failed_resumes: u32,
    /// After them a new session was tried.
    fell_back: bool,
    /// Whether the last life ended on its own.
    crashed: bool,
    /// Since when the present generation takes prompts, and whether it has done something that it
    /// was asked for.
    proven: (Option<Now>, bool),
    /// No start before this time.
    start_after: Option<Now>,
    /// No message is fed before this time.
    feed_after: Option<Now>,
    /// The last turn met a rate limit.
    rate_limited: bool,
    /// Messages of the queue that came in a turn and wake nobody before this time, unless
    /// something else does.
    buffered: HashSet<MessageId>,
    buffered_until: Option<Now>,
    /// What is done about a context that becomes full.
    care: Care,
    session: Session,
    /// Whether the backend thinks harder than usual, and for which task.
    deeper: Deeper,
    /// The generation whose session is empty and gets a first prompt in a separate turn.
    primes: Option<Generation>,
    turns: i64,
    lives: i64,
}

#[derive(Debug)]
enum Phase {
    Down,
    Starting { generation: Generation, with: StartWith, deadline: Now },
    Idle { generation: Generation },
    Turn(Box<Turn>),
    Parked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Draining {
    No,
    Yes,
    Done,
}

impl Agent {
    /// Returns an agent whose runtime is down. Its first input makes it act.
    #[must_use]
    pub fn new(options: AgentOptions) -> Self {
        let breaker = Breaker::new(options.breaker_deaths, options.breaker_window);
        let care = Care::new(options.watermark, options.cold_reset);
        Self {
            options,
            phase: Phase::Down,
            pauses: Pauses::default(),
            degraded: false,
            needs_login: false,
            draining: Draining::No,
            queue: VecDeque::new(),
            overflow: false,
            breaker,
            failed_resumes: 0,
            fell_back: false,
            crashed: false,
            proven: (None, false),
            start_after: None,
            feed_after: None,
            rate_limited: false,
            buffered: HashSet::new(),
            buffered_until: None,
            care,
            session: Session::new(),
            deeper: Deeper::default(),
            primes: None,
            turns: 0,
            lives: 0,
        }
    }

    /// Takes one input and returns what is to be done, in order.
    #[must_use]
    pub fn handle(&mut self, now: Now, input: Input) -> Vec<Effect> {
        let mut out = Vec::new();
        if self.draining == Draining::Done {
            return out;
        }
        match input {
            Input::Message(message) => self.enqueue(message, &mut out),
            Input::Cancelled { message } => self.queue.retain(|queued| queued.id != message),
            Input::Taken { turn } => self.taken(now, turn, &mut out),
            Input::TakeFailed { turn, gone } => self.take_failed(now, turn, &gone, &mut out),
            Input::Read { messages } => self.read(&messages, &mut out),
            Input::Joined { turn, messages } => {
                if let Some(open) = self.open(turn)
                    && open.may_join()
                {
                    out.push(Effect::SendSteer { turn, messages });
                }
            }
            Input::JoinFailed { turn, messages } => {
                if let Some(open) = self.open(turn) {
                    open.leave(&messages);
                }
            }
            Input::Runtime(input) => self.runtime(now, input, &mut out),
            Input::Sent { turn, to, in_reply_to } => match self.open(turn) {
                Some(open) => open.sent(to, in_reply_to),
                None => out.push(Effect::Notice(Notice::Late { turn })),
            },
            Input::NoReply { turn, message } => match self.open(turn) {
                Some(open) => open.no_reply(message),
                None => out.push(Effect::Notice(Notice::Late { turn })),
            },
            Input::Decision { turn, request, decision } => {
                let watchdog = now.plus(self.options.turn_output);
                if self.open(turn).is_some_and(|open| open.decide(&request, watchdog)) {
                    out.push(Effect::Decide { turn, request, decision });
                } else {
                    out.push(Effect::Notice(Notice::Late { turn }));
                }
            }
            Input::Operator(word) => self.operator(now, word, &mut out),
            Input::Pause { reason, until } => self.pause(now, reason, until, &mut out),
            Input::Unpause { reason } => self.unpause(reason, &mut out),
            Input::Change(change) => self.change_context(change),
            Input::ModelChosen(model) => self.model_chosen(model),
            Input::EffortChosen => self.effort_chosen(),
            Input::ThinkDeeper { turn, road } => self.think_deeper(turn, road, &mut out),
            Input::Drain(drain) => self.drain(now, drain, &mut out),
            Input::StoreDegraded => self.degraded = true,
            Input::StoreOk => self.degraded = false,
            Input::Tick => self.tick(now, &mut out),
        }
        self.advance(now, &mut out);
        out
    }

    /// Returns when the next [`Input::Tick`] is wanted; `None`: only another input changes
    /// anything.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Now> {
        let pause = self.pauses.next_deadline().filter(|_| self.draining != Draining::Done);
        [self.phase_deadline(), pause].into_iter().flatten().min()
    }

    fn phase_deadline(&self) -> Option<Now> {
        match &self.phase {
            Phase::Starting { deadline, .. } => Some(*deadline),
            Phase::Turn(turn) => turn.deadline(),
            Phase::Down if self.may_start() => self.start_after,
            Phase::Idle { .. } if self.may_feed() && self.something_wakes() => {
                self.feed_after.max(self.buffer_deadline())
            }
            Phase::Down | Phase::Idle { .. } | Phase::Parked => None,
        }
    }

    /// Returns the generation of the runtime that there is.
    fn generation(&self) -> Option<Generation> {
        match &self.phase {
            Phase::Starting { generation, .. } | Phase::Idle { generation } => Some(*generation),
            Phase::Turn(turn) => Some(turn.generation),
            Phase::Down | Phase::Parked => None,
        }
    }

    /// Returns the open turn, if it is this one.
    fn open(&mut self, turn: TurnId) -> Option<&mut Turn> {
        match &mut self.phase {
            Phase::Turn(open) if open.id == turn => Some(open),
            Phase::Turn(_)
            | Phase::Down
            | Phase::Starting { .. }
            | Phase::Idle { .. }
            | Phase::Parked => None,
        }
    }

    fn may_feed(&self) -> bool {
        !self.pauses.hold() && !self.degraded && !self.needs_login && self.draining == Draining::No
    }

    fn may_start(&self) -> bool {
        let wanted = self.options.start == StartMode::Eager || self.something_wakes();
        self.may_feed() && wanted
    }

    fn tick(&mut self, now: Now, out: &mut Vec<Effect>) {
        match &mut self.phase {
            Phase::Starting { generation, deadline, .. } if *deadline <= now => {
                let generation = *generation;
                out.push(Effect::MissedDeadline { deadline: Deadline::Start, turn: None });
                out.push(Effect::KillRuntime { generation });
                self.start_failed(now, EndedBy::Itself, out);
            }
            Phase::Turn(turn) if turn.deadline().is_some_and(|deadline| deadline <= now) => {
                match turn.step.clone() {
                    Step::Interrupting(outcome) => {
                        let (generation, id) = (turn.generation, turn.id);
                        out.push(Effect::MissedDeadline {
                            deadline: Deadline::InterruptGrace,
                            turn: Some(id),
                        });
                        out.push(Effect::KillRuntime { generation });
                        self.close(now, &Close { outcome, runtime_gone: true }, out);
                    }
                    step @ (Step::Prompting | Step::Working) => {
                        turn.not_taken = matches!(step, Step::Prompting);
                        out.push(Effect::MissedDeadline {
                            deadline: Deadline::TurnOutput,
                            turn: Some(turn.id),
                        });
                        let grace = now.plus(self.options.interrupt_grace);
                        turn.interrupt(grace, Outcome::TimedOut, out);
                    }
                    Step::Taking(_) => {}
                }
            }
            Phase::Starting { .. }
            | Phase::Turn(_)
            | Phase::Down
            | Phase::Idle { .. }
            | Phase::Parked => {}
        }
    }

    /// Goes on as far as it can without another input.
    fn advance(&mut self, now: Now, out: &mut Vec<Effect>) {
        self.pauses_over(now, out);
        if self.draining == Draining::Yes && !matches!(self.phase, Phase::Turn(_)) {
            self.finish_drain(out);
            return;
        }
        self.between_turns(out);
        self.reset_if_cold(now, out);
        match &self.phase {
            Phase::Down if self.may_start() && is_over(self.start_after, now) => {
                self.start(now, out);
            }
            // Before anything that waits (R0-07).
            Phase::Idle { generation } if self.primes == Some(*generation) && !self.degraded => {
                let generation = *generation;
                self.take_first_words(generation, out);
            }
            // Before what waits: the next turn may need the room.
            Phase::Idle { generation } if self.notes_are_due() => {
                let generation = *generation;
                self.take_notes(generation, out);
            }
            Phase::Idle { generation }
                if self.may_feed()
                    && self.something_wakes()
                    && is_over(self.feed_after, now)
                    && is_over(self.buffer_deadline(), now) =>
            {
                let generation = *generation;
                self.take(generation, out);
            }
            Phase::Down
            | Phase::Starting { .. }
            | Phase::Idle { .. }
            | Phase::Turn(_)
            | Phase::Parked => {}
        }
        // At once: of those that come next none may be passed over before the others.
        if self.overflow && self.in_line() == 0 {
            self.overflow = false;
            out.push(Effect::Rescan);
        }
    }

    fn start(&mut self, now: Now, out: &mut Vec<Effect>) {
        self.lives += 1;
        let generation = Generation(self.lives);
        let crashed_fresh = self.crashed && self.options.on_crash == OnCrash::Fresh;
        let fall_back = self.failed_resumes >= self.options.max_failed_resumes;
        self.fell_back |= fall_back;
        let with = if crashed_fresh || fall_back { StartWith::Fresh } else { StartWith::Resume };
        let with = self.session.begins(with);
        self.start_after = None;
        self.deeper = Deeper::default();
        self.proven = (None, false);
        // One that was under way has ended with the generation before.
        self.care.not_shortened();
        if with != StartWith::Resume {
            self.care.begins_anew();
        }
        self.phase =
            Phase::Starting { generation, with, deadline: now.plus(self.options.start_timeout) };
        out.push(Effect::StartRuntime { generation, with });
    }

    fn next_turn(&mut self) -> TurnId {
        self.turns += 1;
        TurnId { epoch: self.options.epoch, number: self.turns }
    }

    fn take(&mut self, generation: Generation, out: &mut Vec<Effect>) {
        let id = self.next_turn();
        let taken = self.next_messages();
        for queued in &taken {
            self.buffered.remove(&queued.id);
        }
        let turn = Turn::new(id, generation, OpenedBy::Us, taken);
        self.effort_for(&turn.causes(), out);
        self.feed_after = None;
        self.rate_limited = false;
        out.push(Effect::Take { turn: id, messages: turn.message_ids() });
        self.phase = Phase::Turn(Box::new(turn));
    }

    /// Ends the open turn: the one place that emits [`Effect::EndTurn`].
    fn close(&mut self, now: Now, close: &Close, out: &mut Vec<Effect>) {
        let Phase::Turn(turn) = std::mem::replace(&mut self.phase, Phase::Down) else { return };
        let (id, generation, notes) = (turn.id, turn.generation, turn.by == OpenedBy::Notes);
        let about = (turn.id, turn.causes());
        let settle = turn.end(close.outcome.clone(), self.options.rules, out);
        let worked = settle.iter().any(|one| one.state != MessageState::Accepted);
        let returned = settle.iter().any(Settlement::returns_now);
        let task_is_over = self.task_is_over(about, &settle);
        if matches!(close.outcome, Outcome::RateLimited(_)) {
            self.feed_after = Some(now.plus(self.options.rate_limit_pause));
            self.rate_limited = true;
        }
        self.buffered.retain(|id| self.queue.iter().any(|queued| queued.id == *id));
        self.buffered_until = Some(now.plus(self.options.buffer_wait));
        out.push(Effect::EndTurn { turn: id, outcome: close.outcome.clone(), settle });
        if close.runtime_gone {
            self.down_or_park(now, out);
        } else {
            self.proven.1 |= worked;
            self.phase = Phase::Idle { generation };
        }
        if task_is_over {
            self.think_as_before(out);
        }
        self.care.used(now);
        self.care_after((id, notes), &close.outcome, out);
        self.size_after(now, &close.outcome, out);
        if returned && !matches!(self.phase, Phase::Parked) && self.draining == Draining::No {
            out.push(Effect::Rescan);
        }
    }

    /// The runtime is gone: goes down, or parks if it died too often. A session that cannot be gone
    /// on with does not park before a new one was tried: with the crash before them, the refused
    /// resumes alone would open the breaker (C7).
    fn down_or_park(&mut self, now: Now, out: &mut Vec<Effect>) {
        self.phase = Phase::Down;
        let fall_back_due =
            self.failed_resumes >= self.options.max_failed_resumes && !self.fell_back;
        if self.breaker.is_open(now) && !fall_back_due {
            self.phase = Phase::Parked;
            self.queue.clear();
            self.overflow = false;
            let suspects = self.breaker.suspects();
            out.push(Effect::Parked { deaths: self.breaker.deaths(), suspects });
        }
    }
}

fn is_over(wait_until: Option<Now>, now: Now) -> bool {
    wait_until.is_none_or(|until| until <= now)
}

#[cfg(test)]
mod tests;
