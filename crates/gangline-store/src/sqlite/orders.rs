//! Statements of orders.

use gangline_core::{AgentName, Epoch};
use rusqlite::{Connection, Row, params};

use super::{Writer, fault::Fault, rows, sql};
use crate::types::{Desired, Order, Restart, RestartWhen};

macro_rules! returned {
    ($sql:literal) => {
        concat!(
            $sql,
            " RETURNING agent, desired, desired_by, desired_at, restart_number, restart_when, \
             restart_ends, restart_by, restart_at, runtime"
        )
    };
}

pub(crate) fn desire(
    w: &mut Writer,
    agent: &AgentName,
    desired: Desired,
    by: &str,
) -> Result<Order, Fault> {
    let sql = returned!(
        "INSERT INTO orders (agent, installation_id, desired, desired_by, desired_at) \
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (agent) DO UPDATE SET \
         desired = excluded.desired, desired_by = excluded.desired_by, \
         desired_at = excluded.desired_at"
    );
    Ok(sql::one(
        &w.connection,
        sql,
        params![agent.folded(), &w.installation_id, desired.as_str(), by, w.now.0],
        order,
    )?)
}

pub(crate) fn restart(
    w: &mut Writer,
    agent: &AgentName,
    when: RestartWhen,
    by: &str,
) -> Result<Order, Fault> {
    let sql = returned!(
        "INSERT INTO orders (agent, installation_id, desired, desired_by, desired_at, \
         restart_number, restart_when, restart_ends, restart_by, restart_at) \
         VALUES (?1, ?2, 'up', ?4, ?5, \
         (SELECT coalesce(max(restart_number), 0) + 1 FROM orders), ?3, \
         coalesce((SELECT epoch FROM agents WHERE agent = ?1), 0), ?4, ?5) \
         ON CONFLICT (agent) DO UPDATE SET \
         desired_by = CASE WHEN desired = 'up' THEN desired_by ELSE excluded.desired_by END, \
         desired_at = CASE WHEN desired = 'up' THEN desired_at ELSE excluded.desired_at END, \
         desired = 'up', restart_number = excluded.restart_number, \
         restart_when = excluded.restart_when, restart_ends = excluded.restart_ends, \
         restart_by = excluded.restart_by, restart_at = excluded.restart_at"
    );
    Ok(sql::one(
        &w.connection,
        sql,
        params![agent.folded(), &w.installation_id, when.as_str(), by, w.now.0],
        order,
    )?)
}

pub(crate) fn runtime(
    w: &mut Writer,
    agent: &AgentName,
    runtime: Option<&str>,
    by: &str,
) -> Result<Order, Fault> {
    let sql = returned!(
        "INSERT INTO orders (agent, installation_id, desired, desired_by, desired_at, runtime) \
         VALUES (?1, ?2, 'up', ?3, ?4, ?5) ON CONFLICT (agent) DO UPDATE SET \
         runtime = excluded.runtime"
    );
    let with = params![agent.folded(), &w.installation_id, by, w.now.0, runtime];
    Ok(sql::one(&w.connection, sql, with, order)?)
}

pub(crate) fn list(c: &Connection) -> Result<Vec<Order>, Fault> {
    Ok(read(c)?)
}

/// As [`list`], on a connection that is nobody's.
pub(crate) fn read(c: &Connection) -> rusqlite::Result<Vec<Order>> {
    let sql = "SELECT agent, desired, desired_by, desired_at, restart_number, restart_when, \
               restart_ends, restart_by, restart_at, runtime FROM orders ORDER BY agent";
    sql::all(c, sql, [], order)
}

fn order(row: &Row<'_>) -> Result<Order, rusqlite::Error> {
    let number: Option<i64> = row.get("restart_number")?;
    let restart = match number {
        Some(number) => Some(Restart {
            number,
            when: rows::parsed(row, "restart_when")?,
            ends: Epoch(row.get("restart_ends")?),
            by: row.get("restart_by")?,
            at: rows::time(row, "restart_at")?,
        }),
        None => None,
    };
    Ok(Order {
        agent: rows::parsed(row, "agent")?,
        desired: rows::parsed(row, "desired")?,
        by: row.get("desired_by")?,
        at: rows::time(row, "desired_at")?,
        runtime: row.get("runtime")?,
        restart,
    })
}
