//! Rows of `irc.db`: the modes of rooms.

use gangline_core::ChannelName;
use gangline_irc::server::store::{Party, RoomModes};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, params};

use super::reading::decode;

/// Returns the modes of all rooms that have some.
pub(super) fn all(db: &Connection) -> rusqlite::Result<Vec<RoomModes>> {
    let sql = "SELECT shown, flags, key, most, set_by, agents, at_us FROM modes";
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let (channel, by, agents): (String, String, String) =
            (row.get(0)?, row.get(4)?, row.get(5)?);
        let limit: Option<i64> = row.get(3)?;
        Ok(RoomModes {
            channel: channel.parse::<ChannelName>().map_err(decode)?,
            flags: row.get(1)?,
            key: row.get(2)?,
            limit: limit.and_then(|limit| usize::try_from(limit).ok()),
            by: Party::from_key(&by),
            agents: agents.split_ascii_whitespace().map(str::to_owned).collect(),
            at: UnixMicros(row.get(6)?),
        })
    })?;
    rows.collect()
}

/// Keeps a room's modes, in place of its former ones.
pub(super) fn put(db: &Connection, room: &RoomModes) -> rusqlite::Result<()> {
    if room.is_default() {
        let sql = "DELETE FROM modes WHERE channel = ?";
        db.prepare_cached(sql)?.execute([room.channel.folded()])?;
        return Ok(());
    }
    let sql =
        "INSERT OR REPLACE INTO modes (channel, shown, flags, key, most, set_by, agents, at_us)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let with = params![
        room.channel.folded(),
        room.channel.as_str(),
        &room.flags,
        room.key.as_deref(),
        room.limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX)),
        room.by.key(),
        room.agents.iter().map(String::as_str).collect::<Vec<_>>().join(" "),
        room.at.0
    ];
    db.prepare_cached(sql)?.execute(with)?;
    Ok(())
}
