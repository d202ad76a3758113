//! What people want of the agent: pause, resume, the end of a turn, a message taken back.

use gangline_core::{
    MessageId, TurnId,
    agent::{Input, Operator, PhaseName},
    outcome::By,
};

use super::AgentLoop;
use crate::{bus::Word, journal::Single};

impl AgentLoop {
    /// A message that waited was cancelled. One that is being taken all the same comes back as gone.
    pub(super) fn cancelled(&mut self, message: MessageId) {
        if !self.core.view().messages.contains(&message) {
            self.given(&[message]);
            self.rows.remove(&message);
        }
        self.think(Input::Cancelled { message });
    }

    /// Obeys what another process wrote into the row. What was read before a word of ours was
    /// written is older than that word.
    pub(super) fn paused_row(&mut self, paused: bool, words: u64) {
        if words != self.words || paused == self.core.view().paused {
            return;
        }
        let word = if paused { Operator::Pause } else { Operator::Resume };
        self.think(Input::Operator(word));
    }

    /// Ends this turn and no other. Of an ended cause each look at the store asks again until the turn
    /// ends.
    pub(super) fn end_one(&mut self, turn: TurnId) {
        let view = self.core.view();
        if view.turn == Some(turn) && view.phase != PhaseName::Interrupting {
            self.think(Input::Operator(Operator::Interrupt(By::Operator)));
        }
    }

    pub(super) fn operator(&mut self, word: Word) {
        self.words += 1;
        match word {
            Word::Pause => {
                self.journal.push(Single::Paused(true));
                self.think(Input::Operator(Operator::Pause));
            }
            Word::Resume => {
                self.journal.push(Single::Paused(false));
                self.think(Input::Operator(Operator::Resume));
            }
            Word::Abort => self.think(Input::Operator(Operator::Interrupt(By::Operator))),
        }
    }
}
