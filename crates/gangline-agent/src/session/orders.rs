//! What the agent loop orders of the session.

use gangline_core::TurnId;
use gangline_runtime::{Command, Prompt, RuntimeEvent, StopReason, TurnResult};
use tracing::{debug, warn};
use uuid::Uuid;

use super::{
    Again, Announced, Model, Session, Turn,
    port::{Next, Outcome},
};
use crate::bus::{Care, SessionCommand};

impl Session {
    /// Does what the loop orders.
    pub(crate) fn obey(&mut self, command: SessionCommand) {
        match command {
            SessionCommand::Start { generation, resume } => {
                self.open = None;
                self.port.start(Next { generation, resume });
            }
            SessionCommand::Kill => self.end(StopReason::Stuck),
            SessionCommand::Prompt(mut prompt) => {
                let Some(open) = self.open.as_mut() else { return };
                if let Some(first) = open.first.take() {
                    // It was on its way when the session was emptied. Behind it: the frame of a
                    // message stands at the beginning.
                    prompt.text = format!("{}\n\n{first}", prompt.text);
                }
                self.give(prompt);
            }
            SessionCommand::Adopt { turn } => self.adopt(turn),
            SessionCommand::Steer(prompt) => {
                // What the backend does not take goes back to the queue at the turn's end.
                let outcome = self.send(Command::Steer(prompt));
                debug!(?outcome, "steered");
            }
            SessionCommand::Care(care) => {
                // What is about to be emptied need not be shortened.
                if !matches!(self.care, Some(Care::Clear)) {
                    self.care = Some(care);
                }
                self.care();
            }
            SessionCommand::SetModel(model) => {
                let model = model.map(|model| model.to_string());
                let model = model.or_else(|| self.configured.clone());
                if model == self.options.model {
                    return;
                }
                self.options.model = model;
                if let Some(open) = self.open.as_mut() {
                    open.model = Model::Chosen;
                    self.care();
                } else {
                    self.tell_model();
                }
            }
            SessionCommand::Interrupt => {
                if let Some(Turn { id, again: Again::Shortening(end), .. }) = self.turn() {
                    let result = TurnResult::Interrupted;
                    *end = RuntimeEvent::Finished { turn: *id, result };
                }
                self.send(Command::Interrupt);
            }
            SessionCommand::Decide(verdict) => {
                self.send(Command::Decide(verdict));
            }
        }
    }

    fn adopt(&mut self, id: TurnId) {
        let Some(open) = self.open.as_mut() else { return };
        open.announced = Announced::No;
        if let Some(text) = open.first.take() {
            return self.give(Prompt { turn: id, text, uuid: Uuid::new_v4().to_string() });
        }
        let generation = open.generation;
        match self.port.send(Command::Adopt(id)) {
            Outcome::Sent => self.opens(Turn::new(id, None)),
            // Its end is told with the backend's.
            Outcome::NotRunning => {}
            Outcome::Full => {
                let result = TurnResult::Interrupted;
                self.tell(generation, RuntimeEvent::Finished { turn: id, result });
            }
        }
    }

    fn give(&mut self, prompt: Prompt) {
        let turn = prompt.turn;
        match self.send(Command::Prompt(prompt.clone())) {
            Outcome::Sent => self.opens(Turn::new(turn, Some(prompt))),
            // It says its exit, and the turn ends with that.
            Outcome::NotRunning => debug!(%turn, "a prompt for a backend that is gone"),
            Outcome::Full => {
                warn!(%turn, "the backend does not take its commands");
                self.end(StopReason::Stuck);
            }
        }
    }

    /// Passes a command on to the generation that is in use.
    fn send(&mut self, command: Command) -> Outcome {
        match self.open {
            Some(_) => self.port.send(command),
            None => Outcome::NotRunning,
        }
    }

    pub(super) fn turn(&mut self) -> Option<&mut Turn> {
        self.open.as_mut()?.turn.as_mut()
    }

    fn opens(&mut self, turn: Turn) {
        if let Some(open) = self.open.as_mut() {
            open.turn = Some(turn);
        }
    }
}
