//! `irc.db`: its tables and its opening.

use std::{
    fs::OpenOptions,
    io,
    os::unix::{ffi::OsStrExt as _, fs::OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_os::{clock::UnixMicros, fsio};
use rusqlite::{Connection, InterruptHandle, OpenFlags, params};

use super::opening::OpenError;

/// The schema that this program writes, kept in `user_version`.
const SCHEMA: i64 = 6;

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
    // What happened in rooms that have lines: `behind` is the place of the newest line then. How many
    // there are stands beside the number of lines. A topic without a person behind it was the one
    // that each new room got; it is stored no longer.
    "CREATE TABLE events (
        number INTEGER PRIMARY KEY,
        room TEXT NOT NULL,
        behind INTEGER NOT NULL,
        msgid TEXT NOT NULL,
        at_us INTEGER NOT NULL,
        kind TEXT NOT NULL,
        source TEXT NOT NULL,
        account TEXT,
        words TEXT NOT NULL,
        text TEXT
    ) STRICT;
    CREATE INDEX events_of ON events (room, behind, number, at_us);
    ALTER TABLE conversations ADD COLUMN events INTEGER NOT NULL DEFAULT 0;
    DELETE FROM topics WHERE instr(set_by, '!') = 0",
    // Rooms belong to accounts. Modes that somebody without an account has set stay, and belong to
    // nobody: the nick that they were kept under proves nothing. A ban is a line of `bans`: mask, who
    // set it, microseconds.
    "CREATE TABLE rooms (
        channel TEXT PRIMARY KEY,
        shown TEXT NOT NULL,
        created_us INTEGER NOT NULL,
        founder TEXT,
        ops TEXT NOT NULL,
        voices TEXT NOT NULL,
        agents TEXT NOT NULL,
        flags TEXT NOT NULL,
        key TEXT,
        most INTEGER,
        bans TEXT NOT NULL,
        at_us INTEGER NOT NULL
    ) STRICT;
    INSERT INTO rooms
        SELECT channel, shown, at_us,
            CASE WHEN substr(set_by, 1, 1) IN ('~', '!') THEN NULL ELSE set_by END,
            '', '', agents, flags, key, most, '', at_us
        FROM modes;
    DROP TABLE modes",
];

/// Opens the database, makes or checks its schema, and returns it.
pub(super) fn open(path: &Path, busy: Duration) -> Result<Connection, OpenError> {
    let failed = |source| OpenError::of(path, source);
    not_emptied(path)?;
    if !path.exists() {
        // Whoever set links that lead nowhere wants the database there.
        make(&fsio::resolved(path), busy).map_err(failed)?;
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

/// Looks through the whole database for damage, without changing it; a server may have it open.
pub(super) fn look(path: &Path, busy: Duration) -> Result<(), OpenError> {
    // Without a log nobody has it open. A reader would make one, and could not take it away.
    let log = beside(path, "-wal");
    let nobody = !log.exists();
    let looked = look_as(path, busy, nobody, &|_| {});
    match nobody && log.exists() {
        true => look_as(path, busy, false, &|_| {}),
        false => looked,
    }
}

/// Looks through a database that this process has open. `begun` is given what ends the look early.
pub(super) fn look_open(
    path: &Path,
    busy: Duration,
    begun: &dyn Fn(InterruptHandle),
) -> Result<(), OpenError> {
    look_as(path, busy, false, begun)
}

fn look_as(
    path: &Path,
    busy: Duration,
    immutable: bool,
    begun: &dyn Fn(InterruptHandle),
) -> Result<(), OpenError> {
    not_emptied(path)?;
    let failed = |source| OpenError::of(path, source);
    let db = reading(path, immutable).map_err(failed)?;
    db.busy_timeout(busy).map_err(failed)?;
    begun(db.get_interrupt_handle());
    let found = version(&db).map_err(failed)?;
    if found > SCHEMA {
        return Err(OpenError::NewerSchema { path: path.to_owned(), found, known: SCHEMA });
    }
    let said: String =
        db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
    match said.as_str() {
        "ok" => Ok(()),
        _ => Err(OpenError::Damaged { path: path.to_owned(), source: said.into() }),
    }
}

/// Opens a connection that cannot write; to an immutable file it makes no others beside it.
fn reading(path: &Path, immutable: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if !immutable {
        return Connection::open_with_flags(path, flags);
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let bytes = path.as_os_str().as_bytes().iter();
    let quoted = bytes.fold(String::new(), |text, byte| match plain(*byte) {
        true => text + &char::from(*byte).to_string(),
        false => format!("{text}%{byte:02X}"),
    });
    let uri = format!("file:{quoted}?immutable=1");
    Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
}

/// Refuses a file that somebody has emptied, or removed beside its log: SQLite would take it for a
/// new one and throw the log away. A new database has its tables before it has its name, so an empty
/// file is none of those.
fn not_emptied(path: &Path) -> Result<(), OpenError> {
    let size = |path: &Path| std::fs::metadata(path).map(|data| data.len()).ok();
    let source = match size(path) {
        Some(0) => "it is empty, and was not before",
        None if size(&beside(path, "-wal")).is_some_and(|size| size > 0) => {
            "it is gone, and its log is not"
        }
        Some(_) | None => return Ok(()),
    };
    Err(OpenError::Damaged { path: path.to_owned(), source: source.into() })
}

/// Makes a database under another name and gives it its own when it is whole.
fn make(path: &Path, busy: Duration) -> rusqlite::Result<()> {
    let new = beside(path, ".new");
    for left in [new.clone(), beside(&new, "-wal"), beside(&new, "-shm")] {
        // What an earlier attempt has left; if it cannot be removed, making the file fails.
        let _ = std::fs::remove_file(left);
    }
    make_private(&new).map_err(cannot)?;
    let db = connection(&new, busy)?;
    bring_up_to_date(&db, 0)?;
    // Its log goes into the file with the last connection.
    db.close().map_err(|(_, error)| error)?;
    std::fs::rename(&new, path).map_err(cannot)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(cannot)
}

fn cannot(error: io::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Makes an empty file that nobody else may read: what people say is nobody else's, and the log
/// beside it gets the same mode.
fn make_private(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(|_| ())
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
