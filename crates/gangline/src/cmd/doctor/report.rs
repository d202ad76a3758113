//! What was found: lines with a result and what to do next. Pure.

use serde::Serialize;

use crate::failure::Failure;

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    /// It was looked at and is as it should be.
    Ok,
    /// Nothing is wrong, or it cannot be told from outside.
    Note,
    /// It may be a trouble, or will be one.
    Warn,
    /// What is configured cannot work.
    Fail,
}

impl Level {
    /// Returns the word on the screen and on the wire.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum About {
    /// The installation.
    Installation,
    /// An agent of the configuration.
    Agent,
    /// A backend of the registry.
    Backend,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// What was looked at, in one lasting word or two.
    pub(crate) check: String,
    /// How it stands.
    pub(crate) result: Level,
    /// What was found, as a sentence.
    pub(crate) found: String,
    /// Lines that are shown as they are.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) detail: String,
    /// What to do next; empty when nothing is to be done.
    #[serde(rename = "do")]
    pub(crate) remedies: Vec<String>,
}

impl Check {
    pub(crate) fn new(result: Level, check: impl Into<String>, found: impl Into<String>) -> Self {
        let (detail, remedies) = (String::new(), Vec::new());
        Self { check: check.into(), result, found: found.into(), detail, remedies }
    }

    pub(crate) fn ok(check: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(Level::Ok, check, found)
    }

    pub(crate) fn note(check: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(Level::Note, check, found)
    }

    pub(crate) fn warn(check: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(Level::Warn, check, found)
    }

    pub(crate) fn fail(check: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(Level::Fail, check, found)
    }

    /// Returns a line for what another command would end with.
    pub(crate) fn failed(check: impl Into<String>, failure: &Failure) -> Self {
        let mut it = Self::fail(check, failure.sentence());
        it.remedies = failure.remedies();
        it
    }

    /// Adds what to do next.
    pub(crate) fn remedy(mut self, text: impl Into<String>) -> Self {
        self.remedies.push(text.into());
        self
    }

    /// Adds lines that are shown as they are.
    pub(crate) fn detail(mut self, text: impl Into<String>) -> Self {
        self.detail = text.into();
        self
    }
}

/// The lines about one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) about: About,
    /// The agent's nick or the backend's name.
    pub(crate) name: Option<String>,
    /// The heading for people.
    pub(crate) title: String,
    pub(crate) checks: Vec<Check>,
}

/// How many lines have each result.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) ok: usize,
    pub(crate) note: usize,
    pub(crate) warn: usize,
    pub(crate) fail: usize,
}

impl Counts {
    pub(crate) fn of(groups: &[Group]) -> Self {
        let mut counts = Self::default();
        for check in groups.iter().flat_map(|group| &group.checks) {
            let count = match check.result {
                Level::Ok => &mut counts.ok,
                Level::Note => &mut counts.note,
                Level::Warn => &mut counts.warn,
                Level::Fail => &mut counts.fail,
            };
            *count += 1;
        }
        counts
    }
}
