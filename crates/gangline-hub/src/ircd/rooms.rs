//! Rows of `irc.db`: whose a room is, who may do what in it, its modes.

use gangline_core::ChannelName;
use gangline_irc::server::store::{Ban, RoomRow};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, Row, params};

use super::reading::decode;

/// Returns all rooms of which something is kept.
pub(super) fn all(db: &Connection) -> rusqlite::Result<Vec<RoomRow>> {
    let sql =
        "SELECT shown, created_us, founder, ops, voices, agents, flags, key, most, bans, at_us
         FROM rooms";
    db.prepare(sql)?.query_map([], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<RoomRow> {
    let channel: String = row.get(0)?;
    let limit: Option<i64> = row.get(8)?;
    let (ops, voices, agents): (String, String, String) = (row.get(3)?, row.get(4)?, row.get(5)?);
    let names = |list: String| list.split_ascii_whitespace().map(str::to_owned).collect();
    let bans: String = row.get(9)?;
    Ok(RoomRow {
        channel: channel.parse::<ChannelName>().map_err(decode)?,
        created_at: UnixMicros(row.get(1)?),
        founder: row.get(2)?,
        ops: names(ops),
        voices: names(voices),
        agents: names(agents),
        flags: row.get(6)?,
        key: row.get(7)?,
        limit: limit.and_then(|limit| usize::try_from(limit).ok()),
        bans: bans.lines().filter_map(ban).collect(),
        at: UnixMicros(row.get(10)?),
    })
}

/// Returns a ban of its line: mask, who set it, microseconds.
fn ban(line: &str) -> Option<Ban> {
    let mut words = line.split(' ');
    let (mask, by) = (words.next()?.to_owned(), words.next()?.to_owned());
    Some(Ban { mask, by, at: UnixMicros(words.next()?.parse().ok()?) })
}

/// Keeps what is to be kept of a room, in place of what was.
pub(super) fn put(db: &Connection, room: &RoomRow) -> rusqlite::Result<()> {
    let sql =
        "INSERT OR REPLACE INTO rooms (channel, shown, created_us, founder, ops, voices, agents,
             flags, key, most, bans, at_us)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let names = |list: &std::collections::BTreeSet<String>| {
        list.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    let bans = room.bans.iter().map(|ban| format!("{} {} {}\n", ban.mask, ban.by, ban.at.0));
    let with = params![
        room.channel.folded(),
        room.channel.as_str(),
        room.created_at.0,
        room.founder.as_deref(),
        names(&room.ops),
        names(&room.voices),
        names(&room.agents),
        &room.flags,
        room.key.as_deref(),
        room.limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX)),
        bans.collect::<String>(),
        room.at.0
    ];
    db.prepare_cached(sql)?.execute(with)?;
    Ok(())
}

/// Forgets what is kept of a room.
pub(super) fn forget(db: &Connection, channel: &ChannelName) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM rooms WHERE channel = ?")?.execute([channel.folded()])?;
    Ok(())
}
