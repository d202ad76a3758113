//! The name of a backend: a checked word. Which names there are is the registry's to say.

use std::{fmt, path::Path, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    error::shown,
    nearest::{nearest, slips},
    node::{Node, Value},
    reader::Reader,
};

#[cfg(test)]
mod tests;

/// The longest name, in bytes.
const LONGEST: usize = 64;

/// The name of what thinks for an agent (R0-02, R0-62): one that Gangline has built in, or one of
/// the user's `runtimes.json` (R3-12). Lowercase letters and digits, and `-`, `_`, `.` between
/// them; at most 64 bytes.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Backend(String);

/// A word that cannot be the name of a backend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a backend's name{}", shown(.word), .near.map_or_else(
    String::new, |near| format!(": did you mean `{near}`?")))]
pub struct NotABackend {
    word: String,
    near: Option<&'static str>,
}

impl Backend {
    /// The names that Gangline has built in, for help with slips. An installation may have more.
    pub const BUILT_IN: [&str; 12] = [
        "claude", "codex", "copilot", "acp", "opencode", "cline", "kiro", "gemini", "goose",
        "qwen", "native", "tmux",
    ];
    /// Any terminal program.
    pub const TERMINAL: &str = "tmux";
    /// What the seeds' programs take when nobody says anything.
    pub const SEEDS_DEFAULT: &str = "claude";
    /// Any program that speaks the Agent Client Protocol; see `acp_command`.
    pub const ACP: &str = "acp";
    /// Those whose models have their provider in front.
    pub(super) const PROVIDER_FIRST: [&str; 2] = [Self::ACP, "opencode"];

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Backend {
    type Err = NotABackend;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let legal = |b: u8| plain(b) || b"-_.".contains(&b);
        let ends = text.bytes().next().zip(text.bytes().last());
        let good = ends.is_some_and(|(first, last)| plain(first) && plain(last));
        if good && text.len() <= LONGEST && text.bytes().all(legal) {
            return Ok(Self(text.to_owned()));
        }
        let near = Self::BUILT_IN.into_iter().find(|known| known.eq_ignore_ascii_case(text));
        let slip = || nearest(text, Self::BUILT_IN, slips(text));
        Err(NotABackend { word: text.to_owned(), near: near.or_else(slip) })
    }
}

impl TryFrom<String> for Backend {
    type Error = NotABackend;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Backend> for String {
    fn from(backend: Backend) -> Self {
        backend.0
    }
}

/// Reads a backend's name.
pub(super) fn read(reader: &mut Reader<'_>, node: &Node) -> Option<Backend> {
    let Value::Text(text) = &node.value else {
        let message = format!("`agent` must be a word, not {}", node.value.kind());
        reader.fault_help(node.place, message, one_of(&Backend::BUILT_IN));
        return None;
    };
    match text.parse() {
        Ok(backend) => Some(backend),
        Err(error) => {
            reader.fault_help(node.place, error.to_string(), one_of(&Backend::BUILT_IN));
            None
        }
    }
}

/// Returns what is wrong with a name that is none of those that there are, and help; nothing when
/// nobody said which there are.
pub(super) fn unknown(
    reader: &Reader<'_>,
    backend: &Backend,
    folder: Option<&Path>,
) -> Option<(String, String)> {
    let names = reader.names?(folder);
    let known = || names.iter().map(String::as_str);
    let word = backend.as_str();
    if known().any(|name| name == word) {
        return None;
    }
    let said = match nearest(word, known(), slips(word)) {
        Some(near) => format!("unknown backend `{word}`: did you mean `{near}`?"),
        None => format!("unknown backend `{word}`"),
    };
    Some((said, one_of(&known().collect::<Vec<_>>())))
}

fn one_of(names: &[&str]) -> String {
    format!("one of {}, or a name in your runtimes.json", names.join(", "))
}
