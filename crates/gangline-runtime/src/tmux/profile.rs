//! What is known of a program's screen: data, built in for some, changed by `screen` in the
//! configuration of the agent. Start at [`Profile::of`].

use std::{collections::BTreeMap, path::Path, time::Duration};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::hooks::Hooks;

#[cfg(test)]
mod tests;

const BUILT_IN: &str = include_str!("profiles.json");
/// The profile of a program that nobody knows.
const PLAIN: &str = "plain";

/// How a program takes its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// It writes a prompt at the end of what it said, and the cursor stands behind it.
    #[default]
    Line,
    /// It keeps an input box on the screen, also while it works.
    Box,
}

/// How a text with several lines is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Paste {
    /// As one bracketed paste, its lines kept.
    Bracketed,
    /// As one line: a program without bracketed paste would take each line for a message.
    #[default]
    OneLine,
}

/// A question at the start that has one sensible answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dialog {
    /// Text that is on the screen.
    pub(super) seen: String,
    /// The keys that answer it.
    pub(super) keys: Vec<String>,
}

/// How a program is told of tool servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Form {
    /// By files in JSON: `{file}` with the servers, `{settings}` with what runs unasked.
    Json,
    /// By a flag for each setting, `{set}`.
    Flags,
}

/// How a program is told of tool servers, and by which words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tools {
    pub(super) form: Form,
    pub(super) words: Vec<String>,
}

/// Where a program records what was typed, a JSON line each with `session_id` and `text`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept {
    /// Its folder in the home directory, where no login of its own is configured.
    pub(super) home: String,
    pub(super) file: String,
}

/// See the module. Texts are compared as they are; nothing is a pattern.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Profile {
    /// For people.
    pub(super) about: String,
    /// Programs that it is for, by the name of their file.
    pub(super) programs: Vec<String>,
    pub(super) kind: Kind,
    /// What stands before the cursor when prompts are taken; empty = not known.
    pub(super) ready: Vec<String>,
    /// What stands alone before the cursor when it wants the rest of what was typed, such as an end
    /// of the quotation.
    pub(super) more: Vec<String>,
    /// What is near the bottom of the screen as long as it works.
    pub(super) busy: Vec<String>,
    /// What is near the bottom when it waits for a human.
    pub(super) asks: Vec<String>,
    /// What it shows in place of a long text that was pasted.
    pub(super) placeholders: Vec<String>,
    /// What an answer begins with; the last one is the answer. Empty = all that came is.
    pub(super) answer: Vec<String>,
    /// What lines begin with that are no part of an answer.
    pub(super) chrome: Vec<String>,
    pub(super) dialogs: Vec<Dialog>,
    pub(super) paste: Paste,
    /// Keys in tmux's spelling.
    pub(super) submit: Vec<String>,
    pub(super) clear: Vec<String>,
    pub(super) interrupt: Vec<String>,
    pub(super) exit: Vec<String>,
    /// Whether it takes text while it works.
    pub(super) steer: bool,
    /// Whether it is given what was said and nothing else: neither who said it nor where.
    pub(super) bare: bool,
    /// Variables that are set unless the agent's environment has them, and those that are taken
    /// away.
    pub(super) env: BTreeMap<String, String>,
    pub(super) unset: Vec<String>,
    /// The variables for the key, the address and the login of the configuration.
    pub(super) key_variable: Option<String>,
    pub(super) url_variable: Option<String>,
    pub(super) account_variable: Option<String>,
    /// The variable that holds the session's id for the program's own children.
    pub(super) session_variable: Option<String>,
    /// None = it records nothing, or its session can be chosen.
    pub(super) history: Option<Kept>,
    /// None = it takes no tool servers, as far as is known.
    pub(super) tools: Option<Tools>,
    /// None = it runs no hooks, as far as is known. They are told in the same way as tool servers.
    pub(super) hooks: Option<Hooks>,
    /// Arguments: always, and with `{model}`, `{file}`, `{session}` filled in.
    pub(super) args: Vec<String>,
    pub(super) model: Vec<String>,
    pub(super) system_prompt: Vec<String>,
    pub(super) new_session: Vec<String>,
    /// Empty = it cannot go on with a session.
    pub(super) resume: Vec<String>,
    pub(super) columns: u16,
    pub(super) rows: u16,
    warm_up_ms: u64,
    start_within_ms: u64,
    deliver_within_ms: u64,
    settle_ms: u64,
    quiet_ms: u64,
}

