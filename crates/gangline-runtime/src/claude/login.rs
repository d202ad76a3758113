//! Where the program keeps its login and its transcripts, and whether the login has changed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::program::login::Files;

/// Files by which a login comes: the program's own, and settings that name a helper or a key.
const FILES: [&str; 2] = [".credentials.json", "settings.json"];

/// The program's folder. Unknown when neither a folder nor a home is in its environment.
#[derive(Debug, Clone)]
pub(super) struct Login {
    folder: Option<PathBuf>,
}

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

    /// Returns what of the program's own the model reads by its tools: skills, and long results of
    /// this session, which the program keeps beside its transcript.
    pub(super) fn read_by_tools(&self, workdir: &Path, session: &str) -> Vec<PathBuf> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let named = uuid::Uuid::parse_str(session).is_ok();
        let session = folder.join("projects").join(munged(workdir)).join(session);
        let always = [folder.join("skills"), folder.join("plugins")];
        always.into_iter().chain(named.then_some(session)).collect()
    }

    /// Returns the files by which a login comes.
    pub(super) fn files(&self) -> Files {
        Files::of(self.folder.as_deref(), &FILES)
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

/// Returns the name of the folder that the program has for a working folder, if that is short enough.
pub(super) fn munged(workdir: &Path) -> String {
    let text = workdir.to_string_lossy();
    let units = text.chars().flat_map(|c| {
        let shown = if c.is_ascii_alphanumeric() { c } else { '-' };
        std::iter::repeat_n(shown, c.len_utf16())
    });
    units.collect()
}

#[cfg(test)]
mod tests;
