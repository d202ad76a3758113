//! What shows that a turn goes on, and words that belong to none.

use std::time::Duration;

use super::{Action, Turns};
use crate::{RuntimeEvent, codex::decode::Line};

/// Between two signs of life of a turn.
const ALIVE_EVERY: Duration = Duration::from_secs(1);

/// What a line shows beside what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// The turn goes on.
    OfTheTurn,
    /// The program lives. That keeps a turn open only while one of its tools runs, until that tool's
    /// limit.
    OfTheProgram,
    /// Nothing that would keep a turn open.
    Nothing,
}

impl Turns {
    pub(super) fn sign(&self, line: &Line) -> Sign {
        match line {
            Line::Piece { of, tool: None } if self.is_of_turn(of) => Sign::OfTheTurn,
            Line::Piece { of, tool: Some(tool) } if self.is_of_turn(of) => {
                match self.running.beats(tool, self.now) {
                    true => Sign::OfTheTurn,
                    false => Sign::Nothing,
                }
            }
            // Of a subagent, for example.
            Line::Piece { .. } | Line::Noise => Sign::OfTheProgram,
            Line::Response { .. }
            | Line::Request { .. }
            | Line::TurnStarted { .. }
            | Line::TurnCompleted { .. }
            | Line::ItemStarted { .. }
            | Line::ItemCompleted { .. }
            | Line::Tokens { .. }
            | Line::Error { .. }
            | Line::Resolved { .. }
            | Line::ServerFailed { .. }
            | Line::Warning { .. } => Sign::OfTheTurn,
        }
    }

    pub(super) fn alive(&mut self, sign: Sign) {
        let Some(turn) = &self.turn else { return };
        let since = self.last_alive.map(|last| self.now.saturating_sub(last));
        let goes_on = match sign {
            Sign::OfTheTurn => true,
            Sign::OfTheProgram => self.running.any_beats(self.now),
            Sign::Nothing => false,
        };
        if self.out.iter().any(|action| matches!(action, Action::Report(_))) {
            self.last_alive = Some(self.now);
        } else if goes_on && turn.accepted && since.is_none_or(|since| since >= ALIVE_EVERY) {
            self.last_alive = Some(self.now);
            self.out.push(Action::Report(RuntimeEvent::Alive { turn: turn.id }));
        }
    }

    /// Words of the conversation that belong to no turn of ours. They are not repeated: they may be
    /// private.
    pub(super) fn said_outside(&mut self, text: &str) {
        if text.trim().is_empty() || self.job.is_some() {
            return;
        }
        if let Some(number) = self.outside.count("said") {
            let so_far =
                if number == 1 { String::new() } else { format!(" ({number} texts so far)") };
            self.notice(format!(
                "codex said something after its turn had ended; it is in no answer{so_far}"
            ));
        }
    }
}
