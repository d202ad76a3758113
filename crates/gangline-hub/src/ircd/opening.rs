//! How the history on disk is opened, and why it cannot be.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_os::{clock::SharedClock, lock::LockError};
use rusqlite::ErrorCode;

/// How the history is opened.
#[derive(Clone)]
pub struct HistoryOptions {
    /// The database; beside it stands `<path>.lock`.
    pub path: PathBuf,
    /// The time of day.
    pub clock: SharedClock,
    /// Lines kept of each channel and conversation; up to a tenth more are there at times.
    pub keep: u32,
    /// How long a write waits for another program that has the database open.
    pub busy: Duration,
}

impl HistoryOptions {
    /// Returns the default: 10,000 lines a target, 5 s of waiting.
    #[must_use]
    pub fn new(path: PathBuf, clock: SharedClock) -> Self {
        Self { path, clock, keep: 10_000, busy: Duration::from_secs(5) }
    }
}

/// Why the history cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process (a hub, or `gangline ircd`) has it.
    #[error("the IRC history is in use: only one server can run on it")]
    Lock(#[source] LockError),
    /// A newer Gangline has written it.
    #[error(
        "{} has schema {found}, this program knows {known}: use the Gangline that wrote it, or a \
         newer one",
        path.display()
    )]
    NewerSchema {
        /// The database.
        path: PathBuf,
        /// What it has.
        found: i64,
        /// What we know.
        known: i64,
    },
    /// It is damaged, or something else than a database.
    #[error(
        "{} is damaged and was not changed: move it away, with its -wal and -shm, or restore a \
         backup",
        path.display()
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was seen.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// SQLite could not open or read it.
    #[error("cannot open the IRC history {}", path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// The store's thread could not be started.
    #[error("cannot start the thread of the IRC history")]
    Thread(#[source] std::io::Error),
}

impl OpenError {
    /// Returns what SQLite's error says of the file.
    pub(super) fn of(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, source: error.into() }
            }
            _ => Self::Sqlite { path, source: error },
        }
    }
}
