//! Statements of what was spent, of raised budgets, of relayed calls and of the fleet's holds.

use gangline_core::{
    AgentName, Epoch,
    budget::{BudgetScope, Raise, Spent},
};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, Row, params};

use super::{Writer, agents, fault::Fault, fence, rows, sql};
use crate::types::{
    FleetHold, NewRaise, NewRelayOpen, RelayOpenRow, RelayedCall, RelayedRow, SpentRow,
};

macro_rules! sums {
    ($rest:literal) => {
        concat!(
            // A row of an older version may have any number: `TOKENS_MAX`, `MICROS_MAX`.
            "SELECT coalesce(sum(min(u.input, 1000000000) + min(u.output, 1000000000) \
             + min(u.cache_write, 1000000000)), 0) AS tokens, \
             coalesce(sum(min(u.cost_micros, 1000000000000)), 0) AS micros, \
             coalesce(sum(u.cost_micros IS NULL), 0) AS unknown, \
             coalesce(sum(min(u.cache_read, 1000000000)), 0) AS cache_read, u.agent AS agent, u.source AS source \
             FROM usage u WHERE u.at >= ?1",
            $rest
        )
    };
}

fn number(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

fn spent_row(row: &Row<'_>) -> rusqlite::Result<Spent> {
    Ok(Spent {
        tokens: number(row, "tokens")?,
        micros: number(row, "micros")?,
        unknown: number(row, "unknown")?,
    })
}

pub(crate) fn spent(
    c: &Connection,
    scope: &BudgetScope,
    since: UnixMicros,
) -> Result<Spent, Fault> {
    Ok(match scope {
        BudgetScope::Agent(agent) => {
            let sql = sums!(" AND u.agent = ?2");
            sql::one(c, sql, params![since.0, agent.folded()], spent_row)?
        }
        BudgetScope::Day => sql::one(c, sums!(""), params![since.0], spent_row)?,
        BudgetScope::Room(room) => {
            // A turn counts for each room whose messages it had.
            let sql = sums!(
                " AND EXISTS (SELECT 1 FROM turn_messages t JOIN messages m ON m.id = t.message \
                 WHERE t.agent = u.agent AND t.epoch = u.turn_epoch AND t.number = u.turn_number \
                 AND lower(m.target) = ?2)"
            );
            sql::one(c, sql, params![since.0, room.folded()], spent_row)?
        }
    })
}

pub(crate) fn spent_by_agent(
    c: &Connection,
    agent: Option<&AgentName>,
    since: UnixMicros,
) -> Result<Vec<SpentRow>, Fault> {
    let sql = sums!(
        " AND (?2 IS NULL OR u.agent = ?2) GROUP BY u.agent, u.source ORDER BY u.agent, u.source"
    );
    let row = |row: &Row<'_>| {
        Ok(SpentRow {
            agent: rows::parsed(row, "agent")?,
            source: row.get::<_, String>("source")?.into(),
            spent: spent_row(row)?,
            cache_read: number(row, "cache_read")?,
        })
    };
    Ok(sql::all(c, sql, params![since.0, agent.map(AgentName::folded)], row)?)
}

/// Notes a call before it is made; returns its number.
pub(crate) fn relay_begins(w: &mut Writer, new: &NewRelayOpen) -> Result<i64, Fault> {
    fence::fence(w, &new.agent, Some(new.epoch))?;
    let sql = "INSERT INTO relay_open (installation_id, agent, epoch, day, bytes, began_at) \
               VALUES (?, ?, ?, ?, ?, ?)";
    let with =
        params![&w.installation_id, new.agent.folded(), new.epoch.0, &new.day, new.bytes, w.now.0];
    sql::run(&w.connection, sql, with)?;
    Ok(w.connection.last_insert_rowid())
}

/// Returns the calls of earlier lives of an agent's daemon that did not end, at most so many.
pub(crate) fn unsettled(
    c: &Connection,
    agent: &AgentName,
    (epoch, most): (Epoch, i64),
) -> Result<Vec<RelayOpenRow>, Fault> {
    let sql = "SELECT id, day, bytes, coalesce((SELECT model FROM usage u WHERE u.agent = ?1 \
               AND u.source = 'relay' AND u.model <> '' ORDER BY u.at DESC LIMIT 1), '') AS model \
               FROM relay_open WHERE agent = ?1 AND epoch < ?2 ORDER BY id LIMIT ?3";
    let row = |row: &Row<'_>| {
        Ok(RelayOpenRow {
            id: row.get("id")?,
            day: row.get("day")?,
            bytes: row.get("bytes")?,
            model: row.get("model")?,
        })
    };
    Ok(sql::all(c, sql, params![agent.folded(), epoch.0, most], row)?)
}

