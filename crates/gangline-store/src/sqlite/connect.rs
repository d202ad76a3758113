//! Opening: what is refused, the pragmas, the migrations. The write lock is held by the caller.

use std::{fs::File, os::unix::ffi::OsStrExt, path::Path};

use gangline_core::shown;
use rusqlite::{Connection, OpenFlags};

use super::{
    Setup,
    fault::{self, Kind},
    sql,
};
use crate::error::OpenError;

/// Marks a file as ours ("GANG").
const APPLICATION_ID: i64 = 0x4741_4E47;
/// The oldest SQLite without the corruption of a log shared by processes.
const SQLITE_MIN: &str = "3.51.3";
/// The row of `meta` that names the program which made the newest schema.
const MAKER: &str = "schema_made_by";
/// Applied in order; the n-th makes schema n. Only added to, never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
    include_str!("migrations/0007.sql"),
    include_str!("migrations/0008.sql"),
    include_str!("migrations/0009.sql"),
    include_str!("migrations/0010.sql"),
    include_str!("migrations/0011.sql"),
    include_str!("migrations/0012.sql"),
    include_str!("migrations/0013.sql"),
];

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Statements that a connection keeps prepared; there are fewer.
const STATEMENTS: usize = 100;

/// Opens a connection, in the way that all are. It changes nothing in the file.
pub(crate) fn connection(setup: &Setup) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&setup.path, flags)?;
    connection.busy_timeout(setup.tuning.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.execute_batch(
        "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF; PRAGMA wal_autocheckpoint = 0; \
         PRAGMA journal_size_limit = 67108864; PRAGMA mmap_size = 0; PRAGMA cache_size = -512",
    )?;
    Ok(connection)
}

/// A writing connection that is ready, and the log that its commits go to.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) wal: File,
    pub(crate) installation_id: String,
}

/// Refuses a file that was emptied, or removed beside its log: SQLite would take it for a new one
/// and throw the log away. That there was a database, its log says, or the file of the lock that
/// each of its users holds, which is marked once the database was made.
pub(crate) fn not_emptied(setup: &Setup) -> Result<(), OpenError> {
    let size = |path: &Path| std::fs::metadata(path).map(|data| data.len()).ok();
    let has = |path: &Path| size(path).is_some_and(|size| size > 0);
    let (there, log) = (size(&setup.path), has(&setup.files.wal));
    let source = match there {
        Some(0) if log || has(&setup.files.used) => "it is empty, and was not before",
        None if log => "it is gone, and its log is not",
        Some(_) | None => return Ok(()),
    };
    Err(OpenError::Corrupt { path: setup.path.clone(), source: source.into() })
}

/// Opens the database for writing.
pub(crate) fn open(setup: &Setup) -> Result<Opened, OpenError> {
    let path = &setup.path;
    let connection = connection(setup).map_err(|e| refused(setup, e))?;
    check_engine()?;
    let schema = check_owner(setup, &connection)?;
    let installation_id = prepare(&connection, schema).map_err(|e| refused(setup, e))?;
    // The first write statement is done: SQLite holds the log open, and nobody unlinks it now.
    let io = |source: std::io::Error| OpenError::Io { path: path.clone(), source: source.into() };
    let wal = File::open(&setup.files.wal).map_err(io)?;
    wal.sync_data().map_err(io)?;
    sync_folder(path).map_err(io)?;
    Ok(Opened { connection, wal, installation_id })
}

/// Looks at the database without changing it, for damage too if `whole`; returns its schema.
pub(crate) fn look(setup: &Setup, whole: bool) -> Result<i64, OpenError> {
    // Without a log nobody has it open. A reader would make one, and could not take it away.
    let nobody = !setup.files.wal.exists();
    let looked = look_as(setup, whole, nobody);
    match nobody && setup.files.wal.exists() {
        true => look_as(setup, whole, false),
        false => looked,
    }
}

fn look_as(setup: &Setup, whole: bool, immutable: bool) -> Result<i64, OpenError> {
    not_emptied(setup)?;
    let connection = reading(setup, immutable).map_err(|e| refused(setup, e))?;
    check_engine()?;
    let schema = check_owner(setup, &connection)?;
    match whole.then(|| check(&connection)) {
        Some(Err(said)) => {
            Err(OpenError::Corrupt { path: setup.path.clone(), source: said.into() })
        }
        Some(Ok(())) | None => Ok(schema),
    }
}

/// How rows are read from a database that nobody has open here.
type Read<T> = fn(&Connection) -> rusqlite::Result<Vec<T>>;

/// Returns rows of a database that is there, without changing it; none of one whose schema is
/// older than this program's.
pub(crate) fn rows<T>(setup: &Setup, read: Read<T>) -> Result<Vec<T>, OpenError> {
    let nobody = !setup.files.wal.exists();
    let found = rows_as(setup, read, nobody);
    match nobody && setup.files.wal.exists() {
        true => rows_as(setup, read, false),
        false => found,
    }
}

