//! How hard the program's model thinks (R0-65, R1-11).

use gangline_core::effort::{EffortLevel, raised};
use serde_json::{Value, json};

use crate::{StartOptions, Thinking};

/// What the program takes for its effort.
pub(super) const LEVELS: [EffortLevel; 5] = [
    EffortLevel::Low,
    EffortLevel::Medium,
    EffortLevel::High,
    EffortLevel::XHigh,
    EffortLevel::Max,
];

/// Returns the level that the options say; other words of ours mean the program's own default.
pub(super) fn ground(options: &StartOptions) -> Option<EffortLevel> {
    let word = options.thinking.as_ref().map(Thinking::word)?;
    word.parse().ok().filter(|level| LEVELS.contains(level))
}

/// Returns the level of a process for one turn, which has no other settings.
pub(super) fn of_turn(options: &StartOptions) -> EffortLevel {
    ground(options).unwrap_or(EffortLevel::Medium)
}

/// Returns what a higher level than this is.
pub(super) fn above(ground: EffortLevel) -> Option<EffortLevel> {
    raised(ground, &LEVELS)
}

/// The request for the settings that are in force.
pub(super) fn ask() -> Value {
    json!({"subtype": "get_settings"})
}

/// Returns the request for this level; `None` = the program's own default.
pub(super) fn apply(level: Option<EffortLevel>) -> Value {
    json!({"subtype": "apply_flag_settings", "settings": {"effortLevel": level}})
}

/// Returns the level that the answer to [`ask`] names; a model without levels has none.
pub(super) fn applied(answer: &Value) -> Option<EffortLevel> {
    answer.pointer("/applied/effort")?.as_str()?.parse().ok()
}
