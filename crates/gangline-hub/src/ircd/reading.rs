//! How rows of `irc.db` are read: from which end, and what a word that nobody knows comes to.

use rusqlite::types::Type;

/// From which end of a span entries are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Oldest,
    Newest,
}

/// Returns the error of a column whose text is not what it must be.
pub(super) fn decode(error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error))
}
