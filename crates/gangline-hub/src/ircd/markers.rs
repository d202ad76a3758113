//! Rows of `irc.db`: up to when people say that they have read.

use gangline_irc::server::store::{Marker, Party};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, params};

/// Returns all markers.
pub(super) fn all(db: &Connection) -> rusqlite::Result<Vec<Marker>> {
    let mut statement = db.prepare("SELECT party, target, at_us FROM read_at")?;
    let rows = statement.query_map([], |row| {
        let party: String = row.get(0)?;
        let (target, at) = (row.get(1)?, UnixMicros(row.get(2)?));
        Ok(Marker { party: Party::from_key(&party), target, at })
    })?;
    rows.collect()
}

/// Keeps a marker, in place of its reader's former one of that target.
pub(super) fn put(db: &Connection, marker: &Marker) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO read_at (party, target, at_us) VALUES (?, ?, ?)";
    let with = params![marker.party.key(), &marker.target, marker.at.0];
    db.prepare_cached(sql)?.execute(with)?;
    Ok(())
}
