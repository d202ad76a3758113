//! Statements: each is prepared once for a connection, kept there, and run at once on the thread
//! that asks.

use rusqlite::{Connection, OptionalExtension, Params, Result, Row, types::FromSql};

/// Runs a statement that returns no rows. Returns how many it changed.
pub(super) fn run(c: &Connection, sql: &str, with: impl Params) -> Result<u64> {
    c.prepare_cached(sql)?.execute(with).map(|rows| rows as u64)
}

/// Reads the first row, if there is one.
pub(super) fn first<T>(
    c: &Connection,
    sql: &str,
    with: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    one(c, sql, with, read).optional()
}

/// Reads the first row, which must be there.
pub(super) fn one<T>(
    c: &Connection,
    sql: &str,
    with: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<T> {
    c.prepare_cached(sql)?.query_row(with, read)
}

/// Reads all rows.
pub(super) fn all<T>(
    c: &Connection,
    sql: &str,
    with: impl Params,
    read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    c.prepare_cached(sql)?.query_map(with, read)?.collect()
}

/// Reads the only column of a row.
pub(super) fn column<T: FromSql>(row: &Row<'_>) -> Result<T> {
    row.get(0)
}
