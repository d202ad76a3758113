//! Statements of orders about a turn or a session.

use gangline_core::{AgentName, Epoch, TurnId, pause::PauseReason};
use rusqlite::{Connection, Row, params};

use super::{Writer, fault::Fault, fence, findings, pauses, rows, sql};
use crate::types::{
    EndOrder, EndTurn, Guides, OpenTurnOrder, OrderedEnd, TurnOrderKind, TurnOrderOutcome,
};

/// Orders the end of a turn, if it is open.
pub(crate) fn end(w: &mut Writer, order: &EndOrder) -> Result<OrderedEnd, Fault> {
    let EndOrder { agent, turn, by, guides } = order;
    fence::fence(w, agent, None)?;
    let ended = match turn {
        Some(turn) => end_one(w, agent, (*turn, by))?,
        None => OrderedEnd::NoTurn,
    };
    if ended != OrderedEnd::NotYet && *guides == Guides::Yes {
        pauses::end(w, agent, (PauseReason::Escalation, None))?;
        findings::pause_over(w, agent, PauseReason::Escalation)?;
    }
    Ok(ended)
}

/// The same for one turn; a second order to end it adds no row.
pub(super) fn end_one(
    w: &mut Writer,
    agent: &AgentName,
    (turn, by): (TurnId, &str),
) -> Result<OrderedEnd, Fault> {
    let sql = "SELECT ended_at FROM turns WHERE agent = ? AND epoch = ? AND number = ?";
    let with = params![agent.folded(), turn.epoch.0, turn.number];
    let found: Option<Option<i64>> = sql::first(&w.connection, sql, with, sql::column)?;
    match found {
        None => return Ok(OrderedEnd::NotYet),
        Some(Some(_)) => return Ok(OrderedEnd::NoTurn),
        Some(None) => {}
    }
    let sql = "SELECT 1 FROM turn_orders INDEXED BY turn_orders_open WHERE agent = ? \
               AND kind = 'end_turn' AND turn_epoch = ? AND turn_number = ? AND outcome IS NULL";
    let with = params![agent.folded(), turn.epoch.0, turn.number];
    if sql::first(&w.connection, sql, with, sql::column::<i64>)?.is_none() {
        put(w, agent, (TurnOrderKind::EndTurn, Some(turn), by))?;
    }
    Ok(OrderedEnd::Ends)
}

fn put(
    w: &mut Writer,
    agent: &AgentName,
    (kind, turn, by): (TurnOrderKind, Option<TurnId>, &str),
) -> Result<i64, Fault> {
    let sql = "INSERT INTO turn_orders (installation_id, agent, kind, turn_epoch, turn_number, by, \
               at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING id";
    let with = params![
        &w.installation_id,
        agent.folded(),
        kind.as_str(),
        turn.map(|turn| turn.epoch.0),
        turn.map(|turn| turn.number),
        by,
        w.now.0
    ];
    Ok(sql::one(&w.connection, sql, with, sql::column)?)
}

/// Orders something about the session. A new session leaves nothing to be made shorter.
pub(crate) fn session(
    w: &mut Writer,
    agent: &AgentName,
    (kind, by): (TurnOrderKind, &str),
) -> Result<i64, Fault> {
    fence::fence(w, agent, None)?;
    if kind == TurnOrderKind::Clear {
        let sql = "UPDATE turn_orders SET outcome = ?2, settled_at = ?3 \
                   WHERE agent = ?1 AND kind = 'compact' AND outcome IS NULL";
        let void = TurnOrderOutcome::Void.as_str();
        sql::run(&w.connection, sql, params![agent.folded(), void, w.now.0])?;
    }
    put(w, agent, (kind, None, by))
}

/// The session's orders up to this one were carried out.
pub(crate) fn session_done(w: &mut Writer, agent: &AgentName, upto: i64) -> Result<(), Fault> {
    fence::fence(w, agent, None)?;
    let sql = "UPDATE turn_orders SET outcome = ?3, settled_at = ?4 WHERE agent = ?1 \
               AND kind IN ('clear', 'compact') AND outcome IS NULL AND id <= ?2";
    let done = TurnOrderOutcome::Done.as_str();
    sql::run(&w.connection, sql, params![agent.folded(), upto, done, w.now.0])?;
    Ok(())
}

/// Orders the backend to be tried again.
pub(super) fn resume(w: &mut Writer, agent: &AgentName, by: &str) -> Result<(), Fault> {
    put(w, agent, (TurnOrderKind::Resume, None, by)).map(drop)
}

/// The backend was tried again, as the orders up to this one wanted it.
pub(crate) fn resumed(w: &mut Writer, agent: &AgentName, upto: i64) -> Result<(), Fault> {
    fence::fence(w, agent, None)?;
    let sql = "UPDATE turn_orders SET outcome = ?3, settled_at = ?4 WHERE agent = ?1 \
               AND kind = 'resume' AND outcome IS NULL AND id <= ?2";
    let done = TurnOrderOutcome::Done.as_str();
    sql::run(&w.connection, sql, params![agent.folded(), upto, done, w.now.0])?;
    Ok(())
}

