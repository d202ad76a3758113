//! Waiting for what a command shows, without running it over and over: it is run again when a file
//! of the state folder has changed. Start at [`World::eventually_seeing`].

use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use super::World;
use crate::wait;

impl World {
    /// Waits for what only a command shows, such as whether a daemon's process is there; `look` says
    /// what it sees instead of the fact. What stands in the store is read there.
    ///
    /// # Panics
    /// When nothing was found in time; shows what was seen last.
    pub fn eventually_seeing<T>(&self, what: &str, look: impl FnMut() -> Result<T, String>) -> T {
        wait::after_changes(what, || self.stamp(), look)
    }

    /// Returns a number that changes with every file below the folders of state.
    fn stamp(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let mut folders = vec![self.path("state")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let Ok(about) = entry.metadata() else { continue };
                (entry.file_name(), about.len(), about.modified().ok()).hash(&mut hasher);
                if about.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        hasher.finish()
    }
}
