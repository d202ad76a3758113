//! The rooms in which the agent stands down: a file in the agent's folder, so that it survives
//! restarts. There other agents cannot prompt it until a person mentions it again.

use std::{collections::BTreeMap, io, path::PathBuf};

use gangline_core::{AgentName, ChannelName};
use gangline_os::{clock::UnixMicros, fsio, paths::Paths};
use tracing::warn;

const FILE: &str = "stood_down";
/// The file's size, in bytes; more than all the rooms that an agent can be in need.
const MOST: u64 = 64 * 1024;

/// The rooms, as the file has them: a line each, with the microsecond in which the word was said.
#[derive(Debug)]
pub(crate) struct StoodDown {
    file: PathBuf,
    rooms: BTreeMap<String, UnixMicros>,
}

impl StoodDown {
    /// Reads the agent's rooms; without a readable file the set is empty.
    pub(crate) fn read(paths: &Paths, agent: &AgentName) -> Self {
        let file = paths.agent_dir(agent.as_str()).join(FILE);
        let rooms = match fsio::read_text_capped(&file, MOST) {
            Ok(text) => text.lines().map(room).collect(),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    warn!(file = %file.display(), %error, "cannot read where the agent stands down");
                }
                BTreeMap::new()
            }
        };
        Self { file, rooms }
    }

    pub(crate) fn is(&self, room: &ChannelName) -> bool {
        self.rooms.contains_key(room.folded())
    }

    /// The agent stands down in the room, by a word that was said at this time.
    ///
    /// # Errors
    /// The file cannot be written; then nothing has changed.
    pub(crate) fn add(&mut self, room: &ChannelName, said: UnixMicros) -> io::Result<()> {
        let before = self.rooms.get(room.folded()).copied();
        if before.is_some_and(|before| before >= said) {
            return Ok(());
        }
        self.rooms.insert(room.folded().to_owned(), said);
        self.write().inspect_err(|_| {
            match before {
                Some(before) => self.rooms.insert(room.folded().to_owned(), before),
                None => self.rooms.remove(room.folded()),
            };
        })
    }

    /// A person wants it there again, by a line that was said at this time; what was said before the word,
    /// and is only read now, ends nothing. Returns whether it stood down until now; if that cannot be written, it does so again after a
    /// restart.
    pub(crate) fn lift(&mut self, room: &ChannelName, said: UnixMicros) -> bool {
        if self.rooms.get(room.folded()).is_none_or(|word| *word >= said) {
            return false;
        }
        self.rooms.remove(room.folded());
        if let Err(error) = self.write() {
            warn!(file = %self.file.display(), %error, "cannot write where the agent stands down");
        }
        true
    }

    fn write(&self) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            fsio::private_dir(folder)?;
        }
        let line = |(room, said): (&String, &UnixMicros)| format!("{room} {}\n", said.0);
        let text: String = self.rooms.iter().map(line).collect();
        fsio::write_private(&self.file, text.as_bytes())
    }
}

/// Reads a line of the file; an older program wrote the room only.
fn room(line: &str) -> (String, UnixMicros) {
    let (room, said) = line.split_once(' ').unwrap_or((line, ""));
    (room.to_owned(), UnixMicros(said.parse().unwrap_or(0)))
}

#[cfg(test)]
mod tests;