impl Default for Profile {
    fn default() -> Self {
        let keys = |key: &str| vec![key.to_owned()];
        Self {
            about: String::new(),
            programs: Vec::new(),
            kind: Kind::Line,
            ready: Vec::new(),
            more: Vec::new(),
            busy: Vec::new(),
            asks: Vec::new(),
            placeholders: Vec::new(),
            answer: Vec::new(),
            chrome: Vec::new(),
            dialogs: Vec::new(),
            paste: Paste::OneLine,
            submit: keys("Enter"),
            clear: keys("C-u"),
            interrupt: keys("C-c"),
            exit: vec!["C-c".to_owned(), "C-d".to_owned()],
            steer: false,
            bare: false,
            env: BTreeMap::new(),
            unset: Vec::new(),
            key_variable: None,
            url_variable: None,
            account_variable: None,
            session_variable: None,
            history: None,
            tools: None,
            hooks: None,
            args: Vec::new(),
            model: Vec::new(),
            system_prompt: Vec::new(),
            new_session: Vec::new(),
            resume: Vec::new(),
            columns: 160,
            rows: 50,
            warm_up_ms: 3000,
            start_within_ms: 60_000,
            deliver_within_ms: 30_000,
            settle_ms: 500,
            quiet_ms: 4000,
        }
    }
}

impl Profile {
    /// Returns the profile for a program: the one that `screen.like` names, else the one of the
    /// program's name, changed by what else stands in `screen`.
    ///
    /// # Errors
    /// One line that names what is wrong in `screen`.
    pub(super) fn of(program: &Path, screen: Option<&Value>) -> Result<Self, String> {
        let mut changes = match screen {
            None => Map::new(),
            Some(Value::Object(map)) => map.clone(),
            Some(_) => {
                return Err("`screen` must be a map, such as `screen: {like: claude}`".into());
            }
        };
        let all = built_in()?;
        let base = match changes.remove("like") {
            None => all.values().find(|it| names(it, program)).or_else(|| all.get(PLAIN)).cloned(),
            Some(Value::String(name)) => Some(all.get(&name).cloned().ok_or_else(|| {
                let known: Vec<&str> = all.keys().map(String::as_str).collect();
                format!("`screen.like` must be one of {}, not `{name}`", known.join(", "))
            })?),
            Some(_) => return Err("`screen.like` must be a word".into()),
        };
        let mut words = base.unwrap_or_default();
        words.extend(changes);
        let profile: Self = serde_json::from_value(Value::Object(words))
            .map_err(|error| format!("`screen`: {error}"))?;
        profile.checked()
    }

    fn checked(self) -> Result<Self, String> {
        let lists = [&self.ready, &self.busy, &self.asks, &self.placeholders, &self.answer];
        let empty = lists.iter().any(|list| list.iter().any(|word| word.trim().is_empty()));
        if empty {
            return Err("`screen`: a text to look for is empty".into());
        }
        if !(40..=500).contains(&self.columns) || !(10..=500).contains(&self.rows) {
            return Err("`screen`: `columns` must be 40 to 500 and `rows` 10 to 500".into());
        }
        Ok(self)
    }

    /// How long a program without a known prompt is left alone at its start.
    pub(super) fn warm_up(&self) -> Duration {
        Duration::from_millis(self.warm_up_ms)
    }

    /// How long it may take until it takes prompts.
    pub(super) fn start_within(&self) -> Duration {
        Duration::from_millis(self.start_within_ms)
    }

    /// How long a message may take to arrive, all attempts together (R3-07).
    pub(super) fn deliver_within(&self) -> Duration {
        Duration::from_millis(self.deliver_within_ms)
    }

    /// How long the screen stands still before what it shows is believed.
    pub(super) fn settle(&self) -> Duration {
        Duration::from_millis(self.settle_ms)
    }

    /// The same where nothing but standing still tells that it is done.
    pub(super) fn quiet(&self) -> Duration {
        Duration::from_millis(self.quiet_ms)
    }
}

fn built_in() -> Result<BTreeMap<String, Map<String, Value>>, String> {
    serde_json::from_str(BUILT_IN).map_err(|error| format!("the built-in profiles: {error}"))
}

fn names(profile: &Map<String, Value>, program: &Path) -> bool {
    let Some(name) = program.file_name().and_then(|name| name.to_str()) else { return false };
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let programs = profile.get("programs").and_then(Value::as_array);
    programs.is_some_and(|all| all.iter().any(|it| it == name))
}
