//! Rows of `irc.db`: what happened in rooms that have lines.

use std::sync::Arc;

use gangline_irc::server::{
    events::{Event, EventKind, NewEvent, Place},
    store::Entry,
};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::reading::{End, decode};

/// Keeps events of rooms that have lines, at most as many of each room as lines. The caller begins
/// and ends the transaction.
pub(super) fn put(db: &Connection, events: &[NewEvent], keep: i64) -> rusqlite::Result<()> {
    let grow = "UPDATE conversations SET events = events + 1 WHERE conversation = ?
         RETURNING events";
    for NewEvent { room, event } in events {
        let room = room.folded();
        let count = db.prepare_cached(grow)?.query_row([room], |row| row.get::<_, i64>(0));
        let Some(count) = count.optional()? else { continue };
        insert(db, room, event)?;
        if count > keep + keep / 10 {
            prune(db, room, keep)?;
        }
    }
    Ok(())
}

fn insert(db: &Connection, room: &str, event: &Event) -> rusqlite::Result<()> {
    let sql = "INSERT INTO events (room, behind, msgid, at_us, kind, source, account, words, text)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let with = params![
        room,
        event.behind,
        &event.msgid,
        event.at.0,
        event.kind.as_str(),
        &event.source,
        event.account.as_deref(),
        event.words.join(" "),
        event.text.as_deref()
    ];
    db.prepare_cached(sql)?.execute(with)?;
    Ok(())
}

fn prune(db: &Connection, room: &str, keep: i64) -> rusqlite::Result<()> {
    let old = "DELETE FROM events WHERE room = ?1 AND (behind, number) <= (
            SELECT behind, number FROM events WHERE room = ?1
            ORDER BY behind DESC, number DESC LIMIT 1 OFFSET ?2)";
    db.prepare_cached(old)?.execute(params![room, keep])?;
    let left = "UPDATE conversations SET events = ? WHERE conversation = ?";
    db.prepare_cached(left)?.execute(params![keep, room])?;
    Ok(())
}

/// Returns the number of the event of that id behind that line.
pub(super) fn number(
    db: &Connection,
    room: &str,
    (behind, msgid): (i64, &str),
) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT number FROM events WHERE room = ? AND behind = ? AND msgid = ?";
    let with = params![room, behind, msgid];
    db.prepare_cached(sql)?.query_row(with, |row| row.get(0)).optional()
}

/// Returns the place of the first event since that time.
pub(super) fn first_since(
    db: &Connection,
    room: &str,
    at_us: i64,
) -> rusqlite::Result<Option<Place>> {
    let sql = "SELECT behind, number FROM events WHERE room = ? AND at_us >= ?
         ORDER BY behind, number LIMIT 1";
    let place = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    db.prepare_cached(sql)?.query_row(params![room, at_us], place).optional()
}

/// Returns events from `low` on and before `high`, the oldest or the newest of them, in no order.
pub(super) fn span(
    db: &Connection,
    room: &str,
    (low, high): (Place, Place),
    (end, limit): (End, i64),
) -> rusqlite::Result<Vec<(Place, Entry)>> {
    let sql = match end {
        End::Oldest => {
            "SELECT * FROM events
             WHERE room = ? AND (behind, number) >= (?, ?) AND (behind, number) < (?, ?)
             ORDER BY behind, number LIMIT ?"
        }
        End::Newest => {
            "SELECT * FROM events
             WHERE room = ? AND (behind, number) >= (?, ?) AND (behind, number) < (?, ?)
             ORDER BY behind DESC, number DESC LIMIT ?"
        }
    };
    let mut statement = db.prepare_cached(sql)?;
    let with = params![room, low.0, low.1, high.0, high.1, limit];
    let rows = statement.query_map(with, |row| {
        let place = (row.get("behind")?, row.get("number")?);
        Ok((place, Entry::Event(Arc::new(stored(row)?))))
    })?;
    rows.collect()
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Event> {
    let (kind, words): (String, String) = (row.get("kind")?, row.get("words")?);
    let unknown = || decode(std::io::Error::other(format!("there is no event {kind}")));
    Ok(Event {
        msgid: row.get("msgid")?,
        behind: row.get("behind")?,
        at: UnixMicros(row.get("at_us")?),
        kind: EventKind::of(&kind).ok_or_else(unknown)?,
        source: row.get("source")?,
        account: row.get("account")?,
        words: words.split_ascii_whitespace().map(str::to_owned).collect(),
        text: row.get("text")?,
    })
}
