//! Opening: what is refused, the pragmas, the migrations. The write lock is held by the caller.

use std::{fs::File, path::Path};

use sqlx::{
    ConnectOptions, Row, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteSynchronous},
};

use super::{
    Setup,
    fault::{self, Kind},
};
use crate::error::OpenError;

/// Marks a file as ours ("GANG").
const APPLICATION_ID: i64 = 0x4741_4E47;
/// The oldest SQLite without the corruption of a log shared by processes.
const SQLITE_MIN: &str = "3.51.3";
/// The oldest program that can use what the newest migration makes.
const MIN_BINARY: &str = "0.1.0";
/// Applied in order; the n-th makes schema n. Only added to, never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
];

/// Returns the options that all connections share. They change nothing in the file.
pub(crate) fn options(setup: &Setup) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(&setup.path)
        .create_if_missing(false)
        .busy_timeout(setup.tuning.busy_timeout)
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(false)
        .pragma("wal_autocheckpoint", "0")
        .pragma("journal_size_limit", "67108864")
        .pragma("mmap_size", "0")
        .thread_name(|_| "gangline-sqlite".to_owned())
        .disable_statement_logging()
}

/// A writing connection that is ready, and the log that its commits go to.
pub(crate) struct Opened {
    pub(crate) connection: SqliteConnection,
    pub(crate) wal: File,
    pub(crate) installation_id: String,
}

/// Opens the database for writing.
pub(crate) async fn open(setup: &Setup) -> Result<Opened, OpenError> {
    let path = &setup.path;
    let mut connection = options(setup).connect().await.map_err(|e| refused(setup, e))?;
    check_engine(&mut connection).await?;
    let schema = check_owner(setup, &mut connection).await?;
    let installation_id = prepare(&mut connection, schema).await.map_err(|e| refused(setup, e))?;
    // The first write statement is done: SQLite holds the log open, and nobody unlinks it now.
    let io = |source: std::io::Error| OpenError::Io { path: path.clone(), source: source.into() };
    let wal = File::open(&setup.files.wal).map_err(io)?;
    wal.sync_data().map_err(io)?;
    sync_folder(path).map_err(io)?;
    Ok(Opened { connection, wal, installation_id })
}

/// Looks at the database without changing it, for damage too if `whole`; returns its schema.
pub(crate) async fn look(setup: &Setup, whole: bool) -> Result<i64, OpenError> {
    // Without a log nobody has it open. A reader would make one, and could not take it away.
    let nobody = !setup.files.wal.exists();
    let looked = look_as(setup, whole, nobody).await;
    match nobody && setup.files.wal.exists() {
        true => look_as(setup, whole, false).await,
        false => looked,
    }
}

async fn look_as(setup: &Setup, whole: bool, immutable: bool) -> Result<i64, OpenError> {
    let options = options(setup).read_only(true).immutable(immutable);
    let mut connection = options.connect().await.map_err(|e| refused(setup, e))?;
    check_engine(&mut connection).await?;
    let schema = check_owner(setup, &mut connection).await?;
    let damage = match whole {
        true => check(&mut connection).await.err(),
        false => None,
    };
    // Its end is no news.
    let _ = sqlx::Connection::close(connection).await;
    match damage {
        Some(said) => Err(OpenError::Corrupt { path: setup.path.clone(), source: said.into() }),
        None => Ok(schema),
    }
}

fn refused(setup: &Setup, error: sqlx::Error) -> OpenError {
    let path = setup.path.clone();
    match fault::kind(&error) {
        Kind::Corrupt => OpenError::Corrupt { path, source: error.into() },
        Kind::NotADatabase => OpenError::NotADatabase { path, source: error.into() },
        Kind::Busy => OpenError::Busy {
            path,
            waited: setup.tuning.busy_timeout,
            holder: "a program that does not use the write lock".to_owned(),
        },
        Kind::Storage | Kind::Statement => OpenError::Io { path, source: error.into() },
    }
}

