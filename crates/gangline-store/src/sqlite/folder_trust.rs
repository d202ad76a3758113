//! Statements of folders that an owner trusts: a row for each word, of which the newest holds.

use gangline_core::{AgentName, Redacted};
use rusqlite::{Connection, Row, params};

use super::{Writer, fault::Fault, rows, sql};
use crate::types::{FolderTrustRow, NewFolderTrust};

macro_rules! trust_sql {
    ($rest:literal) => {
        concat!(
            "SELECT agent, folder, hash, word, what, said_by, said_at FROM folder_trust ",
            $rest
        )
    };
}

pub(crate) fn put(w: &mut Writer, new: &NewFolderTrust) -> Result<FolderTrustRow, Fault> {
    let sql = "INSERT INTO folder_trust (installation_id, agent, folder, hash, word, what, said_by, \
               said_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    sql::run(
        &w.connection,
        sql,
        params![
            &w.installation_id,
            new.agent.folded(),
            &new.folder,
            &new.hash,
            new.word.as_str(),
            new.what.as_str(),
            &new.by,
            w.now.0
        ],
    )?;
    let id = w.connection.last_insert_rowid();
    Ok(sql::one(&w.connection, trust_sql!("WHERE id = ?"), params![id], row)?)
}

/// Returns the word that holds.
pub(crate) fn of(
    c: &Connection,
    agent: &AgentName,
    folder: &str,
) -> Result<Option<FolderTrustRow>, Fault> {
    let sql = trust_sql!("WHERE agent = ? AND folder = ? ORDER BY id DESC LIMIT 1");
    Ok(sql::first(c, sql, params![agent.folded(), folder], row)?)
}

/// Returns every word that holds.
pub(crate) fn all(c: &Connection) -> rusqlite::Result<Vec<FolderTrustRow>> {
    let sql = trust_sql!("WHERE id IN (SELECT max(id) FROM folder_trust GROUP BY agent, folder)");
    sql::all(c, sql, params![], row)
}

fn row(row: &Row<'_>) -> rusqlite::Result<FolderTrustRow> {
    Ok(FolderTrustRow {
        agent: rows::parsed(row, "agent")?,
        folder: row.get("folder")?,
        hash: row.get("hash")?,
        word: rows::parsed(row, "word")?,
        what: Redacted::from_store(row.get::<_, String>("what")?),
        by: row.get("said_by")?,
        at: rows::time(row, "said_at")?,
    })
}
