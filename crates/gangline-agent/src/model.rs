//! The model that somebody chose for an agent, over the one of the configuration (R2-04): a file in
//! the agent's folder, so that it outlives every daemon and can be written while none runs.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use gangline_core::{AgentName, model::ModelName};
use gangline_os::{fsio, paths::Paths};
use tracing::warn;

/// The file's name.
const FILE: &str = "model";
/// More than any name has.
const MOST: u64 = 1024;

/// Returns where the choice for this agent lies.
pub(crate) fn file(paths: &Paths, agent: &AgentName) -> PathBuf {
    paths.agent_dir(agent.as_str()).join(FILE)
}

/// Returns the model that was chosen; none if there is no choice, or no readable one.
#[must_use]
pub fn chosen(paths: &Paths, agent: &AgentName) -> Option<ModelName> {
    read(&file(paths, agent))
}

/// Chooses a model, or goes back to the configuration's.
///
/// # Errors
/// The agent's folder cannot be written.
pub fn choose(paths: &Paths, agent: &AgentName, model: Option<&ModelName>) -> io::Result<()> {
    let file = file(paths, agent);
    match model {
        Some(model) => {
            if let Some(folder) = file.parent() {
                fsio::private_dir(folder)?;
            }
            fsio::write_private(&file, format!("{model}\n").as_bytes())
        }
        None => match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    }
}

pub(crate) fn read(file: &Path) -> Option<ModelName> {
    match fsio::read_text_capped(file, MOST) {
        Ok(text) => match text.trim().parse() {
            Ok(model) => Some(model),
            Err(error) => {
                warn!(file = %file.display(), %error, "the chosen model is none");
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
