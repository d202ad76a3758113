//! Where the program keeps its login and its transcripts, and whether the login has changed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Files by which a login comes: the program's own, and settings that name a helper or a key.
const FILES: [&str; 2] = [".credentials.json", "settings.json"];

/// The program's folder. Unknown when neither a folder nor a home is in its environment.
#[derive(Debug, Clone)]
pub(super) struct Login {
    folder: Option<PathBuf>,
}

/// How the files of a login look; a different one means that somebody wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look([Option<(u64, Option<SystemTime>)>; FILES.len()]);

impl Login {
    pub(super) fn new(env: &BTreeMap<String, String>) -> Self {
        let named = env.get("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        let home = || env.get("HOME").map(|home| Path::new(home).join(".claude"));
        Self { folder: named.or_else(home) }
    }

    /// Returns the folder for people.
    pub(super) fn shown(&self) -> String {
        match &self.folder {
            Some(folder) => folder.display().to_string(),
            None => "its configuration folder".to_owned(),
        }
    }

    /// Returns the folder of the transcripts, if the program's folder is known.
    pub(super) fn projects(&self) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join("projects"))
    }

    /// Looks at the files of the login.
    pub(super) fn look(&self) -> Look {
        let state = |name: &str| {
            let data = fs::metadata(self.folder.as_ref()?.join(name)).ok()?;
            Some((data.len(), data.modified().ok()))
        };
        Look(FILES.map(state))
    }

    /// Says whether there is surely no transcript of this session: the program would refuse to
    /// resume it. A session gets one with its first turn.
    pub(super) fn transcript_is_missing(&self, session: &str) -> bool {
        let (Some(folder), Ok(id)) = (&self.folder, uuid::Uuid::parse_str(session)) else {
            return false;
        };
        let file = format!("{}.jsonl", id.hyphenated());
        let projects = match fs::read_dir(folder.join("projects")) {
            Ok(projects) => projects,
            Err(error) => return error.kind() == std::io::ErrorKind::NotFound,
        };
        !projects.flatten().any(|project| project.path().join(&file).exists())
    }
}

#[cfg(test)]
mod tests;
