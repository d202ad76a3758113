//! What the environment may say where the file says nothing: the names that hyperhive's containers
//! give (R2-09, R2-15). Start at [`Environment::read`].

use super::{limits::WATERMARK_MAX, words::Profile};

/// The operator's pronouns.
const PRONOUNS: &str = "HIVE_OPERATOR_PRONOUNS";
/// How many tokens the context may have before the agent is asked for its notes; 0: no limit.
const WATERMARK: &str = "HIVE_COMPACT_WATERMARK_TOKENS";

/// Where agents run.
const PROFILE: &str = "GANGLINE_PROFILE";

/// The defaults of an agent that the environment changes. A key in the file wins over each of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Environment {
    pub(super) operator_pronouns: Option<String>,
    /// In tokens.
    pub(super) compact_watermark: Option<f64>,
    pub(super) profile: Option<Profile>,
    /// What is wrong with a variable that is set.
    pub(super) unusable: Vec<String>,
}

impl Environment {
    /// The variables that are read; a hub passes them on to its daemons.
    pub const VARIABLES: [&str; 3] = [PRONOUNS, WATERMARK, PROFILE];

    /// Reads the variables. One that is empty counts as unset; one that cannot be used is told as a
    /// warning of the configuration, and has no effect.
    #[must_use]
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let said =
            |name| variable(name).map(|text| text.trim().to_owned()).filter(|t| !t.is_empty());
        let mut read = Self { operator_pronouns: said(PRONOUNS), ..Self::default() };
        if let Some(text) = said(PROFILE) {
            match text.parse() {
                Ok(profile) => read.profile = Some(profile),
                Err(_) => read.unusable.push(format!(
                    "{PROFILE} is `{}`, not `host` or `container`: it has no effect",
                    shown(&text)
                )),
            }
        }
        if let Some(text) = said(WATERMARK) {
            match text.parse::<u32>() {
                // A watermark of 1 would be the whole context, not a token.
                Ok(tokens) if tokens <= WATERMARK_MAX && tokens != 1 => {
                    read.compact_watermark = Some(f64::from(tokens));
                }
                Ok(_) | Err(_) => read.unusable.push(format!(
                    "{WATERMARK} is `{}`, not a number of tokens (0, or 2 to {WATERMARK_MAX}): it \
                     has no effect",
                    shown(&text)
                )),
            }
        }
        read
    }
}

fn shown(text: &str) -> String {
    text.chars().take(40).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests;
