//! How hard the model thinks about a turn (R1-11): asked for the levels of its model first.

use gangline_core::effort::Effort;
use serde_json::{Value, json};

use super::{Sent, Turns};
use crate::{RuntimeEvent, codex::effort};

#[cfg(test)]
mod tests;

/// The longest list of models that is asked for.
const MODELS: u32 = 200;

impl Turns {
    pub(super) fn change_effort(&mut self, effort: Effort) {
        self.sent.retain(|_, sent| *sent != Sent::Models);
        match (effort, &mut self.above) {
            (Effort::Raised, _) => {
                let params = json!({"includeHidden": true, "limit": MODELS});
                self.request(Sent::Models, "model/list", &params);
            }
            (Effort::Ground, Some((now @ Effort::Raised, _))) => {
                *now = Effort::Ground;
                self.tell(RuntimeEvent::Effort { raised: None });
            }
            (Effort::Ground, _) => {}
        }
    }

    /// Returns whether it is not known yet what the next turn is begun with.
    pub(super) fn asks_for_models(&self) -> bool {
        self.sent.values().any(|sent| *sent == Sent::Models)
    }

    /// Takes the list of models: the next turn is thought about harder, if that can be.
    pub(super) fn raise(&mut self, list: &Value) {
        let model = self.setup.model.as_deref().unwrap_or(&self.model);
        // What was raised before has left its ground level behind as the one that is set.
        let set = self.above.map(|(_, above)| above.ground).or(self.set);
        if let Some(above) = effort::above(list, model, set) {
            self.above = Some((Effort::Raised, above));
            self.tell(RuntimeEvent::Effort { raised: Some(above.level) });
        }
    }

    /// Returns what the next turn is begun with, from the first raise on.
    pub(super) fn effort_word(&self) -> Option<&'static str> {
        let (effort, above) = self.above?;
        Some(effort::word(match effort {
            Effort::Ground => above.ground,
            Effort::Raised => above.level,
        }))
    }
}
