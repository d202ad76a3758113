//! How hard the program's model thinks (R0-65, R1-11).
//!
//! The program is told with a turn, and remembers it for the next ones; nothing takes that back but
//! another level. So it is raised only where it is known what to go back to.

use gangline_core::effort::{EffortLevel, raised};
use serde_json::Value;

/// What the program takes for its effort; other words of ours mean its own default.
pub(super) const LEVELS: [EffortLevel; 5] = [
    EffortLevel::Minimal,
    EffortLevel::Low,
    EffortLevel::Medium,
    EffortLevel::High,
    EffortLevel::XHigh,
];

/// The levels of a model that the program does not list, but that somebody has set a level for.
const USUAL: [EffortLevel; 4] =
    [EffortLevel::Minimal, EffortLevel::Low, EffortLevel::Medium, EffortLevel::High];

/// Another level than the ground level, and that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Above {
    pub(super) ground: EffortLevel,
    pub(super) level: EffortLevel,
}

/// Returns the level for a word of the program's.
pub(super) fn read(word: &str) -> Option<EffortLevel> {
    if word == NONE { Some(EffortLevel::Off) } else { word.parse().ok() }
}

/// Returns the program's word for a level.
pub(super) fn word(level: EffortLevel) -> &'static str {
    if level == EffortLevel::Off { NONE } else { level.as_str() }
}

/// Its word for [`EffortLevel::Off`].
const NONE: &str = "none";

/// Returns the level that the model is raised to, by the program's list of models. `set`: the level
/// that somebody has set, if any; else the model's default is the ground level.
pub(super) fn above(list: &Value, model: &str, set: Option<EffortLevel>) -> Option<Above> {
    let listed = list["data"].as_array().into_iter().flatten();
    let known = listed.clone().find(|it| it["model"] == model || it["id"] == model);
    let default = known.and_then(|it| read(it["defaultReasoningEffort"].as_str()?));
    let ground = set.or(default)?;
    let levels: Vec<EffortLevel> = match known {
        Some(known) => {
            let levels = known["supportedReasoningEfforts"].as_array().into_iter().flatten();
            levels.filter_map(|it| read(it["reasoningEffort"].as_str()?)).collect()
        }
        None => USUAL.to_vec(),
    };
    raised(ground, &levels).map(|level| Above { ground, level })
}

#[cfg(test)]
mod tests;
