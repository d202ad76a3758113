//! The watermark: when the agent writes its notes and its context is shortened (R2-09, C13), and when
//! a large context is left behind because it is cold. Pure.
//!
//! A *passage* begins when a turn that completed left the context at the watermark or above, and is
//! over once a report below it comes. In one passage the notes are asked for once, and a shortening
//! that fails is tried once more.

use std::time::Duration;

use crate::{
    id::TurnId,
    outcome::{By, Outcome},
    time::Now,
};

use super::{
    Agent, Draining, Effect, Generation, Notice, Phase, session::OVERFLOW, turn::OpenedBy,
};

/// The watermark where the backend does not say how much its model's context can hold (R2-09).
pub const WATERMARK_TOKENS: u64 = 150_000;
/// After so many shortenings in a row that left the context above the watermark, no more are asked
/// for.
const IN_VAIN_MAX: u32 = 2;

/// How full a context may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Watermark {
    /// So many thousandths of what the model's context can hold; [`WATERMARK_TOKENS`] where that is
    /// not known.
    Part {
        /// Thousandths.
        per_mille: u64,
    },
    /// So many tokens.
    Tokens(u64),
}

impl Watermark {
    /// Returns the watermark in tokens for a context of this size.
    #[must_use]
    pub fn tokens(self, window: Option<u64>) -> u64 {
        match (self, window) {
            (Self::Tokens(tokens), _) => tokens,
            (Self::Part { per_mille }, Some(window)) => {
                u64::try_from(u128::from(window) * u128::from(per_mille) / 1000).unwrap_or(u64::MAX)
            }
            (Self::Part { .. }, None) => WATERMARK_TOKENS,
        }
    }
}

/// When a large context is left behind: after a pause its provider has it in no cache any more, so each
/// token of it is paid in full again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ColdReset {
    /// The context holds at least so many tokens.
    pub tokens: u64,
    /// No turn has used it for so long.
    pub idle: Duration,
}

/// What is known of the context, and what was done about it.
#[derive(Debug)]
pub(super) struct Care {
    watermark: Option<Watermark>,
    cold_reset: Option<ColdReset>,
    /// When the last turn of this session ended.
    used_at: Option<Now>,
    /// Whether the last report stood at the watermark or above.
    above: bool,
    /// How many tokens that report told.
    tokens: u64,
    stage: Stage,
    /// So many shortenings in a row were followed by no report below the watermark.
    in_vain: u32,
    /// The context is about to be emptied: what is known of it counts no more.
    emptied: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing was done in this passage, or there is none.
    Waits,
    /// The notes are to be asked for as soon as no turn is open.
    Due,
    /// They were asked for; the shortening follows them.
    Asked,
    /// The shortening comes after the next turn that completes.
    Owed(Attempt),
    /// The shortening was asked for.
    Ordered(Attempt),
    /// Shortening does not help: nothing more before a report below the watermark.
    GivenUp,
}

/// How often the shortening was asked for in this passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    /// It failed before: what stood in its way may have passed.
    Last,
}

/// What follows from a turn that completed.
enum AfterTurn {
    Compact,
    GiveUp,
}

impl Care {
    pub(super) fn new(watermark: Option<Watermark>, cold_reset: Option<ColdReset>) -> Self {
        Self {
            watermark,
            cold_reset,
            used_at: None,
            above: false,
            tokens: 0,
            stage: Stage::Waits,
            in_vain: 0,
            emptied: false,
        }
    }

    /// A turn has ended, in which the context was used.
    pub(super) fn used(&mut self, now: Now) {
        self.used_at = Some(now);
    }

    /// Returns how many tokens the context holds, if it is so large and so long unused that a new one
    /// is cheaper.
    fn cold(&self, now: Now) -> Option<u64> {
        let ColdReset { tokens, idle } = self.cold_reset?;
        let unused = self.used_at.is_some_and(|at| now.since(at) >= idle);
        (unused && self.tokens >= tokens).then_some(self.tokens)
    }

    /// The conversation holds this many tokens, of this many that fit.
    pub(super) fn holds(&mut self, tokens: u64, window: Option<u64>) {
        self.tokens = tokens;
        let Some(watermark) = self.watermark else { return };
        self.above = tokens >= watermark.tokens(window);
        if !self.above {
            self.stage = Stage::Waits;
            self.in_vain = 0;
        }
    }

    /// The context is shorter now.
    pub(super) fn shortened(&mut self) {
        if matches!(self.stage, Stage::Asked | Stage::Ordered(_)) {
            self.in_vain += 1;
        }
        self.above = false;
        self.tokens = 0;
        self.stage = Stage::Waits;
    }

    /// A generation begins with an empty context.
    pub(super) fn begins_anew(&mut self) {
        self.tokens = 0;
    }

