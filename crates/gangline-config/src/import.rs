//! culture's configuration files, read as one Gangline configuration; they themselves stay as they
//! are.
//!
//! Pure but for `look`, by which [`import`] asks for the `culture.yaml` of each agent's folder.
//! Known are `server.yaml`, `agents.yaml` of the older form, `mesh.yaml` and `culture.yaml`, told
//! apart by what is in them. The limits of [`parse`](super::parse) hold for each file and for what
//! is written. Start at [`import`].

use std::path::{Path, PathBuf};

use super::{Config, ConfigError};

pub use self::{
    note::{At, Fate, Note},
    yaml::scalar,
};

mod agent;
mod gather;
mod note;
mod piece;
mod top;
mod write;
mod yaml;

/// A file to import.
#[derive(Debug, Clone)]
pub struct Source {
    path: PathBuf,
    name: String,
    text: String,
}

impl Source {
    /// Returns the source of a file; relative folders in it start at the file's own, so give the
    /// path from the root.
    #[must_use]
    pub fn new(path: PathBuf, text: String) -> Self {
        let name = path.display().to_string();
        Self { path, name, text }
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }
}

/// What was found where an agent's `culture.yaml` should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// Its text.
    Text(String),
    /// There is no such file.
    Absent,
    /// It has this many bytes, more than are read.
    TooLarge(u64),
    /// It is there and cannot be read, for this reason.
    Unreadable(String),
}

/// What an import gives.
#[derive(Debug, Clone)]
pub struct Import {
    /// The text of an `agents.yaml`, with comments; [`parse`](super::parse) reads it without a
    /// warning.
    pub text: String,
    /// What [`parse`](super::parse) reads in it.
    pub config: Config,
    /// The fate of each key and agent, in the order of the files.
    pub notes: Vec<Note>,
    /// Every file that was read, in order.
    pub read: Vec<PathBuf>,
}

/// Why nothing was imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Some of the files cannot be used; each with its faults.
    #[error("{}", joined(.0))]
    Files(Vec<ConfigError>),
    /// There is no agent in any of them.
    #[error("there is no agent to import in {0}")]
    NoAgents(String),
    /// Each file can be used, but not all of them as one.
    #[error("together the files are too large for one configuration: {0}")]
    Together(ConfigError),
}

fn joined(errors: &[ConfigError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// The kinds of files, by what is in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `server.yaml`: `agents: {suffix: directory}`, or no agents.
    Manifest,
    /// `agents.yaml` of S0 and S1: a list of agents with a `nick`.
    Legacy,
    /// `mesh.yaml`: a list of agents with a `type` and a `workdir`.
    Mesh,
    /// `culture.yaml`: one agent, or a list of agents with a `suffix`.
    Folder,
}

/// Reads culture's files as one configuration. The first file that says something about the server
/// decides; an agent that stands in several files in the same folder is taken from the first.
/// `look` reads a file named by an agent's folder, whose path may begin with `~/`.
///
/// # Errors
/// [`ImportError`], with every fault of every file.
pub fn import(sources: &[Source], look: &dyn Fn(&Path) -> Look) -> Result<Import, ImportError> {
    let mut gather = gather::Gather::new(look);
    gather.sources(sources);
    gather.finish()
}
