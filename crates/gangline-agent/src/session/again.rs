//! What the session does between turns: another model, and a prompt that is given again.

use gangline_runtime::{
    Capabilities, Command, FailureKind, Prompt, RuntimeEvent, StopReason, TurnResult,
};
use tracing::debug;
use uuid::Uuid;

use super::{Again, Outcome, Session, Size, Turn};
use crate::{bus::Incoming, texts};

impl Session {
    /// A turn whose prompt no longer fits is not over: the context is shortened, and the prompt
    /// given once more (R2-08). Returns the event that is to be passed on, if there is one.
    pub(super) fn try_again(&mut self, event: RuntimeEvent) -> Option<RuntimeEvent> {
        let can_compact = self.port.can().is_some_and(|can| can.compact);
        let shortens = self.shortens && can_compact;
        let Some(turn) = self.turn() else { return Some(event) };
        match (&event, std::mem::replace(&mut turn.again, Again::No)) {
            (RuntimeEvent::Compacted { failed }, Again::Shortening(end)) => {
                let failed = failed.is_some();
                self.shortened(event, end, failed)
            }
            (RuntimeEvent::Finished { turn: of, result }, Again::No)
                if shortens && is_overflow(result) && turn.id == *of && turn.prompt.is_some() =>
            {
                if self.port.send(Command::Compact) != Outcome::Sent {
                    debug!("the context cannot be shortened");
                    return Some(event);
                }
                debug!("the prompt does not fit: the context is shortened");
                if let Some(turn) = self.turn() {
                    turn.again = Again::Shortening(event);
                }
                None
            }
            (_, again) => {
                turn.again = again;
                Some(event)
            }
        }
    }

    /// The context was shortened for a prompt, or could not be. `end` is the end that the turn has
    /// without it.
    fn shortened(
        &mut self,
        compacted: RuntimeEvent,
        end: RuntimeEvent,
        failed: bool,
    ) -> Option<RuntimeEvent> {
        let of_size = matches!(&end, RuntimeEvent::Finished { result, .. } if is_overflow(result));
        let open = self.open.as_mut()?;
        let generation = open.generation;
        // What cannot be shortened is not tried again, nor is the shortening itself.
        if failed && of_size {
            open.size = Size::TooLong;
        }
        let prompt = match &mut open.turn {
            Some(turn) if !failed && of_size => turn.again(),
            Some(_) | None => None,
        };
        let given = prompt.map(|prompt| self.port.send(Command::Prompt(prompt)));
        if let (Some(_), Some(turn)) = (given, self.turn()) {
            turn.again = Again::Done;
        }
        self.tell(generation, compacted);
        match given {
            Some(Outcome::Sent) => None,
            Some(Outcome::Full | Outcome::NotRunning) | None => Some(end),
        }
    }

    /// Tells the backend its new model; one that cannot be told is started anew (R2-04). Returns
    /// whether it was told.
    pub(super) fn change_model(&mut self, can: Capabilities) -> bool {
        let model = self.options.model.clone().or(can.default_model.map(str::to_owned));
        let told = match model {
            Some(model) if can.set_model => {
                self.port.send(Command::SetModel(model)) == Outcome::Sent
            }
            Some(_) | None => false,
        };
        let text = texts::model(self.options.model.as_deref());
        if let Some(generation) = self.open.as_ref().map(|open| open.generation) {
            self.tell(generation, RuntimeEvent::Notice { text });
        }
        self.tell_model();
        if !told {
            self.end(StopReason::Restart);
        }
        told
    }

    /// Says which model the backend is started with.
    pub(super) fn tell_model(&mut self) {
        self.told.push_back(Incoming::Model(self.options.model.clone()));
    }
}

impl Turn {
    /// Returns its prompt as it is given again.
    fn again(&self) -> Option<Prompt> {
        let prompt = self.prompt.clone()?;
        // A backend may remember the ids of prompts that it had.
        let uuid = Uuid::new_v4().to_string();
        let mut text = prompt.text;
        if self.acted {
            text.push_str(texts::GIVEN_AGAIN);
        }
        Some(Prompt { uuid, text, turn: prompt.turn })
    }
}

pub(super) fn is_overflow(result: &TurnResult) -> bool {
    matches!(result, TurnResult::Failed { kind: FailureKind::ContextOverflow, .. })
}
