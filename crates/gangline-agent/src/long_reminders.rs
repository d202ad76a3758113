//! Reminders that are too long for a message: each is a file in the agent's own state folder, and the
//! message says where it is (R2-28).

use std::{
    io,
    path::{Path, PathBuf},
};

use gangline_core::{
    AgentName,
    digest::sha256_hex,
    redact::{Redacted, Redactor},
    reminder::{BODY_MAX, SPILL_ABOVE},
};
use gangline_os::{fsio, paths::Paths};

use crate::container::Container;

/// The folder, in the agent's own.
const FOLDER: [&str; 2] = ["state", "reminders"];
/// How many bytes of a hash a file is named by.
const NAME: usize = 8;

/// Why a reminder's text was not stored.
#[derive(Debug, thiserror::Error)]
pub enum TooLong {
    /// It is longer than [`BODY_MAX`].
    #[error("the text is longer than {BODY_MAX} bytes")]
    Refused,
    /// Its file could not be written.
    #[error("the text is longer than {SPILL_ABOVE} bytes, and its file cannot be written")]
    Write(#[source] io::Error),
}

/// Returns the folder of an agent's long reminders: `state/reminders/` in its own folder, or
/// `/state/reminders/` in a container that has `/state`.
#[must_use]
pub fn folder(paths: &Paths, agent: &AgentName, container: Option<&Container>) -> PathBuf {
    let [state, reminders] = FOLDER;
    let mounted = container.and_then(Container::mounted).map(Path::to_owned);
    mounted.unwrap_or_else(|| paths.agent_dir(agent.folded()).join(state)).join(reminders)
}

/// Returns the text of a reminder as it is stored, without secrets. One of more than [`SPILL_ABOVE`] bytes is written to a
/// file, and what is returned says where. The same text again is the same file.
///
/// # Errors
/// [`TooLong`]; nothing is to be stored then.
pub fn stored(folder: &Path, redactor: &Redactor, text: &str) -> Result<Redacted, TooLong> {
    let text = redactor.redact(text);
    let bytes = text.as_str().len();
    if bytes > BODY_MAX {
        return Err(TooLong::Refused);
    }
    if bytes <= SPILL_ABOVE {
        return Ok(text);
    }
    let name = format!("{}.md", sha256_hex(text.as_str().as_bytes(), NAME));
    let path = folder.join(name);
    let written = fsio::private_dir(folder)
        .and_then(|()| fsio::write_private(&path, text.as_str().as_bytes()));
    written.map_err(TooLong::Write)?;
    let pointer = format!("The reminder is in the file {} ({bytes} bytes).", path.display());
    Ok(redactor.redact(&pointer))
}

#[cfg(test)]
mod tests;