pub(crate) fn relayed(w: &mut Writer, call: &RelayedCall) -> Result<(), Fault> {
    if let Some(usage) = &call.usage {
        agents::add_usage(w, usage)?;
    }
    if let Some(noted) = call.noted {
        sql::run(&w.connection, "DELETE FROM relay_open WHERE id = ?", params![noted])?;
    }
    let sql = "INSERT INTO relay_calls (agent, day, outcome, installation_id, calls, \
               first_byte_micros, lasted_micros) VALUES (?, ?, ?, ?, 1, ?, ?) \
               ON CONFLICT (agent, day, outcome) DO UPDATE SET calls = calls + 1, \
               first_byte_micros = first_byte_micros + excluded.first_byte_micros, \
               lasted_micros = lasted_micros + excluded.lasted_micros";
    let RelayedCall { agent, day, outcome, first_byte_micros, lasted_micros, .. } = call;
    let with = params![
        agent.folded(),
        day,
        outcome.as_str(),
        &w.installation_id,
        first_byte_micros,
        lasted_micros
    ];
    sql::run(&w.connection, sql, with)?;
    // Stored as long as records of use.
    let sql = "DELETE FROM relay_calls WHERE agent = ?1 AND day < date(?2, '-' || ?3 || ' days')";
    sql::run(&w.connection, sql, params![agent.folded(), day, agents::USAGE_KEPT_DAYS])?;
    Ok(())
}

pub(crate) fn relayed_on(c: &Connection, day: &str) -> Result<Vec<RelayedRow>, Fault> {
    let sql = "SELECT agent, outcome, calls, first_byte_micros, lasted_micros FROM relay_calls \
               WHERE day = ? ORDER BY agent, outcome";
    let row = |row: &Row<'_>| {
        Ok(RelayedRow {
            agent: rows::parsed(row, "agent")?,
            outcome: row.get::<_, String>("outcome")?.into(),
            calls: row.get("calls")?,
            first_byte_micros: row.get("first_byte_micros")?,
            lasted_micros: row.get("lasted_micros")?,
        })
    };
    Ok(sql::all(c, sql, params![day], row)?)
}

pub(crate) fn raise(w: &mut Writer, new: &NewRaise) -> Result<(), Fault> {
    let sql = "INSERT INTO budget_raises (installation_id, scope, day, tokens, cost_micros, \
               raised_by, at) VALUES (?, ?, ?, ?, ?, ?, ?)";
    let column = |many: u64| i64::try_from(many).unwrap_or(i64::MAX);
    let with = params![
        &w.installation_id,
        new.scope.to_string(),
        &new.day,
        column(new.raise.tokens),
        column(new.raise.micros),
        &new.by,
        w.now.0
    ];
    sql::run(&w.connection, sql, with)?;
    Ok(())
}

pub(crate) fn raised(c: &Connection, scope: &BudgetScope, day: &str) -> Result<Raise, Fault> {
    let sql = "SELECT coalesce(sum(min(tokens, 1000000000000000)), 0) AS tokens, \
               coalesce(sum(min(cost_micros, 1000000000000000)), 0) AS micros \
               FROM budget_raises WHERE day = ? AND scope = ?";
    let row = |row: &Row<'_>| {
        Ok(Raise { tokens: number(row, "tokens")?, micros: number(row, "micros")? })
    };
    Ok(sql::one(c, sql, params![day, scope.to_string()], row)?)
}

/// Opens a hold unless one is open. Returns whether this one is new.
pub(crate) fn hold_fleet(
    w: &mut Writer,
    why: &str,
    until: Option<UnixMicros>,
) -> Result<bool, Fault> {
    let sql = "INSERT INTO fleet_holds (installation_id, why, began_at, until) \
               VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
    let with = params![&w.installation_id, why, w.now.0, until.map(|at| at.0)];
    Ok(sql::run(&w.connection, sql, with)? == 1)
}

/// Ends the open hold. Returns whether there was one.
pub(crate) fn release_fleet(w: &mut Writer, by: &str) -> Result<bool, Fault> {
    let sql = "UPDATE fleet_holds SET ended_at = ?, ended_by = ? WHERE ended_at IS NULL";
    Ok(sql::run(&w.connection, sql, params![w.now.0, by])? > 0)
}

pub(crate) fn fleet_hold(c: &Connection) -> Result<Option<FleetHold>, Fault> {
    let sql = "SELECT id, why, began_at, until FROM fleet_holds WHERE ended_at IS NULL";
    let row = |row: &Row<'_>| {
        Ok(FleetHold {
            id: row.get("id")?,
            why: row.get("why")?,
            began_at: rows::time(row, "began_at")?,
            until: rows::maybe_time(row, "until")?,
        })
    };
    Ok(sql::first(c, sql, [], row)?)
}

/// Returns when the last hold ended.
pub(crate) fn fleet_released_at(c: &Connection) -> Result<Option<UnixMicros>, Fault> {
    let sql = "SELECT max(ended_at) FROM fleet_holds";
    Ok(sql::one(c, sql, [], sql::column::<Option<i64>>)?.map(UnixMicros))
}
