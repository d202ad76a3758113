//! The effort that somebody chose for an agent's model instead of the configured one (R0-65): a file in the
//! agent's folder, so that it survives restarts and can be written while no daemon runs. As with
//! the model ([`crate::model`]), each backend that the agent has had has a file, since its levels are its own.

use std::{
    io,
    path::{Path, PathBuf},
};

use gangline_core::{AgentName, effort::EffortLevel};
use gangline_os::{fsio, paths::Paths};
use tracing::warn;

/// What the file's name begins with.
const FILE: &str = "effort";
/// The most bytes that are read of the file.
const MOST: u64 = 64;

/// Returns the file with the choice for this agent and its backend.
pub(crate) fn file(paths: &Paths, agent: &AgentName, owner: &str) -> PathBuf {
    paths.agent_dir(agent.as_str()).join(format!("{FILE}.{owner}"))
}

/// Returns the effort that was chosen; none if there is no choice, or no readable one.
#[must_use]
pub fn chosen(paths: &Paths, agent: &AgentName, owner: &str) -> Option<EffortLevel> {
    read(&file(paths, agent, owner))
}

/// Chooses an effort, or goes back to the configuration's.
///
/// # Errors
/// The agent's folder cannot be written.
pub fn choose(
    paths: &Paths,
    agent: &AgentName,
    owner: &str,
    effort: Option<EffortLevel>,
) -> io::Result<()> {
    let file = file(paths, agent, owner);
    let Some(effort) = effort else { return fsio::remove_synced(&file) };
    if let Some(folder) = file.parent() {
        fsio::private_dir(folder)?;
    }
    fsio::write_private(&file, format!("{effort}\n").as_bytes())
}

pub(crate) fn read(file: &Path) -> Option<EffortLevel> {
    match fsio::read_text_capped(file, MOST) {
        Ok(text) => match text.trim().parse() {
            Ok(effort) => Some(effort),
            Err(error) => {
                warn!(file = %file.display(), %error, "the chosen effort is not a level");
                None
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            warn!(file = %file.display(), %error, "cannot read which effort was chosen");
            None
        }
    }
}

#[cfg(test)]
mod tests;
