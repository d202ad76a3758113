//! How hard an agent thinks (R0-62, R0-65): one word of its backend's, and whether the file has it.

use schemars::JsonSchema;
use serde::Serialize;

/// The word of a file that says nothing.
const USUAL: &str = "medium";

/// How hard an agent thinks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String")]
pub enum Thinking {
    /// The file says so.
    Said(String),
    /// The file says nothing: this is the seed's default. A backend with settings of its own keeps
    /// those.
    #[default]
    Usual,
}

impl Thinking {
    /// Returns the word, wherever it comes from.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Said(word) => word,
            Self::Usual => USUAL,
        }
    }
}

impl From<Thinking> for String {
    fn from(thinking: Thinking) -> Self {
        thinking.word().to_owned()
    }
}
