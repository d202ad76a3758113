//! Where the program keeps its login, and whether the login has changed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::program::login::Files;

/// Files by which a login comes: the program's own, and a configuration that names another provider.
const FILES: [&str; 2] = ["auth.json", "config.toml"];

/// The program's folder. Unknown when neither a folder nor a home is in its environment.
#[derive(Debug, Clone)]
pub(super) struct Login {
    folder: Option<PathBuf>,
}

impl Login {
    pub(super) fn new(env: &BTreeMap<String, String>) -> Self {
        let set = |name: &str| env.get(name).filter(|value| !value.is_empty());
        let named = set("CODEX_HOME").map(PathBuf::from);
        let home = || set("HOME").map(|home| Path::new(home).join(".codex"));
        Self { folder: named.or_else(home) }
    }

    /// Returns the program's folder.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the folder for people.
    pub(super) fn shown(&self) -> String {
        match &self.folder {
            Some(folder) => folder.display().to_string(),
            None => "its configuration folder".to_owned(),
        }
    }

    /// Returns the files by which a login comes.
    pub(super) fn files(&self) -> Files {
        Files::of(self.folder.as_deref(), &FILES)
    }

    /// Returns whether the program has rules of its own that let commands run unasked.
    pub(super) fn has_rules(&self) -> bool {
        let Some(folder) = &self.folder else { return false };
        let Ok(entries) = fs::read_dir(folder.join("rules")) else { return false };
        entries.flatten().any(|entry| entry.path().extension().is_some_and(|it| it == "rules"))
    }
}
