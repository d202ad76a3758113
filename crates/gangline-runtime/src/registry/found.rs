//! A backend that was found: what it is, and what it changes of a start.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Entry, Source, TERMINAL, built_in};
use crate::{Runtime, StartOptions};

/// A backend whose adapter this build has not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this build has no adapter `{adapter}`, which the backend `{name}` wants")]
pub struct Lacking {
    name: String,
    adapter: &'static str,
}

/// One backend of the registry.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its name.
    pub name: String,
    /// The built-in backend whose adapter drives it.
    pub entry: &'static Entry,
    /// Where it stands.
    pub source: Source,
    /// Its program and what stands before our own arguments; none = the adapter's usual one.
    pub command: Option<Vec<String>>,
    /// What its environment has; the agent's own `env` wins. May hold secrets: never shown.
    pub env: BTreeMap<String, String>,
    /// Fields for the adapter; the agent's own win.
    pub extra: BTreeMap<String, Value>,
}

impl Found {
    /// Returns a built-in backend as it is.
    #[must_use]
    pub fn built_in(entry: &'static Entry) -> Self {
        Self {
            name: entry.name.to_owned(),
            entry,
            source: Source::BuiltIn,
            command: entry.whole_command(),
            env: BTreeMap::new(),
            extra: BTreeMap::new(),
        }
    }

    /// Returns what makes a new, unstarted adapter.
    ///
    /// # Errors
    /// [`Lacking`] in a build without the adapter.
    pub fn maker(&self) -> Result<fn() -> Box<dyn Runtime>, Lacking> {
        self.entry
            .maker()
            .ok_or_else(|| Lacking { name: self.name.clone(), adapter: self.entry.name })
    }

    /// Returns the name of the program's file, or its path; none = it is a part of Gangline, or
    /// the configuration has to name one.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let first = self.command.as_ref().and_then(|words| words.first());
        first.map(String::as_str).or(self.entry.program)
    }

    /// Returns whether the configuration's `acp_command` is its program.
    #[must_use]
    pub fn takes_acp_command(&self) -> bool {
        self.entry.takes_acp_command && self.command.is_none()
    }

    /// Returns the same program, driven through a terminal (`process: tmux`).
    #[must_use]
    pub fn in_terminal(self) -> Self {
        let Some(terminal) = built_in(TERMINAL) else { return self };
        let usual = self.entry.program.map(|program| vec![program.to_owned()]);
        Self { entry: terminal, command: self.command.or(usual), ..self }
    }

    /// Puts into a start what is not said there already: the command, variables and fields.
    pub fn apply(&self, options: &mut StartOptions) {
        if options.command.is_none() {
            options.command.clone_from(&self.command);
        }
        for (name, value) in &self.env {
            if options.env.iter().all(|(known, _)| known != name) {
                options.env.push((name.clone(), value.clone()));
            }
        }
        for (key, value) in &self.extra {
            options.extra.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}
