//! The installation's own secrets, kept current.
//!
//! While a daemon runs, the hub may replace the owner's token, and makes a password for each new
//! agent. The current secrets are masked, not only those from the daemon's start. Looks at file
//! times, and reads a file only when it is new. Start at [`OwnSecrets::more`].

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use gangline_core::{KnownSecret, Redactor};
use gangline_os::fsio;

use crate::tokens::OWNER_TOKEN;

/// What stands for the owner's token where somebody decides.
const OWNERS: &str = "owner token";
/// The file of an agent's password, in its folder.
const AGENT_SECRET: &str = "irc.secret";
/// A secret's file is one short line.
const FILE_MAX: u64 = 4096;

/// By what a file or folder is known to be another one.
type Stamp = (u64, u64, SystemTime);

/// What was read of them so far.
#[derive(Debug)]
pub(crate) struct OwnSecrets {
    owner_file: PathBuf,
    agents: PathBuf,
    /// The owner's token and the folder of agents, at the last look.
    seen: [Option<Stamp>; 2],
    /// Files of agents that had no password at the last look.
    missing: Vec<PathBuf>,
}

/// Returns what masks the secrets that an installation has by now, by their values.
#[must_use]
pub fn masks(state: &Path) -> Redactor {
    Redactor::named(OwnSecrets::of(state).more())
}

impl OwnSecrets {
    pub(crate) fn of(state: &Path) -> Self {
        let (owner_file, agents) = (state.join(OWNER_TOKEN), state.join("agents"));
        Self { owner_file, agents, seen: [None; 2], missing: Vec::new() }
    }

    /// Returns the secrets that were not there at the last call.
    pub(crate) fn more(&mut self) -> Vec<KnownSecret> {
        let [owner, agents] = [stamp(&self.owner_file), stamp(&self.agents)];
        let mut found = Vec::new();
        if owner != self.seen[0] {
            found.extend(read(&self.owner_file).map(|token| KnownSecret::new(OWNERS, token)));
        }
        if agents != self.seen[1] {
            let folders = fs::read_dir(&self.agents).into_iter().flatten().flatten();
            self.missing = folders.map(|folder| folder.path().join(AGENT_SECRET)).collect();
        }
        self.seen = [owner, agents];
        self.missing.retain(|file| match read(file) {
            Some(secret) => {
                found.push(KnownSecret::new(of_agent(file), secret));
                false
            }
            None => true,
        });
        found
    }
}

/// Returns what stands for the password in an agent's folder.
fn of_agent(file: &Path) -> String {
    let nick = file.parent().and_then(Path::file_name).unwrap_or_default();
    format!("IRC password of {}", nick.to_string_lossy())
}

fn stamp(path: &Path) -> Option<Stamp> {
    let about = fs::metadata(path).ok()?;
    Some((about.ino(), about.len(), about.modified().ok()?))
}

fn read(path: &Path) -> Option<String> {
    let text = fsio::read_text_capped(path, FILE_MAX).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    //! Files that come and change.

    use super::*;

    fn more(secrets: &mut OwnSecrets) -> Vec<String> {
        secrets.more().into_iter().map(|it| it.value).collect()
    }

    #[test]
    fn what_is_new_or_replaced_is_told_once() {
        let state = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = state.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fsio::write_private(&path, text.as_bytes()).unwrap();
        };
        let mut secrets = OwnSecrets::of(state.path());
        assert_eq!(more(&mut secrets), [""; 0]);
        write("owner.token", "first-token\n");
        write("agents/ada/irc.secret", "of-ada\n");
        let found = secrets.more();
        let sources: Vec<_> = found.iter().map(|it| it.source.as_str()).collect();
        let values: Vec<_> = found.iter().map(|it| it.value.as_str()).collect();
        assert_eq!(values, ["first-token", "of-ada"]);
        assert_eq!(sources, ["owner token", "IRC password of ada"]);
        assert_eq!(more(&mut secrets), [""; 0]);
        // A new agent's folder is there before its password.
        fs::create_dir_all(state.path().join("agents/bob")).unwrap();
        assert_eq!(more(&mut secrets), ["of-ada"]);
        write("agents/bob/irc.secret", "of-bob");
        assert_eq!(more(&mut secrets), ["of-bob"]);
        write("owner.token", "other-token\n");
        assert_eq!(more(&mut secrets), ["other-token"]);
        assert_eq!(more(&mut secrets), [""; 0]);
    }
}
