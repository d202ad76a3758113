//! `irc.db`: its tables and its opening.

use std::{fs::OpenOptions, io, os::unix::fs::OpenOptionsExt, path::Path, time::Duration};

use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, params};

use super::history::OpenError;

/// The schema that this program writes, kept in `user_version`.
const SCHEMA: i64 = 4;

/// Marks the file as ours (`application_id`): "GLic".
const APPLICATION: i64 = 0x474c_6963;

/// Schema 1, in which no marks were kept.
const CREATE: &[&str] = &[
    "CREATE TABLE lines (
        seq INTEGER PRIMARY KEY,
        msgid TEXT NOT NULL,
        conversation TEXT NOT NULL,
        sender TEXT NOT NULL,
        key TEXT,
        at_us INTEGER NOT NULL,
        notice INTEGER NOT NULL,
        source TEXT NOT NULL,
        account TEXT,
        principal TEXT NOT NULL,
        tier TEXT NOT NULL,
        bot INTEGER NOT NULL,
        target TEXT NOT NULL,
        text TEXT NOT NULL,
        tags TEXT NOT NULL
    ) STRICT",
    "CREATE INDEX lines_of ON lines (conversation, seq, at_us)",
    "CREATE UNIQUE INDEX lines_once ON lines (sender, key, conversation) WHERE key IS NOT NULL",
    "CREATE TABLE conversations (
        conversation TEXT PRIMARY KEY,
        one TEXT NOT NULL,
        other TEXT NOT NULL,
        last_at_us INTEGER NOT NULL,
        lines INTEGER NOT NULL
    ) STRICT",
    "CREATE INDEX conversations_one ON conversations (one, last_at_us)",
    "CREATE INDEX conversations_other ON conversations (other, last_at_us)",
    "CREATE TABLE accounts (
        name TEXT PRIMARY KEY,
        shown TEXT NOT NULL,
        tier TEXT NOT NULL,
        credential_sha256 TEXT NOT NULL,
        last_nick TEXT
    ) STRICT",
    "CREATE TABLE topics (
        channel TEXT PRIMARY KEY,
        shown TEXT NOT NULL,
        text TEXT NOT NULL,
        set_by TEXT NOT NULL,
        at_us INTEGER NOT NULL
    ) STRICT",
    // One row an opening: a msgid is `<opening>.<seq>`, so that no line has the id of another,
    // whatever happened to the file between two openings.
    "CREATE TABLE openings (id TEXT PRIMARY KEY, at_us INTEGER NOT NULL) STRICT",
];

/// What makes each schema of the one before it: the first entry makes schema 2. Only added to,
/// never edited.
const MIGRATIONS: &[&str] = &[
    // How far people have read, each party under each nick, in a channel or (place '') in all
    // private conversations together.
    "CREATE TABLE read_marks (
        party TEXT NOT NULL,
        nick TEXT NOT NULL,
        place TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at_us INTEGER NOT NULL,
        PRIMARY KEY (party, nick, place)
    ) STRICT",
    // The modes that operators have set, of rooms that have some.
    "CREATE TABLE modes (
        channel TEXT PRIMARY KEY,
        shown TEXT NOT NULL,
        flags TEXT NOT NULL,
        key TEXT,
        most INTEGER,
        set_by TEXT NOT NULL,
        agents TEXT NOT NULL,
        at_us INTEGER NOT NULL
    ) STRICT",
    // Up to when people say that they have read a channel or a private conversation.
    "CREATE TABLE read_at (
        party TEXT NOT NULL,
        target TEXT NOT NULL,
        at_us INTEGER NOT NULL,
        PRIMARY KEY (party, target)
    ) STRICT",
];

/// Opens the database, makes or checks its schema, and returns it.
pub(super) fn open(path: &Path, busy: Duration) -> Result<Connection, OpenError> {
    let failed = |source| OpenError::of(path, source);
    if is_emptied(path) {
        let source = "it is empty, and its log is not".into();
        return Err(OpenError::Damaged { path: path.to_owned(), source });
    }
    // What people say is nobody else's; the log beside it gets the same mode.
    if let Err(error) = make_private(path) {
        tracing::debug!(%error, "the database will say what is wrong");
    }
    let db = connection(path, busy).map_err(failed)?;
    let found = version(&db).map_err(failed)?;
    if found > SCHEMA {
        return Err(OpenError::NewerSchema { path: path.to_owned(), found, known: SCHEMA });
    }
    if found < SCHEMA {
        bring_up_to_date(&db, found).map_err(failed)?;
    }
    Ok(db)
}

/// Returns whether somebody has emptied or removed the file beside its log: SQLite would take it for
/// a new one and throw the log away.
fn is_emptied(path: &Path) -> bool {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |data| data.len());
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    size(path) == 0 && size(Path::new(&log)) > 0
}

/// Makes the file, empty and private, if there is none.
fn make_private(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn connection(path: &Path, busy: Duration) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.busy_timeout(busy)?;
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         PRAGMA journal_size_limit = 67108864",
    )?;
    Ok(db)
}

fn version(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Makes the tables, or what an older schema lacks, in one transaction.
fn bring_up_to_date(db: &Connection, found: i64) -> rusqlite::Result<()> {
    let create = if found == 0 { CREATE } else { &[] };
    let done = usize::try_from(found.max(1) - 1).unwrap_or(0);
    db.execute_batch("BEGIN IMMEDIATE")?;
    for statement in create.iter().chain(MIGRATIONS.iter().skip(done)) {
        db.execute_batch(statement)?;
    }
    db.execute_batch(&format!(
        "PRAGMA user_version = {SCHEMA}; PRAGMA application_id = {APPLICATION}; COMMIT"
    ))
}

/// Notes a new opening and returns its id and the place of the newest line.
pub(super) fn begin(db: &Connection, now: UnixMicros) -> rusqlite::Result<(String, i64)> {
    let token = gangline_os::secret::random_token();
    let opening: String = token.expose().chars().take(12).collect();
    db.prepare_cached("INSERT INTO openings (id, at_us) VALUES (?, ?)")?
        .execute(params![&opening, now.0])?;
    let last = db.query_row("SELECT COALESCE(MAX(seq), 0) FROM lines", [], |row| row.get(0))?;
    Ok((opening, last))
}