async fn check_engine(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    let found: String = sqlx::query_scalar("SELECT sqlite_version()")
        .fetch_one(connection)
        .await
        .unwrap_or_else(|_| "unknown".to_owned());
    if recent(&found) { Ok(()) } else { Err(OpenError::TooOldSqlite { found, wanted: SQLITE_MIN }) }
}

/// Returns whether a version is at least [`SQLITE_MIN`].
fn recent(version: &str) -> bool {
    let parts = |text: &str| -> Option<Vec<u32>> {
        text.split('.').map(|part| part.parse().ok()).collect()
    };
    match (parts(version), parts(SQLITE_MIN)) {
        (Some(found), Some(wanted)) => found >= wanted,
        _ => false,
    }
}

/// Returns the file's schema, if the file is ours and not of a newer program.
async fn check_owner(setup: &Setup, connection: &mut SqliteConnection) -> Result<i64, OpenError> {
    let facts = "SELECT (SELECT user_version FROM pragma_user_version()), \
                 (SELECT application_id FROM pragma_application_id()), \
                 (SELECT count(*) FROM sqlite_schema)";
    let row =
        sqlx::query(facts).fetch_one(&mut *connection).await.map_err(|e| refused(setup, e))?;
    let (schema, owner, objects): (i64, i64, i64) = (row.get(0), row.get(1), row.get(2));
    if owner != APPLICATION_ID && (owner != 0 || schema != 0 || objects != 0) {
        let source = "it belongs to another program".into();
        return Err(OpenError::NotADatabase { path: setup.path.clone(), source });
    }
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if schema > known {
        let min_binary = sqlx::query_scalar("SELECT value FROM meta WHERE key = 'min_binary'")
            .fetch_one(connection)
            .await
            .unwrap_or_else(|_| "(unknown)".to_owned());
        let path = setup.path.clone();
        return Err(OpenError::NewerSchema { path, found: schema, known, min_binary });
    }
    Ok(schema)
}

/// Makes the file a database in WAL mode with the newest schema. Returns the installation's id.
async fn prepare(connection: &mut SqliteConnection, schema: i64) -> Result<String, sqlx::Error> {
    let mode: String =
        sqlx::query_scalar("PRAGMA journal_mode = WAL").fetch_one(&mut *connection).await?;
    if mode != "wal" {
        return Err(sqlx::Error::Configuration(
            format!("the file system does not allow a write-ahead log (mode {mode})").into(),
        ));
    }
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    migrate(connection, schema).await?;
    sqlx::query("COMMIT").execute(&mut *connection).await?;
    sqlx::query_scalar("SELECT value FROM meta WHERE key = 'installation_id'")
        .fetch_one(connection)
        .await
}

async fn migrate(connection: &mut SqliteConnection, schema: i64) -> Result<(), sqlx::Error> {
    let done = usize::try_from(schema).unwrap_or(0);
    if done >= MIGRATIONS.len() {
        return Ok(());
    }
    for migration in &MIGRATIONS[done..] {
        sqlx::raw_sql(*migration).execute(&mut *connection).await?;
    }
    let note = "INSERT INTO meta (key, value) VALUES (?, ?) \
                ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    sqlx::query(note).bind("min_binary").bind(MIN_BINARY).execute(&mut *connection).await?;
    sqlx::query("INSERT OR IGNORE INTO meta (key, value) VALUES ('installation_id', ?)")
        .bind(uuid::Uuid::new_v4().simple().to_string())
        .execute(&mut *connection)
        .await?;
    let marks = format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {}",
        MIGRATIONS.len()
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(marks)).execute(connection).await?;
    Ok(())
}

/// Makes the names of new files durable.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Looks through the whole file for damage; for the rare case that the log was taken away.
pub(crate) async fn check(connection: &mut SqliteConnection) -> Result<(), String> {
    let said: Result<String, _> =
        sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(connection).await;
    match said {
        Ok(said) if said == "ok" => Ok(()),
        Ok(said) => Err(said),
        Err(error) => Err(fault::chain(&error)),
    }
}

#[cfg(test)]
mod tests;
