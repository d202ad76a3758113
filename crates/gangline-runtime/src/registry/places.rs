//! Where the files of the registry lie. Pure.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The places of the files; none of them need exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// The user's home, for a leading `~/`.
    pub home: Option<PathBuf>,
    /// Ours: `$XDG_CONFIG_HOME/gangline/runtimes.json`.
    pub ours: Option<PathBuf>,
    /// That of the seed: `~/.gastown/runtimes.json` (R3-12).
    pub gastown: Option<PathBuf>,
    /// Gas Town's own folder, `$GT_TOWN_ROOT`, `$GT_ROOT` or `~/gt`, with `settings/agents.json`
    /// and `settings/config.json` (C22).
    pub town: Option<PathBuf>,
}

impl Places {
    /// Finds the places from an environment. Variables that are empty or no absolute path count as
    /// unset.
    #[must_use]
    pub fn from_env(env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let below = |path: &str| home.as_ref().map(|home| home.join(path));
        let config = absolute("XDG_CONFIG_HOME").or_else(|| below(".config"));
        let town = absolute("GT_TOWN_ROOT").or_else(|| absolute("GT_ROOT"));
        Self {
            ours: config.map(|config| config.join("gangline/runtimes.json")),
            gastown: below(".gastown/runtimes.json"),
            town: town.or_else(|| below("gt")),
            home,
        }
    }

    /// Returns the rig that a folder belongs to: the first folder below Gas Town's. What lies
    /// deeper is a clone of somebody's repository, which does not say which programs are started.
    #[must_use]
    pub fn rig(&self, directory: &Path) -> Option<PathBuf> {
        let town = self.town.as_ref()?;
        let first = directory.strip_prefix(town).ok()?.components().next()?;
        Some(town.join(first))
    }
}
