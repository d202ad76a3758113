//! Statements of orders.

use gangline_core::{AgentName, Epoch};
use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::{Writer, fault::Fault, rows};
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

pub(crate) async fn desire(
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
    let row = sqlx::query(sql)
        .bind(agent.folded())
        .bind(&w.installation_id)
        .bind(desired.as_str())
        .bind(by)
        .bind(w.now.0)
        .fetch_one(&mut w.connection)
        .await?;
    Ok(order(&row)?)
}

pub(crate) async fn restart(
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
    let row = sqlx::query(sql)
        .bind(agent.folded())
        .bind(&w.installation_id)
        .bind(when.as_str())
        .bind(by)
        .bind(w.now.0)
        .fetch_one(&mut w.connection)
        .await?;
    Ok(order(&row)?)
}

pub(crate) async fn runtime(
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
    let row = sqlx::query(sql)
        .bind(agent.folded())
        .bind(&w.installation_id)
        .bind(by)
        .bind(w.now.0)
        .bind(runtime)
        .fetch_one(&mut w.connection)
        .await?;
    Ok(order(&row)?)
}

pub(crate) async fn list(c: &mut SqliteConnection) -> Result<Vec<Order>, Fault> {
    let sql = "SELECT agent, desired, desired_by, desired_at, restart_number, restart_when, \
               restart_ends, restart_by, restart_at, runtime FROM orders ORDER BY agent";
    Ok(rows::all(&sqlx::query(sql).fetch_all(c).await?, order)?)
}

fn order(row: &SqliteRow) -> Result<Order, sqlx::Error> {
    let number: Option<i64> = row.try_get("restart_number")?;
    let restart = match number {
        Some(number) => Some(Restart {
            number,
            when: rows::word(row, "restart_when", RestartWhen::from_word)?,
            ends: Epoch(row.try_get("restart_ends")?),
            by: row.try_get("restart_by")?,
            at: rows::time(row, "restart_at")?,
        }),
        None => None,
    };
    Ok(Order {
        agent: rows::parsed(row, "agent")?,
        desired: rows::word(row, "desired", Desired::from_word)?,
        by: row.try_get("desired_by")?,
        at: rows::time(row, "desired_at")?,
        runtime: row.try_get("runtime")?,
        restart,
    })
}
