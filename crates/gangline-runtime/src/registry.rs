//! Which backends exist: the built-in ones, which are data, and those of the user's files.
//!
//! The built-in table is [`ENTRIES`]: a new backend is one folder, one line here, and one in
//! [`crate::adapters`], which this table does not know. [`Registry`] adds the files (R3-12, R3-13,
//! C22); a name becomes a backend in [`Registry::find`]. Where the files lie is [`places::Places`], their forms are in `registry/forms.rs`.

use std::path::Path;

pub use found::Found;
pub use item::Said;
pub use places::Places;
pub use source::{Problem, Source};

pub mod dialect;
pub mod edit;
mod forms;
mod found;
mod item;
mod json;
pub mod known;
mod places;
mod project;
mod source;

#[cfg(test)]
mod tests;

use item::{Files, Item};
use known::Known;

/// What is taken when nobody says anything, as in the seeds.
pub const LAST_RESORT: &str = "claude";
/// What makes a program without hooks read its role in Gas Town (R3-15).
const PRIME: &str = "Run `gt prime`, and follow the instructions that it prints.";
/// The adapter of any terminal program.
const TERMINAL: &str = "tmux";
/// The adapter of any program that speaks the Agent Client Protocol.
const ACP: &str = "acp";

/// A backend that there is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no backend `{name}`; there is: {known}")]
pub struct UnknownRuntime {
    /// The word.
    pub name: String,
    pub(crate) known: String,
}

/// One built-in backend.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The word in the configuration.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The name of its program's file; none = it is a part of Gangline, or runs any program.
    pub program: Option<&'static str>,
    /// Its whole command, where the adapter runs any program.
    pub command: &'static [&'static str],
    /// Whether it speaks to the model itself, and so wants a key for one that is elsewhere.
    pub needs_key: bool,
    /// Whether it runs any program, and so wants one to be named by `command`.
    pub needs_command: bool,
    /// Whether its program is the configuration's `acp_command`.
    pub takes_acp_command: bool,
    /// What it is told first when it plays a role in Gas Town and no hook of its own says it.
    pub bootstrap: Option<&'static str>,
    /// Where its model is served unless it is told otherwise; `None` = not one place.
    pub api: Option<&'static str>,
    /// What is known of its program from outside.
    pub known: Known,
}

impl Entry {
    const fn new(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            program: None,
            command: &[],
            needs_key: false,
            needs_command: false,
            takes_acp_command: false,
            bootstrap: None,
            api: None,
            known: known::NOTHING,
        }
    }

    const fn api(self, api: &'static str) -> Self {
        Self { api: Some(api), ..self }
    }

    const fn known(self, known: Known) -> Self {
        Self { known, ..self }
    }

    const fn program(self, program: &'static str) -> Self {
        Self { program: Some(program), ..self }
    }

    const fn command(self, command: &'static [&'static str]) -> Self {
        Self { program: command.first().copied(), command, ..self }
    }

    fn whole_command(&self) -> Option<Vec<String>> {
        let words = || self.command.iter().map(|word| (*word).to_owned()).collect();
        (!self.command.is_empty()).then(words)
    }

    /// Returns whether it runs any program, so that only the program's name tells which one.
    #[must_use]
    pub fn runs_any(&self) -> bool {
        self.needs_command || self.takes_acp_command
    }
}

const ANTHROPIC: &str = "https://api.anthropic.com";
const OPENAI: &str = "https://api.openai.com/v1";
const GOOGLE: &str = "https://generativelanguage.googleapis.com";

/// Every built-in backend.
pub const ENTRIES: &[Entry] = &[
    Entry { needs_key: true, ..Entry::new("native", "Gangline's own model loop").api(ANTHROPIC) },
    Entry::new("claude", "Claude Code").program("claude").api(ANTHROPIC).known(known::CLAUDE),
    Entry {
        bootstrap: Some(PRIME),
        ..Entry::new("codex", "Codex").program("codex").api(OPENAI).known(known::CODEX)
    },
    Entry { takes_acp_command: true, ..Entry::new(ACP, "any ACP agent") },
    Entry::new("opencode", "OpenCode").program("opencode").known(known::OPENCODE),
    Entry::new("cline", "Cline").program("cline").known(known::CLINE),
    Entry::new("copilot", "GitHub Copilot").program("copilot").known(known::COPILOT),
    Entry::new("gemini", "Gemini CLI").program("gemini").api(GOOGLE).known(known::GEMINI),
    Entry::new("kiro", "Kiro").program("kiro-cli").known(known::KIRO),
    Entry::new("goose", "Goose").command(&["goose", "acp"]).known(known::GOOSE),
    Entry::new("qwen", "Qwen Code").command(&["qwen", "--acp"]),
    Entry { needs_command: true, ..Entry::new(TERMINAL, "any terminal program, in tmux") },
];

