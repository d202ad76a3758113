//! Operators' words, as people write them on a line. The mention is stripped before
//! ([`crate::mention`]).

use crate::model::ModelName;

/// What an operator says to an agent on a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OperatorWord {
    /// `status`: what it does now. Anybody who may prompt may ask.
    Status,
    /// `pause`: feed nothing new.
    Pause,
    /// `resume`: feed again.
    Resume,
    /// `abort`: end the open turn.
    Abort,
    /// `stand down`: agents stop talking to each other in this room until a person lifts it.
    StandDown,
    /// `model`: which model it uses. Anybody who may prompt may ask.
    Model,
    /// `model NAME`, `/model NAME`: use that one from the next turn on; `default` is the
    /// configuration's (R2-04).
    SetModel(Option<ModelName>),
    /// `new session`, `/new-session`, `/clear`: begin an empty context (R2-06).
    NewSession,
    /// `compact`, `/compact`: shorten the context (R2-11).
    Compact,
}

impl OperatorWord {
    /// Returns the text as an operator's word, if it is nothing else; case does not matter.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let said: Vec<&str> = text.split_whitespace().collect();
        let words: Vec<String> = said.iter().map(|word| word.to_ascii_lowercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["status"] => Some(Self::Status),
            ["pause"] => Some(Self::Pause),
            ["resume"] => Some(Self::Resume),
            ["abort"] => Some(Self::Abort),
            ["stand", "down"] => Some(Self::StandDown),
            ["model" | "/model"] => Some(Self::Model),
            ["model" | "/model", "default" | "--default"] => Some(Self::SetModel(None)),
            // Names of models are told by case.
            ["model" | "/model", _] => Some(Self::SetModel(Some(said.last()?.parse().ok()?))),
            ["new", "session"] | ["/new-session" | "/clear"] => Some(Self::NewSession),
            ["compact" | "/compact"] => Some(Self::Compact),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