    /// The context could not be shortened, for a reason that may pass.
    pub(super) fn not_shortened(&mut self) {
        self.stage = match self.stage {
            Stage::Ordered(Attempt::First) => Stage::Owed(Attempt::Last),
            Stage::Ordered(Attempt::Last) => Stage::GivenUp,
            // Somebody else's order, or a prompt that did not fit.
            other
            @ (Stage::Waits | Stage::Due | Stage::Asked | Stage::Owed(_) | Stage::GivenUp) => other,
        };
    }

    /// The context will be emptied before the next turn.
    pub(super) fn emptied(&mut self) {
        self.shortened();
        self.emptied = true;
    }

    fn is_due(&self) -> bool {
        self.stage == Stage::Due
    }

    /// A turn completed; returns what is to be told or done at once. `idle`: the backend is there
    /// and stays.
    fn completed(&mut self, idle: bool) -> Option<AfterTurn> {
        if std::mem::take(&mut self.emptied) || !self.above {
            return None;
        }
        match self.stage {
            Stage::Waits if self.in_vain >= IN_VAIN_MAX => {
                self.stage = Stage::GivenUp;
                Some(AfterTurn::GiveUp)
            }
            Stage::Waits => {
                self.stage = Stage::Due;
                None
            }
            Stage::Owed(attempt) if idle => {
                self.stage = Stage::Ordered(attempt);
                Some(AfterTurn::Compact)
            }
            Stage::Owed(_) | Stage::Due | Stage::Asked | Stage::Ordered(_) | Stage::GivenUp => None,
        }
    }
}

impl Agent {
    /// Opens a turn of the agent's own, in which it is asked for its notes.
    pub(super) fn take_notes(&mut self, generation: Generation, out: &mut Vec<Effect>) {
        self.care.stage = Stage::Asked;
        let (turn, tokens) = (self.next_turn(), self.care.tokens);
        out.push(Effect::Notice(Notice::WatermarkPassed { turn, tokens }));
        self.open_own(turn, OpenedBy::Notes, generation, out);
    }

    /// Begins a new session before the next message if the old one is large and cold.
    pub(super) fn reset_if_cold(&mut self, now: Now, out: &mut Vec<Effect>) {
        let Phase::Idle { generation } = self.phase else { return };
        let feeds = self.may_feed() && !self.queue.is_empty();
        if let Some(tokens) = self.care.cold(now).filter(|_| feeds) {
            out.push(Effect::Notice(Notice::ColdReset { tokens }));
            self.renew(generation, out);
        }
    }

    pub(super) fn notes_are_due(&self) -> bool {
        self.may_feed() && self.care.is_due()
    }

    /// The turn for the notes could not be recorded: they are still due, unless the passage was
    /// over before that was known.
    pub(super) fn notes_not_taken(&mut self) {
        if self.care.stage == Stage::Asked {
            self.care.stage = Stage::Due;
        }
    }

    /// A turn ended; `notes`: it was one for notes. After such a turn the context is shortened,
    /// whatever became of the notes (R2-10), unless the backend could not do that now.
    pub(super) fn care_after(
        &mut self,
        (turn, notes): (TurnId, bool),
        outcome: &Outcome,
        out: &mut Vec<Effect>,
    ) {
        let idle = matches!(self.phase, Phase::Idle { .. }) && self.draining == Draining::No;
        if !notes {
            if *outcome == Outcome::Completed {
                match self.care.completed(idle) {
                    Some(AfterTurn::Compact) => self.session.wants_room(),
                    Some(AfterTurn::GiveUp) => {
                        let tokens = self.care.tokens;
                        out.push(Effect::Notice(Notice::ShortenedInVain { tokens }));
                    }
                    None => {}
                }
            }
            return;
        }
        if *outcome != Outcome::Completed {
            let outcome = outcome.clone();
            out.push(Effect::Notice(Notice::NotesFailed { turn, outcome }));
        }
        let able = match outcome {
            // It is being shortened already, or was begun anew.
            Outcome::Failed(kind) if kind == OVERFLOW => return,
            Outcome::Completed
            | Outcome::Failed(_)
            | Outcome::TimedOut
            | Outcome::Interrupted(By::Operator | By::Supervisor) => idle,
            Outcome::RateLimited(_)
            | Outcome::NeedsLogin
            | Outcome::Interrupted(By::Drain)
            | Outcome::Lost(_) => false,
        };
        match self.care.stage {
            Stage::Asked if able => {
                self.care.stage = Stage::Ordered(Attempt::First);
                self.session.wants_room();
            }
            Stage::Asked => self.care.stage = Stage::Owed(Attempt::First),
            // It is shorter by now, or about to be emptied.
            Stage::Waits | Stage::Due | Stage::Owed(_) | Stage::Ordered(_) | Stage::GivenUp => {}
        }
    }
}

#[cfg(test)]
mod tests;
