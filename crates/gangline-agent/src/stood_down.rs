//! The rooms in which the agent stands down: a file in the agent's folder, so that it survives
//! restarts. There other agents cannot prompt it until a person mentions it again.

use std::{collections::BTreeSet, io, path::PathBuf};

use gangline_core::{AgentName, ChannelName};
use gangline_os::{fsio, paths::Paths};
use tracing::warn;

const FILE: &str = "stood_down";
/// The file's size, in bytes; more than all the rooms that an agent can be in need.
const MOST: u64 = 64 * 1024;

/// The rooms, as the file has them.
#[derive(Debug)]
pub(crate) struct StoodDown {
    file: PathBuf,
    rooms: BTreeSet<String>,
}

impl StoodDown {
    /// Reads the agent's rooms; without a readable file the set is empty.
    pub(crate) fn read(paths: &Paths, agent: &AgentName) -> Self {
        let file = paths.agent_dir(agent.as_str()).join(FILE);
        let rooms = match fsio::read_text_capped(&file, MOST) {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    warn!(file = %file.display(), %error, "cannot read where the agent stands down");
                }
                BTreeSet::new()
            }
        };
        Self { file, rooms }
    }

    pub(crate) fn is(&self, room: &ChannelName) -> bool {
        self.rooms.contains(room.folded())
    }

    /// The agent stands down in the room.
    ///
    /// # Errors
    /// The file cannot be written; then it does not.
    pub(crate) fn add(&mut self, room: &ChannelName) -> io::Result<()> {
        if self.rooms.insert(room.folded().to_owned())
            && let Err(error) = self.write()
        {
            self.rooms.remove(room.folded());
            return Err(error);
        }
        Ok(())
    }

    /// A person wants it there again. Returns whether it stood down; if that cannot be written, it
    /// does so again after a restart.
    pub(crate) fn lift(&mut self, room: &ChannelName) -> bool {
        let was = self.rooms.remove(room.folded());
        if was && let Err(error) = self.write() {
            warn!(file = %self.file.display(), %error, "cannot write where the agent stands down");
        }
        was
    }

    fn write(&self) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            fsio::private_dir(folder)?;
        }
        let text: String = self.rooms.iter().map(|room| format!("{room}\n")).collect();
        fsio::write_private(&self.file, text.as_bytes())
    }
}

#[cfg(test)]
mod tests;
