//! The model that somebody chose for an agent instead of the configured one (R2-04): a file in the
//! agent's folder, so that it survives restarts and can be written while no daemon runs. There is
//! one for each backend that the agent has had, by its
//! [`gangline_runtime::registry::Found::owner`]: one backend's model names mean nothing to another.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use gangline_core::{AgentName, model::ModelName};
use gangline_os::{fsio, paths::Paths};
use tracing::warn;

/// What the file's name begins with, and the whole name of one that is nobody's.
const FILE: &str = "model";
/// More than any name has.
const MOST: u64 = 1024;

/// Returns where the choice for this agent and its backend lies.
pub(crate) fn file(paths: &Paths, agent: &AgentName, owner: &str) -> PathBuf {
    paths.agent_dir(agent.as_str()).join(format!("{FILE}.{owner}"))
}

/// Makes a choice from before there was one for each backend that of the configured backend. What
/// cannot be moved stays where it is, without effect.
pub fn adopt(paths: &Paths, agent: &AgentName, configured: &str) {
    let old = paths.agent_dir(agent.as_str()).join(FILE);
    match fs::rename(&old, file(paths, agent, configured)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            warn!(file = %old.display(), %error, "cannot move the chosen model to its new file");
        }
        _ => {}
    }
}

/// Returns the model that was chosen; none if there is no choice, or no readable one.
#[must_use]
pub fn chosen(paths: &Paths, agent: &AgentName, owner: &str) -> Option<ModelName> {
    read(&file(paths, agent, owner))
}

/// Returns the model that was chosen: the one in the agent's own file, else the one in the file that
/// the surroundings name ([`Settings::model_file`](crate::Settings)).
pub(crate) fn current(own: &Path, outside: Option<&Path>) -> Option<ModelName> {
    read(own).or_else(|| read(outside?))
}

/// Chooses a model, or goes back to the configuration's.
///
/// # Errors
/// The agent's folder cannot be written.
pub fn choose(
    paths: &Paths,
    agent: &AgentName,
    owner: &str,
    model: Option<&ModelName>,
) -> io::Result<()> {
    let file = file(paths, agent, owner);
    match model {
        Some(model) => {
            if let Some(folder) = file.parent() {
                fsio::private_dir(folder)?;
            }
            fsio::write_private(&file, format!("{model}\n").as_bytes())
        }
        None => fsio::remove_synced(&file),
    }
}

pub(crate) fn read(file: &Path) -> Option<ModelName> {
    match fsio::read_text_capped(file, MOST) {
        Ok(text) => match text.trim().parse() {
            Ok(model) => Some(model),
            Err(error) => {
                warn!(file = %file.display(), %error, "the chosen model has an invalid name");
                None
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            warn!(file = %file.display(), %error, "cannot read which model was chosen");
            None
        }
    }
}

#[cfg(test)]
mod tests;
