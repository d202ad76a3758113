//! What shows that a turn goes on, beside what is told of it.

use super::Session;
use crate::acp::update::{Patch, Update};

/// What a line shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Sign {
    /// The turn goes on.
    OfTheTurn,
    /// The program lives. That keeps a turn open only while one of its calls runs, until that call's
    /// limit: it may be a sign of a helper that works for it.
    #[default]
    OfTheProgram,
    /// Nothing that would keep a turn open.
    Nothing,
}

impl Session {
    /// Sees what an update of the session shows. Calls begin and end with it.
    pub(super) fn shows(&mut self, update: &Update) {
        self.sign = match update {
            Update::Text { text, .. } | Update::Thought { text } => match text.is_empty() {
                true => Sign::OfTheProgram,
                false => Sign::OfTheTurn,
            },
            Update::Tool(patch) => self.call_shows(patch),
            // The model was asked.
            Update::Context(context) if *context != self.context => Sign::OfTheTurn,
            Update::Plan => Sign::OfTheTurn,
            Update::Context(_)
            | Update::Choices(_)
            | Update::Mode(_)
            | Update::User(_)
            | Update::Quiet
            | Update::Unknown(_) => Sign::OfTheProgram,
        };
    }

    fn call_shows(&mut self, patch: &Patch) -> Sign {
        let now = self.outside.now;
        if patch.ends() {
            // One that is over already is told of as long as the program likes.
            let ran = self.running.beats(&patch.id, now);
            self.running.end(&patch.id);
            return if ran { Sign::OfTheTurn } else { Sign::Nothing };
        }
        if patch.announces() && !self.calls.is_over(&patch.id) {
            self.running.begin(&patch.id, now);
        }
        match self.running.beats(&patch.id, now) {
            true => Sign::OfTheTurn,
            false => Sign::Nothing,
        }
    }

    /// Says whether the line that was read keeps the turn open.
    pub(super) fn goes_on(&self) -> bool {
        match self.sign {
            Sign::OfTheTurn => true,
            Sign::OfTheProgram => self.running.any_beats(self.outside.now),
            Sign::Nothing => false,
        }
    }
}
