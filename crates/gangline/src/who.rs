//! An agent as people name it on the command line.

use std::{fmt, str::FromStr};

use gangline_core::{AgentName, name::NameError};

/// A nick, or its part behind the server's name as the chat takes it: `vm-claude`, `claude`,
/// `@claude`. Which agent is meant is found out by [`crate::names`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Who(String);

impl Who {
    /// Returns the word, without what marks it as a mention.
    pub(crate) fn word(&self) -> &str {
        &self.0
    }
}

impl FromStr for Who {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let word = text.strip_prefix('@').unwrap_or(text).to_ascii_lowercase();
        let could_be_short =
            !word.starts_with('-') && format!("x-{word}").parse::<AgentName>().is_ok();
        if !could_be_short {
            // Says what a nick is, of what was typed.
            return text.parse::<AgentName>().map(|name| Self(name.to_string()));
        }
        Ok(Self(word))
    }
}

impl From<AgentName> for Who {
    fn from(name: AgentName) -> Self {
        Self(name.to_string())
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