fn rows_as<T>(setup: &Setup, read: Read<T>, immutable: bool) -> Result<Vec<T>, OpenError> {
    let connection = reading(setup, immutable).map_err(|e| refused(setup, e))?;
    check_engine()?;
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    match check_owner(setup, &connection)? < known {
        true => Ok(Vec::new()),
        false => read(&connection).map_err(|e| refused(setup, e)),
    }
}

/// Opens a connection that cannot write; to an immutable file it makes no others beside it.
fn reading(setup: &Setup, immutable: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match immutable {
        true => {
            let uri = format!("file:{}?immutable=1", quoted(&setup.path));
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
        }
        false => Connection::open_with_flags(&setup.path, flags)?,
    };
    connection.busy_timeout(setup.tuning.busy_timeout)?;
    Ok(connection)
}

/// Returns a path as it stands in a URI.
fn quoted(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let bytes = path.as_os_str().as_bytes().iter();
    bytes.fold(String::new(), |text, byte| match plain(*byte) {
        true => text + &char::from(*byte).to_string(),
        false => format!("{text}%{byte:02X}"),
    })
}

fn refused(setup: &Setup, error: rusqlite::Error) -> OpenError {
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

fn check_engine() -> Result<(), OpenError> {
    let found = rusqlite::version();
    if recent(found) {
        return Ok(());
    }
    Err(OpenError::TooOldSqlite { found: found.to_owned(), wanted: SQLITE_MIN })
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
fn check_owner(setup: &Setup, connection: &Connection) -> Result<i64, OpenError> {
    let facts = "SELECT (SELECT user_version FROM pragma_user_version()), \
                 (SELECT application_id FROM pragma_application_id()), \
                 (SELECT count(*) FROM sqlite_schema)";
    let facts: (i64, i64, i64) =
        sql::one(connection, facts, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .map_err(|e| refused(setup, e))?;
    let (schema, owner, objects) = facts;
    if owner != APPLICATION_ID && (owner != 0 || schema != 0 || objects != 0) {
        let source = "it belongs to another program".into();
        return Err(OpenError::NotADatabase { path: setup.path.clone(), source });
    }
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if schema > known {
        let maker = "SELECT value FROM meta WHERE key = ?";
        let maker = sql::one(connection, maker, [MAKER], sql::column::<String>);
        let maker = maker.map_or_else(|_| "a newer gangline".to_owned(), |it| shown::label(&it));
        let path = setup.path.clone();
        return Err(OpenError::NewerSchema { path, found: schema, known, maker });
    }
    Ok(schema)
}

/// Makes the file a database in WAL mode with the newest schema. Returns the installation's id.
fn prepare(connection: &Connection, schema: i64) -> rusqlite::Result<String> {
    let mode: String = sql::one(connection, "PRAGMA journal_mode = WAL", [], sql::column)?;
    if mode != "wal" {
        let why = format!("the file system does not allow a write-ahead log (mode {mode})");
        return Err(rusqlite::Error::ToSqlConversionFailure(why.into()));
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    migrate(connection, schema)?;
    connection.execute_batch("COMMIT")?;
    let id = "SELECT value FROM meta WHERE key = 'installation_id'";
    sql::one(connection, id, [], sql::column)
}

fn migrate(connection: &Connection, schema: i64) -> rusqlite::Result<()> {
    let done = usize::try_from(schema).unwrap_or(0);
    if done >= MIGRATIONS.len() {
        return Ok(());
    }
    for migration in &MIGRATIONS[done..] {
        connection.execute_batch(migration)?;
    }
    let note = "INSERT INTO meta (key, value) VALUES (?, ?) \
                ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    let schema = MIGRATIONS.len();
    sql::run(connection, note, [MAKER, &maker()])?;
    // Programs before schema 10 show this one, as the oldest that can use the file.
    sql::run(connection, note, ["min_binary", &format!("{VERSION} (schema {schema})")])?;
    let id = uuid::Uuid::new_v4().simple().to_string();
    let keep = "INSERT OR IGNORE INTO meta (key, value) VALUES ('installation_id', ?)";
    sql::run(connection, keep, [id])?;
    connection.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {schema}"
    ))
}

/// Returns which program this is, for somebody who has several.
fn maker() -> String {
    match std::env::current_exe() {
        Ok(path) => format!("{} (version {VERSION})", path.display()),
        Err(_) => format!("gangline {VERSION}"),
    }
}

/// Makes the names of new files durable.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Looks through the whole file for damage; for the rare case that the log was taken away.
pub(crate) fn check(connection: &Connection) -> Result<(), String> {
    match sql::one(connection, "PRAGMA quick_check(1)", [], sql::column::<String>) {
        Ok(said) if said == "ok" => Ok(()),
        Ok(said) => Err(said),
        Err(error) => Err(fault::chain(&error)),
    }
}

#[cfg(test)]
mod tests;