/// Returns the newest open order to try the backend again.
pub(super) fn resume_ordered(c: &Connection, agent: &AgentName) -> Result<Option<i64>, Fault> {
    let sql = "SELECT max(id) FROM turn_orders INDEXED BY turn_orders_open \
               WHERE agent = ? AND kind = 'resume' AND outcome IS NULL";
    Ok(sql::one(c, sql, params![agent.folded()], sql::column)?)
}

/// A daemon begins, and tries its backend. A new session that was ordered and not begun is begun by it.
/// Returns whether there was such an order.
pub(super) fn begins_anew(w: &mut Writer, agent: &AgentName) -> Result<bool, Fault> {
    if let Some(newest) = resume_ordered(&w.connection, agent)? {
        resumed(w, agent, newest)?;
    }
    let sql = "SELECT max(id) FROM turn_orders INDEXED BY turn_orders_open \
               WHERE agent = ? AND kind = 'clear' AND outcome IS NULL";
    let newest: Option<i64> = sql::one(&w.connection, sql, params![agent.folded()], sql::column)?;
    let Some(newest) = newest else { return Ok(false) };
    session_done(w, agent, newest)?;
    Ok(true)
}

/// A turn has ended: so have the orders to end it.
pub(super) fn turn_over(w: &mut Writer, end: &EndTurn) -> Result<(), Fault> {
    // As the outcome's record has it: a person's word ended it.
    let outcome = match end.outcome.to_string() == "interrupted:operator" {
        true => TurnOrderOutcome::Done,
        false => TurnOrderOutcome::Void,
    };
    let sql = "UPDATE turn_orders SET outcome = ?4, settled_at = ?5 WHERE agent = ?1 \
               AND kind = 'end_turn' AND turn_epoch = ?2 AND turn_number = ?3 AND outcome IS NULL";
    let with =
        params![end.agent.folded(), end.turn.epoch.0, end.turn.number, outcome.as_str(), w.now.0];
    sql::run(&w.connection, sql, with)?;
    Ok(())
}

/// A daemon begins: orders of an older one whose turn is not open any more, or never was, are void.
pub(super) fn void_older(w: &mut Writer, agent: &AgentName, epoch: Epoch) -> Result<(), Fault> {
    let sql = "UPDATE turn_orders SET outcome = ?3, settled_at = ?4 WHERE agent = ?1 \
               AND kind = 'end_turn' AND outcome IS NULL AND turn_epoch < ?2 \
               AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.agent = ?1 AND t.ended_at IS NULL \
               AND t.epoch = turn_epoch AND t.number = turn_number)";
    let void = TurnOrderOutcome::Void.as_str();
    sql::run(&w.connection, sql, params![agent.folded(), epoch.0, void, w.now.0])?;
    Ok(())
}

/// Returns who ordered the end of an open turn.
pub(super) fn ordered_end(
    c: &Connection,
    agent: &AgentName,
    turn: TurnId,
) -> Result<Option<String>, Fault> {
    let sql = "SELECT by FROM turn_orders INDEXED BY turn_orders_open WHERE agent = ? \
               AND kind = 'end_turn' AND turn_epoch = ? AND turn_number = ? AND outcome IS NULL \
               ORDER BY id LIMIT 1";
    let with = params![agent.folded(), turn.epoch.0, turn.number];
    Ok(sql::first(c, sql, with, sql::column)?)
}

/// Returns the agent's orders that have no outcome yet.
pub(crate) fn open(c: &Connection, agent: &AgentName) -> Result<Vec<OpenTurnOrder>, Fault> {
    let sql = "SELECT id, kind, turn_epoch, turn_number FROM turn_orders \
               WHERE agent = ? AND outcome IS NULL ORDER BY id";
    let read = |row: &Row<'_>| {
        let epoch: Option<i64> = row.get("turn_epoch")?;
        let number: Option<i64> = row.get("turn_number")?;
        let turn = epoch.zip(number);
        Ok(OpenTurnOrder {
            id: row.get("id")?,
            kind: rows::parsed(row, "kind")?,
            turn: turn.map(|(epoch, number)| TurnId { epoch: Epoch(epoch), number }),
        })
    };
    Ok(sql::all(c, sql, params![agent.folded()], read)?)
}

/// Returns the turn that an agent's present daemon has open.
pub(super) fn open_turn(c: &Connection, agent: &AgentName) -> Result<Option<TurnId>, Fault> {
    let sql = "SELECT epoch, number FROM turns WHERE agent = ? AND ended_at IS NULL \
               ORDER BY epoch DESC, number DESC LIMIT 1";
    Ok(sql::first(c, sql, params![agent.folded()], |row| {
        Ok(TurnId { epoch: Epoch(row.get(0)?), number: row.get(1)? })
    })?)
}
