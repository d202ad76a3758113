//! Failures on the way to the caller, sorted by what they mean for the storage.

use std::{error::Error, time::Duration};

use crate::error::{StoreError, Written};

/// Why a write or a read failed.
pub(crate) enum Fault {
    /// The request itself could not be met; the storage is well.
    Said(StoreError),
    /// The engine failed.
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Said(error)
    }
}

/// What an engine's error says of the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Another user of the file does not let us.
    Busy,
    /// The disk is full or fails, or the connection is gone.
    Storage,
    /// The file is damaged.
    Corrupt,
    /// The file is something else.
    NotADatabase,
    /// One statement or row.
    Statement,
}

/// Sorts an engine's error by its primary result code.
pub(crate) fn kind(error: &rusqlite::Error) -> Kind {
    let Some(code) = error.sqlite_error() else { return Kind::Statement };
    match code.extended_code & 0xff {
        5 | 6 => Kind::Busy,
        7 | 8 | 10 | 13 | 14 | 15 => Kind::Storage,
        11 => Kind::Corrupt,
        26 => Kind::NotADatabase,
        _ => Kind::Statement,
    }
}

/// Returns an error and its causes in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        below = cause.source();
    }
    text
}

/// Makes the error that the caller gets.
pub(crate) fn store_error(op: &'static str, error: rusqlite::Error, busy: Duration) -> StoreError {
    match kind(&error) {
        Kind::Busy => StoreError::Busy { waited: busy },
        Kind::Storage => StoreError::Degraded { op, cause: chain(&error), written: Written::No },
        Kind::Corrupt | Kind::NotADatabase => StoreError::Corrupt { op, source: error.into() },
        Kind::Statement => StoreError::Engine { op, source: error.into() },
    }
}

/// Returns the same failure once more, for another caller of the same commit.
pub(crate) fn again(op: &'static str, error: &StoreError) -> StoreError {
    match error {
        StoreError::Busy { waited } => StoreError::Busy { waited: *waited },
        StoreError::Degraded { cause, written, .. } => {
            StoreError::Degraded { op, cause: cause.clone(), written: *written }
        }
        StoreError::Corrupt { source, .. } => {
            StoreError::Corrupt { op, source: chain(source.as_ref()).into() }
        }
        other => StoreError::Engine { op, source: chain(other).into() },
    }
}
