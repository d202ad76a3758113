//! Looks into a database file from outside, as an operator would.

use std::path::Path;

use sqlx::{ConnectOptions, Connection as _, Row, sqlite::SqliteConnectOptions};

/// Returns what SQLite says of the file's soundness: `ok` when there is nothing to say. For a
/// file that nobody has open.
///
/// # Panics
/// When the file cannot be opened.
#[must_use]
pub fn integrity_check(path: &Path) -> String {
    query(path, "PRAGMA integrity_check").join("\n")
}

/// Returns the first column of every row.
///
/// # Panics
/// When the file cannot be opened or the statement is wrong.
#[must_use]
pub fn query(path: &Path, sql: &'static str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(path).disable_statement_logging();
        let mut connection = options.connect().await.unwrap();
        let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
        // Dropped, it would be closed behind our back, and a last one writes as it goes.
        connection.close().await.unwrap();
        rows.iter()
            .map(|row| {
                row.try_get::<String, _>(0)
                    .or_else(|_| row.try_get::<i64, _>(0).map(|number| number.to_string()))
                    .unwrap_or_default()
            })
            .collect()
    })
}
