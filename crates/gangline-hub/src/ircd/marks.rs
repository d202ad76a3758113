//! Rows of `irc.db`: how far people have read, and what they missed.

use gangline_irc::server::store::{
    Conversation, MARKS_MAX, Marks, Missed, MissedQuery, Party, ReadMark, StoredLine,
};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, params};

use super::rows::stored;

/// Conversations of one party that are looked through for what it missed, the newest.
const CONVERSATIONS_MAX: i64 = 1_000;

/// Answers [`MissedQuery`].
pub(super) fn missed(db: &Connection, query: &MissedQuery) -> rusqlite::Result<Vec<Missed>> {
    let conversations = match &query.channel {
        Some(channel) => vec![Conversation::Channel(channel.clone()).key()],
        None => private(db, &query.party)?,
    };
    let mut found = Vec::new();
    for conversation in conversations {
        found.extend(of_one(db, &conversation, query)?);
    }
    found.sort_by_key(|missed| missed.lines.last().map(|line| line.seq));
    Ok(found)
}

fn private(db: &Connection, party: &Party) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT conversation FROM conversations WHERE one = ?1 OR other = ?1
         ORDER BY last_at_us DESC LIMIT ?2";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![party.key(), CONVERSATIONS_MAX], |row| row.get(0))?;
    rows.collect()
}

fn of_one(
    db: &Connection,
    conversation: &str,
    query: &MissedQuery,
) -> rusqlite::Result<Option<Missed>> {
    let me = query.party.key();
    let count = "SELECT count(*) FROM lines
         WHERE conversation = ? AND seq > ? AND seq <= ? AND sender <> ? AND text <> ''";
    let with = params![conversation, query.after, query.upto, me];
    let all: i64 = db.prepare_cached(count)?.query_row(with, |row| row.get(0))?;
    let all = usize::try_from(all).unwrap_or(0);
    if all == 0 {
        return Ok(None);
    }
    let sql = "SELECT * FROM lines
         WHERE conversation = ? AND seq > ? AND seq <= ? AND sender <> ? AND text <> ''
         ORDER BY seq DESC LIMIT ?";
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut statement = db.prepare_cached(sql)?;
    let with = params![conversation, query.after, query.upto, me, limit];
    let rows = statement.query_map(with, stored)?;
    let mut lines = rows.collect::<rusqlite::Result<Vec<StoredLine>>>()?;
    lines.reverse();
    let left_out = all.saturating_sub(lines.len());
    Ok(Some(Missed { lines, left_out }))
}

/// Returns the marks; more than are kept are removed, the oldest.
pub(super) fn marks(db: &Connection, newest: i64) -> rusqlite::Result<Marks> {
    let most = i64::try_from(MARKS_MAX).unwrap_or(i64::MAX);
    let too_many = "DELETE FROM read_marks WHERE rowid IN (
            SELECT rowid FROM read_marks ORDER BY at_us DESC LIMIT -1 OFFSET ?)";
    db.prepare_cached(too_many)?.execute(params![most])?;
    let mut statement = db.prepare("SELECT party, nick, place, seq, at_us FROM read_marks")?;
    let rows = statement.query_map([], |row| {
        Ok(ReadMark {
            party: Party::from_key(&row.get::<_, String>(0)?),
            nick: row.get(1)?,
            place: row.get(2)?,
            seq: Some(row.get(3)?),
            at: UnixMicros(row.get(4)?),
        })
    })?;
    Ok(Marks { newest, marks: rows.collect::<rusqlite::Result<_>>()? })
}

/// Keeps marks. The caller begins and ends the transaction.
pub(super) fn put<'a>(
    db: &Connection,
    marks: impl Iterator<Item = &'a ReadMark>,
) -> rusqlite::Result<()> {
    let put = "INSERT OR REPLACE INTO read_marks (party, nick, place, seq, at_us)
         VALUES (?, ?, ?, ?, ?)";
    let forget = "DELETE FROM read_marks WHERE party = ? AND nick = ? AND place = ?";
    for mark in marks {
        let party = mark.party.key();
        match mark.seq {
            Some(seq) => {
                let with = params![party, mark.nick, mark.place, seq, mark.at.0];
                db.prepare_cached(put)?.execute(with)?;
            }
            None => {
                let with = params![party, mark.nick, mark.place];
                db.prepare_cached(forget)?.execute(with)?;
            }
        }
    }
    Ok(())
}
