//! What a backend can do between turns, and what is asked of it there.

use crate::effort::EffortChange;

/// What can be done to a session's context between turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContextChange {
    /// Make it shorter.
    Compact,
    /// Empty it: a new session.
    Clear,
}

/// How a backend comes to another model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ModelChange {
    /// It is restarted.
    #[default]
    Restart,
    /// It takes the model's name; for its own default model, which has no name, it is restarted.
    Named,
    /// It is told.
    Any,
}

/// What a generation of the backend can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Abilities {
    /// Make its context shorter.
    pub compact: bool,
    /// Empty its context.
    pub clear: bool,
    /// Use another model.
    pub model: ModelChange,
    /// Think harder or less hard.
    pub effort: EffortChange,
}

/// What was chosen that the backend does not know yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChosenModel {
    /// A model with a name.
    Named,
    /// The backend's own default.
    Default,
}
