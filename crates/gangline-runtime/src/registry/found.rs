//! A backend that was found: what it is, and what it changes of a start.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Entry, Source, TERMINAL, built_in};
use crate::{StartOptions, tmux};

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
    /// Where its model is served; the agent's own wins.
    pub base_url: Option<String>,
    /// The variable that holds the key for that model; the agent's own wins.
    pub api_key_env: Option<String>,
    /// Of a program in a terminal that has a backend of its own: that backend.
    pub(super) beneath: Option<&'static Entry>,
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
            base_url: None,
            api_key_env: None,
            beneath: None,
        }
    }

    /// Returns the name of the program's file, or its path; none = it is a part of Gangline, or
    /// the configuration has to name one.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let first = self.command.as_ref().and_then(|words| words.first());
        first.map(String::as_str).or(self.entry.program)
    }

    /// Returns the whole command for the words that an agent is configured with: a program named
    /// alone gets the arguments that this backend has.
    #[must_use]
    pub fn completed(&self, words: Vec<String>) -> Vec<String> {
        let behind = match words.len() {
            1 => self.entry.command.get(1..).unwrap_or_default(),
            _ => &[],
        };
        words.into_iter().chain(behind.iter().map(|word| (*word).to_owned())).collect()
    }

    /// Returns whether the configuration's `acp_command` is its program.
    #[must_use]
    pub fn takes_acp_command(&self) -> bool {
        self.entry.takes_acp_command && self.command.is_none()
    }

    /// Returns what its program is told first when it plays a role in Gas Town (R3-15).
    #[must_use]
    pub fn bootstrap(&self) -> Option<&'static str> {
        self.beneath.unwrap_or(self.entry).bootstrap
    }

    /// Returns whether it is driven through a terminal: then nothing asks before tools run, and
    /// anyone who can prompt it has its shell.
    #[must_use]
    pub fn is_in_terminal(&self) -> bool {
        self.entry.name == TERMINAL
    }

    /// Returns the same program, driven through a terminal (`process: tmux`).
    #[must_use]
    pub fn in_terminal(self) -> Self {
        let Some(terminal) = built_in(TERMINAL) else { return self };
        let usual = self.entry.program.map(|program| vec![program.to_owned()]);
        let beneath = (self.entry.name != TERMINAL).then_some(self.entry).or(self.beneath);
        Self { entry: terminal, command: self.command.or(usual), beneath, ..self }
    }

    /// Returns the name under which its sessions and the choice of its model are kept: two backends
    /// of one owner understand each other's.
    #[must_use]
    pub fn owner(&self) -> String {
        let runs_any = |entry: &Entry| entry.needs_command || entry.takes_acp_command;
        match self.beneath {
            // The program's own sessions are gone on with, by the ids that it knows.
            Some(entry) if entry.program.is_some_and(tmux::names_sessions) => entry.name.to_owned(),
            Some(_) => format!("{}@{TERMINAL}", self.name),
            None if runs_any(self.entry) && self.name != self.entry.name => {
                format!("{}@{}", self.name, self.entry.name)
            }
            None => self.entry.name.to_owned(),
        }
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
