//! Orders from people: pause, resume, end a turn, cancel a message.

use gangline_core::{
    MessageId, TurnId,
    agent::{Input, Operator, PhaseName},
    effort::EffortLevel,
    model::ModelName,
    outcome::By,
};

use super::AgentLoop;
use crate::bus::Word;

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

    /// Ends this turn and no other. Each look at the store asks again until the turn ends.
    pub(super) fn end_one(&mut self, turn: TurnId) {
        if self.core.view().turn == Some(turn) {
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

    /// Another ground level of the effort was chosen; `None` = the configuration's. A backend that runs is
    /// started anew for it between two turns.
    pub(super) fn choose_effort(&mut self, effort: Option<EffortLevel>) {
        if !self.generations.choose_effort(effort) {
            return;
        }
        match self.core.view().phase {
            PhaseName::Down | PhaseName::Parked => {}
            PhaseName::Starting
            | PhaseName::Idle
            | PhaseName::Taking
            | PhaseName::Prompting
            | PhaseName::Working
            | PhaseName::Interrupting => self.think(Input::EffortChosen),
        }
    }

    /// Obeys a word whose row is on disk.
    pub(super) fn operator(&mut self, word: Word) {
        match word {
            Word::Pause { until } => self.paused_by_a_person(until),
            Word::Resume => self.resume(),
            // What it is stuck on ends; then it is fed again (R1-35).
            Word::Abort { turn } => {
                if let Some(turn) = turn {
                    self.end_one(turn);
                }
                self.guided();
            }
        }
    }
}
