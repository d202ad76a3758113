//! The name of a model, as a person gives it, and how much its context holds.

use std::{fmt, str::FromStr};

/// The longest name, in bytes.
const LONGEST: usize = 200;

/// Windows of models, for backends that do not tell theirs: data, by the beginning of the name.
const WINDOWS: &str = include_str!("../data/context_windows.txt");

/// Returns how many tokens the model's context holds, if the table knows it. A provider in front of the
/// name does not count.
#[must_use]
pub fn context_window(model: &str) -> Option<u64> {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let rows = WINDOWS.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|line| line.split_once(' '));
    let known = rows.filter(|(start, _)| name.starts_with(start));
    let (_, window) = known.max_by_key(|(start, _)| start.len())?;
    window.trim().parse().ok()
}

/// The name of a model, as the backend knows it: one word (R2-04).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelName(String);

/// Why a text is no [`ModelName`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a model's name is one word of at most {LONGEST} bytes that does not begin with a dash")]
pub struct BadModelName;

impl ModelName {
    /// Returns the name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ModelName {
    type Err = BadModelName;

    fn from_str(text: &str) -> Result<Self, BadModelName> {
        // It becomes an argument of a program, and is shown to people.
        let plain = text.chars().all(|c| c.is_ascii_graphic());
        if text.is_empty() || text.len() > LONGEST || !plain || text.starts_with('-') {
            return Err(BadModelName);
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests;
