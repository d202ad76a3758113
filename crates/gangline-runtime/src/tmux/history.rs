//! Which session a program in a terminal is in, where it does not let that be chosen: its own
//! record of what was typed tells, by the very text that we typed.
//!
//! Without it a restart could only ask for the newest session, and of two agents with one login each
//! could get the other's, even in another folder. So what is not in it is begun anew.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use gangline_os::json;
use serde::Deserialize;

use super::profile::Profile;
use crate::SessionId;

/// So much of its end is searched for what was typed, in bytes.
const TAIL: u64 = 1024 * 1024;
/// So much is searched for a session, in bytes.
const ALL: u64 = 64 * 1024 * 1024;

/// The record, and what is looked for in it.
#[derive(Debug)]
pub(super) struct History {
    file: PathBuf,
    /// What was typed last and is not found yet.
    typed: Option<String>,
    /// The session is known.
    known: bool,
}

#[derive(Deserialize)]
struct Entry {
    session_id: String,
    text: String,
}

impl History {
    /// Returns the record of a program that keeps one.
    pub(super) fn of(profile: &Profile, env: &BTreeMap<String, String>) -> Option<Self> {
        let kept = profile.history.as_ref()?;
        let account = profile.account_variable.as_ref().and_then(|name| env.get(name));
        let folder = match account.filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder),
            None => Path::new(env.get("HOME")?).join(&kept.home),
        };
        Some(Self { file: folder.join(&kept.file), typed: None, known: false })
    }

    /// Returns whether the session is one of the program's own.
    pub(super) fn holds(&self, session: &SessionId) -> bool {
        let told = format!("\"session_id\":\"{}\"", session.0);
        let Ok(file) = File::open(&self.file) else { return false };
        let mut lines = BufReader::new(file.take(ALL)).lines().map_while(Result::ok);
        lines.any(|line| line.contains(&told))
    }

    pub(super) fn typed(&mut self, text: &str) {
        self.typed = (!self.known).then(|| text.to_owned());
    }

    /// Returns the session, once: as soon as the record has what was typed.
    pub(super) fn session(&mut self) -> Option<SessionId> {
        let typed = self.typed.take()?;
        let session = find(&self.file, &typed).ok().flatten()?;
        self.known = true;
        Some(session)
    }
}

/// The newest entry counts: others may have typed the same before.
fn find(file: &Path, typed: &str) -> io::Result<Option<SessionId>> {
    let mut file = File::open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    let mut lines = tail.rsplit(|byte| *byte == b'\n');
    Ok(lines.find_map(|line| {
        let entry: Entry = json::from_slice(line).ok()?;
        (entry.text.trim() == typed.trim()).then_some(SessionId(entry.session_id))
    }))
}

#[cfg(test)]
mod tests;
