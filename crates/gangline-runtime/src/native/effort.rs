//! How hard the model thinks, and how it is made to think harder (R1-11).

use gangline_core::effort::{EffortLevel, raised};
use gangline_harness::{
    Level, Thinking,
    models::{self, Thinks},
};

/// The words of the configuration, as a model is asked.
const LEVELS: [(EffortLevel, Level); 4] = [
    (EffortLevel::Off, Level::Off),
    (EffortLevel::Low, Level::Low),
    (EffortLevel::Medium, Level::Medium),
    (EffortLevel::High, Level::High),
];

/// Those words.
pub(super) const WORDS: [EffortLevel; 4] = [LEVELS[0].0, LEVELS[1].0, LEVELS[2].0, LEVELS[3].0];

/// What the configuration says; where it says nothing, nothing is asked of the model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground(pub(super) Thinking);

impl Ground {
    /// Returns what this model is asked for instead, while a turn runs or not. `None`: it thinks as hard
    /// as it can, or it cannot be told now.
    pub(super) fn above(self, model: &str, runs: bool) -> Option<(Thinking, EffortLevel)> {
        match models::find(model)?.thinks {
            Thinks::Never => return None,
            // The interface refuses a turn that has begun without thoughts and goes on with them.
            Thinks::Budget if runs => return None,
            Thinks::Budget | Thinks::Adaptive | Thinks::Always => {}
        }
        let ground = match self.0 {
            Thinking::Level(level) => LEVELS.iter().find(|(_, it)| *it == level)?.0,
            Thinking::Off => EffortLevel::Off,
            Thinking::Adaptive | Thinking::Budget(_) => return None,
        };
        let above = raised(ground, &WORDS)?;
        let level = LEVELS.iter().find(|(word, _)| *word == above)?.1;
        Some((Thinking::Level(level), above))
    }
}
