//! Files that have several names (hard links): whether one of the names lies where nothing may be used.
//!
//! A path tells nothing of a file's other names, so files are compared by device and number. Only files with
//! several names are looked for, and most folders have none. Start at [`Others::below`].

use std::{
    collections::HashSet,
    fs::{self, Metadata},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

#[cfg(test)]
mod tests;

/// So many entries are looked at; of what lies behind them nobody knows.
pub const ENTRIES_MAX: usize = 50_000;

/// The files with several names of some places.
#[derive(Debug, Default)]
pub struct Others {
    files: HashSet<(u64, u64)>,
    /// How many entries were looked at.
    entries: usize,
}

/// Whether a file has another name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It has one name only, or none of the others is there.
    No,
    /// It has.
    Yes,
    /// There were too many entries to look at.
    Unknown,
}

impl Others {
    /// Looks for files with several names among these files and below these folders; `counts` says which paths
    /// count. Links are not followed, and what cannot be looked at is passed over.
    #[must_use]
    pub fn below(places: &[PathBuf], counts: &dyn Fn(&Path) -> bool) -> Self {
        let mut others = Self::default();
        let mut waiting = places.to_vec();
        while let Some(path) = waiting.pop() {
            others.entries += 1;
            if others.entries > ENTRIES_MAX {
                break;
            }
            let Ok(about) = fs::symlink_metadata(&path) else { continue };
            if about.is_dir() {
                let below = fs::read_dir(&path).into_iter().flatten().flatten();
                waiting.extend(below.map(|entry| entry.path()));
            } else if has_several(&about) && counts(&path) {
                others.files.insert((about.dev(), about.ino()));
            }
        }
        others
    }

    /// Returns whether this file has another name there.
    #[must_use]
    pub fn have(&self, file: &Metadata) -> Found {
        match self.files.contains(&(file.dev(), file.ino())) {
            _ if !has_several(file) => Found::No,
            true => Found::Yes,
            false if self.entries > ENTRIES_MAX => Found::Unknown,
            false => Found::No,
        }
    }
}

/// Returns whether a file has several names.
#[must_use]
pub fn has_several(about: &Metadata) -> bool {
    about.is_file() && about.nlink() > 1
}
