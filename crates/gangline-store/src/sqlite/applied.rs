//! Statements of what agents' daemons were started with.

use gangline_core::{AgentName, Epoch};
use rusqlite::{Connection, Row, params};

use super::{Writer, fault::Fault, fence, rows, sql};
use crate::types::Applied;

pub(crate) fn put(w: &mut Writer, applied: &Applied) -> Result<(), Fault> {
    fence::fence(w, &applied.agent, Some(applied.epoch))?;
    let sql = "INSERT INTO applied (agent, installation_id, epoch, mark, at) \
               VALUES (?, ?, ?, ?, ?) ON CONFLICT (agent) DO UPDATE SET epoch = excluded.epoch, \
               mark = excluded.mark, at = excluded.at";
    let Applied { agent, epoch, mark } = applied;
    let with = params![agent.folded(), &w.installation_id, epoch.0, mark, w.now.0];
    sql::run(&w.connection, sql, with)?;
    Ok(())
}

pub(crate) fn list(c: &Connection) -> Result<Vec<Applied>, Fault> {
    Ok(sql::all(c, "SELECT agent, epoch, mark FROM applied ORDER BY agent", [], row)?)
}

pub(crate) fn of(c: &Connection, agent: &AgentName) -> Result<Option<Applied>, Fault> {
    let sql = "SELECT agent, epoch, mark FROM applied WHERE agent = ?";
    Ok(sql::first(c, sql, params![agent.folded()], row)?)
}

fn row(row: &Row<'_>) -> rusqlite::Result<Applied> {
    Ok(Applied {
        agent: rows::parsed(row, "agent")?,
        epoch: Epoch(row.get("epoch")?),
        mark: row.get("mark")?,
    })
}
