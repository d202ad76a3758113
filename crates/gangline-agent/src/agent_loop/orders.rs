//! Orders from people: pause, resume, end a turn, cancel a message.

use gangline_core::{
    MessageId, TurnId,
    agent::{Input, Operator, PhaseName},
    model::ModelName,
    outcome::By,
};

use super::AgentLoop;
use crate::{bus::Word, journal::Single};

impl AgentLoop {
    /// A waiting message was cancelled. If it is being taken at the same time, it comes back as
    /// gone.
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

    /// Another model was chosen; `None` = the configuration's. A generation that begins later is
    /// started with it.
    pub(super) fn choose_model(&mut self, model: Option<ModelName>) {
        let model = model.map(|model| model.to_string());
        let Some(chosen) = self.generations.choose_model(model) else { return };
        match self.core.view().phase {
            PhaseName::Down | PhaseName::Parked => {
                self.model(self.generations.model().map(str::to_owned));
            }
            PhaseName::Starting
            | PhaseName::Idle
            | PhaseName::Taking
            | PhaseName::Prompting
            | PhaseName::Working
            | PhaseName::Interrupting => self.think(Input::ModelChosen(chosen)),
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
