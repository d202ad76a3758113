//! Looks into a database file from outside, as an operator would.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, Row, types::ValueRef};

use crate::wait::PATIENCE;

/// Returns what SQLite says of the file's soundness: `ok` when there is nothing to say. For a
/// file that nobody has open.
///
/// # Panics
/// When the file cannot be opened.
#[must_use]
pub fn integrity_check(path: &Path) -> String {
    query(path, "PRAGMA integrity_check").join("\n")
}

/// Returns the first column of every row. Waits for whoever recovers the file after a death, or
/// closes it.
///
/// # Panics
/// When the file cannot be opened or the statement is wrong.
#[must_use]
pub fn query(path: &Path, sql: &'static str) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(PATIENCE).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], first).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// A file that nobody else can write into until this is dropped.
pub struct Held(#[expect(dead_code, reason = "it ends when it is dropped")] Connection);

/// Keeps all others from writing.
///
/// # Panics
/// When somebody else does for too long.
#[must_use]
pub fn hold(path: &Path) -> Held {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(PATIENCE).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    Held(connection)
}

/// Returns whether somebody could write into it just now. It must be there.
///
/// # Panics
/// When the file cannot be opened.
#[must_use]
pub fn is_free(path: &Path) -> bool {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok()
}

fn first(row: &Row<'_>) -> rusqlite::Result<String> {
    Ok(match row.get_ref(0)? {
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => String::new(),
    })
}