/// Returns a built-in backend.
#[must_use]
pub fn built_in(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// The built-in backends and those of the user's files, as they were at one moment.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    places: Places,
    /// What stands in files, the weaker first.
    items: Vec<Item>,
    /// Who says what is usual, the stronger first.
    defaults: Vec<Said>,
    /// Gas Town's words for what is usual by role, the stronger first.
    roles: Vec<(String, Said)>,
    problems: Vec<Problem>,
    ignored: Vec<Problem>,
}

impl Registry {
    /// Reads the user's files. What is wrong with them is in [`Self::problems`]: the built-in
    /// backends are there in any case.
    #[must_use]
    pub fn load(places: &Places) -> Self {
        let mut files = Files::default();
        if let Some(town) = &places.town {
            forms::agents(&town.join("settings/agents.json"), &mut files);
        }
        for file in [&places.gastown, &places.ours].into_iter().flatten() {
            forms::runtimes(file, &mut files);
        }
        // The stronger stood last.
        files.defaults.reverse();
        if let Some(town) = &places.town {
            forms::settings(&town.join("settings/config.json"), &mut files);
        }
        Self {
            places: places.clone(),
            items: files.items,
            defaults: files.defaults,
            roles: files.roles,
            problems: files.problems,
            ignored: files.ignored,
        }
    }

    /// Returns the registry as it is for an agent that works in this folder: with what its project
    /// says (R3-13), and, below Gas Town's folder, with what its rig says (C22).
    #[must_use]
    pub fn at(&self, directory: &Path) -> Self {
        let mut here = self.clone();
        let rig = self.places.rig(directory);
        if let Some(rig) = &rig {
            let mut files = Files::default();
            forms::agents(&rig.join("settings/agents.json"), &mut files);
            forms::settings(&rig.join("settings/config.json"), &mut files);
            here.items.extend(files.items);
            here.problems.extend(files.problems);
            here.ignored.extend(files.ignored);
            here.roles.splice(0..0, files.roles);
            // Of Gas Town's own words the rig's is stronger than the town's, which stands last.
            let town = here.defaults.iter().position(|said| said.by_town);
            let at = town.unwrap_or(here.defaults.len());
            here.defaults.splice(at..at, files.defaults);
        }
        let mut files = Files::default();
        project::read(directory, rig.as_deref(), &mut files);
        here.problems.extend(files.problems);
        here.ignored.extend(files.ignored);
        here.defaults.splice(0..0, files.defaults);
        here
    }

    /// Returns what is usual here, and who says so. `role` is the agent's role in Gas Town, such
    /// as `witness`, or a path that has it as one of its parts.
    #[must_use]
    pub fn default(&self, role: Option<&str>) -> Said {
        let own = self.defaults.iter().find(|said| !said.by_town);
        let plays = |name: &str| role.is_some_and(|role| role.split('/').any(|it| it == name));
        let by_role = || self.roles.iter().find(|(name, _)| plays(name)).map(|(_, said)| said);
        let by_town = || self.defaults.iter().find(|said| said.by_town);
        own.or_else(by_role).or_else(by_town).cloned().unwrap_or_else(Said::last_resort)
    }

    /// Returns a backend by its name.
    ///
    /// # Errors
    /// [`UnknownRuntime`] names the backends there are.
    pub fn find(&self, name: &str) -> Result<Found, UnknownRuntime> {
        // A file's entry stands for the built-in one of the same name.
        let item = self.items.iter().rev().find(|item| item.name == name);
        let found = match item {
            Some(item) => item.found(self.places.home.as_deref()).ok(),
            None => built_in(name).map(Found::built_in),
        };
        found
            .ok_or_else(|| UnknownRuntime { name: name.to_owned(), known: self.names().join(", ") })
    }

    /// Returns every backend, the built-in ones first, then those of files by name.
    #[must_use]
    pub fn list(&self) -> Vec<Found> {
        self.names().iter().filter_map(|name| self.find(name).ok()).collect()
    }

    /// Returns the name of every backend, in the order of [`Self::list`].
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut more: Vec<&str> = self.items.iter().map(|item| item.name.as_str()).collect();
        more.sort_unstable();
        more.dedup();
        more.retain(|name| built_in(name).is_none());
        ENTRIES.iter().map(|entry| entry.name).chain(more).map(str::to_owned).collect()
    }

    /// Returns what is wrong with the files, in the order in which they were read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns what stands in the files and has no meaning here.
    #[must_use]
    pub fn ignored(&self) -> &[Problem] {
        &self.ignored
    }

    /// Returns where the files are.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }
}
