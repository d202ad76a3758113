//! `set_directory`: confirms a folder, and tells the agent what its instructions say (R1-24, C14).
//!
//! The daemon reads the file within the bounds of the agent's tool `Read`: it does not show what a person
//! would have to allow, nor what is closed. Other callers learn only that the folder exists. Links are
//! resolved first, and the file is opened by the path that was judged.

use std::{
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use gangline_api::ipc::SetDirectoryData;
use gangline_core::{
    permission::Permit,
    reading::{Access, CLOSED, Extent},
};
use gangline_os::{
    exact, fsio,
    names::{self, Others},
};

use super::{
    readable::Readable,
    requests::{Reply, Requests, shown},
};
use crate::tokens::Who;

/// The file that tells an agent about a folder (R1-24).
const INSTRUCTIONS: &str = "CLAUDE.md";
/// The most that is read of it, in bytes: it has to fit into a response.
const INSTRUCTIONS_MAX: u64 = 40 * 1024;
/// The tool whose rule decides.
const READ: &str = "Read";
/// The warning for a caller that is not the agent.
const AGENTS_ALONE: &str = "only the agent itself can read its CLAUDE.md here";

/// The instructions of a folder.
enum Found {
    /// It has none.
    Nothing,
    Text(PathBuf, String),
    /// The agent's own tool has to read them, since a person must allow it.
    Withheld(PathBuf),
}

impl Requests {
    /// Confirms the folder and tells the agent its instructions, if it has any; nothing else changes
    /// (C14).
    pub(super) async fn set_directory(&self, who: Who, folder: PathBuf) -> Result<Reply, String> {
        let readable = self.readable.clone();
        let looked = move || look(&readable, who, &folder);
        let looked = tokio::task::spawn_blocking(looked).await;
        let (directory, found, warning) = looked.map_err(|error| error.to_string())??;
        let (path, text) = match found {
            Found::Text(path, text) => (Some(shown(&path)), text),
            Found::Withheld(_) | Found::Nothing => (None, String::new()),
        };
        let reply = Reply::new(&SetDirectoryData { directory, path, text })?;
        Ok(reply.warning(warning))
    }
}

/// Returns the folder's name, its instructions, and why they are not shown.
fn look(
    readable: &Readable,
    who: Who,
    folder: &Path,
) -> Result<(String, Found, Option<String>), String> {
    if !folder.is_absolute() {
        return Err("'path' must be absolute".to_owned());
    }
    let directory = shown(folder);
    let place = fsio::resolved(folder);
    if readable.bounds.access(&place, Extent::Alone) == Access::Closed {
        return Err(CLOSED.to_owned());
    }
    match std::fs::metadata(&place) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(format!("{directory} is not a folder")),
        Err(error) => return Err(format!("cannot look at {directory}: {error}")),
    }
    if who != Who::Agent {
        return Ok((directory, Found::Nothing, Some(AGENTS_ALONE.to_owned())));
    }
    let found = readable.instructions(&folder.join(INSTRUCTIONS))?;
    let withheld = match &found {
        Found::Withheld(at) => Some(format!(
            "its {INSTRUCTIONS} is {}, which lies outside your folder: use your own tool to read it",
            shown(at)
        )),
        Found::Nothing | Found::Text(..) => None,
    };
    Ok((directory, found, withheld))
}

impl Readable {
    fn instructions(&self, path: &Path) -> Result<Found, String> {
        let cannot = |error: io::Error| format!("cannot read {}: {error}", shown(path));
        // What is judged is what is opened: a link that changes from here on opens nothing.
        let place = fsio::resolved(path);
        match std::fs::symlink_metadata(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(cannot(error)),
            Ok(found) if !found.is_file() => return Err(format!("{} is not a file", shown(path))),
            Ok(_) => {}
        }
        match self.policy.on_file(READ, self.bounds.access(&place, Extent::Alone)) {
            Permit::Deny(why) => return Err(why),
            Permit::Ask => return Ok(Found::Withheld(place)),
            Permit::Allow => {}
        }
        let file = exact::open(&place).map_err(cannot)?;
        let about = file.metadata().map_err(cannot)?;
        if !about.is_file() {
            return Err(format!("{} is not a file", shown(path)));
        }
        if names::has_several(&about) {
            let is_closed = |path: &Path| self.bounds.access(path, Extent::Alone) == Access::Closed;
            match Others::below(&self.bounds.closed, &is_closed).have(&about) {
                names::Found::Yes => return Err(CLOSED.to_owned()),
                names::Found::Unknown => return Ok(Found::Withheld(place)),
                names::Found::No => {}
            }
        }
        let mut text = String::new();
        file.take(INSTRUCTIONS_MAX + 1).read_to_string(&mut text).map_err(cannot)?;
        if u64::try_from(text.len()).unwrap_or(u64::MAX) > INSTRUCTIONS_MAX {
            return Err(format!(
                "{} has more than {INSTRUCTIONS_MAX} bytes, the most that are shown here: read it yourself",
                shown(path)
            ));
        }
        Ok(Found::Text(path.to_owned(), text))
    }
}
