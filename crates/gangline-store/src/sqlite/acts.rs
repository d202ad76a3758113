//! Statements of acts: recorded with what they made, found again by the next attempt.

use gangline_core::{
    AgentName, Epoch, MessageId, TurnId,
    act::{ActKind, Earlier, Taken, first_free},
    outcome::OutcomeWord,
};
use rusqlite::{Connection, Row, params};

use super::{Writer, fault::Fault, fence, rows, sql};
use crate::types::{ActAgain, ActRow, NewAct, Order};

macro_rules! act_sql {
    ($more:literal, $rest:literal) => {
        concat!(
            "SELECT a.id, a.kind, a.turn_epoch, a.turn_number, a.request, a.number, a.message, a.at",
            $more,
            " FROM acts a ",
            $rest
        )
    };
}

/// What a call made.
pub(super) struct MadeByCall {
    pub(super) number: i64,
    pub(super) message: Option<MessageId>,
}

impl MadeByCall {
    pub(super) fn numbered(number: i64) -> Self {
        Self { number, message: None }
    }
}

/// Records an act, in the commit of what it made. A repetition of the call records nothing.
pub(super) fn record(w: &mut Writer, act: &NewAct, made: &MadeByCall) -> Result<(), Fault> {
    put(w, act, made, None)
}

/// Records that a manager gave an order, which has the number of its restart, if it asks for one.
pub(crate) fn record_order(
    w: &mut Writer,
    act: Option<&NewAct>,
    order: &Order,
) -> Result<(), Fault> {
    let Some(act) = act else { return Ok(()) };
    fence::fence(w, &act.agent, Some(act.turn.epoch))?;
    let number = order.restart.as_ref().map_or(0, |restart| restart.number);
    record(w, act, &MadeByCall::numbered(number))
}

fn put(w: &mut Writer, act: &NewAct, made: &MadeByCall, repeats: Option<i64>) -> Result<(), Fault> {
    let sql = "INSERT INTO acts (installation_id, agent, turn_epoch, turn_number, request, kind, \
               key, number, message, in_reply_to, repeats, at) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
               ON CONFLICT (agent, request, key) DO NOTHING";
    sql::run(
        &w.connection,
        sql,
        params![
            &w.installation_id,
            act.agent.folded(),
            act.turn.epoch.0,
            act.turn.number,
            &act.request,
            act.kind.as_str(),
            act.key.as_str(),
            made.number,
            made.message.map(|id| id.0),
            act.in_reply_to.map(|id| id.0),
            repeats,
            w.now.0
        ],
    )?;
    Ok(())
}

/// Returns what the call is answered with, if an earlier attempt has done it. Changes nothing.
pub(crate) fn done_before(c: &Connection, act: &NewAct) -> Result<Option<ActRow>, Fault> {
    let same_call = act_sql!(
        "",
        "JOIN acts b ON b.repeats = a.id WHERE b.agent = ? AND b.request = ? AND b.key = ?"
    );
    let with = params![act.agent.folded(), &act.request, act.key.as_str()];
    if let Some(found) = sql::first(c, same_call, with, row)? {
        return Ok(Some(found));
    }
    let itself = "SELECT 1 FROM acts WHERE agent = ? AND request = ? AND key = ?";
    let with = params![act.agent.folded(), &act.request, act.key.as_str()];
    if sql::first(c, itself, with, sql::column::<i64>)?.is_some() {
        return Ok(None);
    }
    let (mut rows, mut earlier) = (Vec::new(), Vec::new());
    for (row, arrives) in of_earlier_attempts(c, act)? {
        earlier.push(Earlier { id: row.id, arrives, taken: taken(c, act.turn, row.id)? });
        rows.push(row);
    }
    let free = first_free(&earlier);
    Ok(rows.into_iter().find(|row| Some(row.id) == free))
}

/// As [`done_before`], and records that this call took it.
pub(crate) fn repeat(w: &mut Writer, act: &NewAct) -> Result<Option<ActRow>, Fault> {
    fence::fence(w, &act.agent, Some(act.turn.epoch))?;
    let Some(found) = done_before(&w.connection, act)? else { return Ok(None) };
    let made = MadeByCall { number: found.number, message: found.message };
    put(w, act, &made, Some(found.id))?;
    if let (ActKind::Question, Some(epoch)) = (found.kind, act.waits) {
        // The call that is held open now is this one.
        let sql = "UPDATE questions SET waits = ?, request = ? WHERE id = ? AND state = 'open'";
        sql::run(&w.connection, sql, params![epoch.0, &act.request, found.number])?;
    }
    Ok(Some(found))
}

/// Returns the acts with this key of the attempts that share a message with the turn and did not
/// complete, and whether each still arrives.
fn of_earlier_attempts(c: &Connection, act: &NewAct) -> Result<Vec<(ActRow, bool)>, Fault> {
    // From the turn's messages to their other turns to the acts: few rows at each step.
    let sql = act_sql!(
        ", a.kind <> 'send' OR a.message IS NOT NULL OR EXISTS (SELECT 1 FROM outbox o \
           WHERE o.agent = a.agent AND o.idem_key = a.request AND o.state <> 'undeliverable') \
           AS arrives",
        "WHERE a.id IN (SELECT e.id FROM turn_messages y \
         CROSS JOIN turn_messages x ON x.message = y.message AND x.agent = y.agent \
         CROSS JOIN turns t ON t.agent = x.agent AND t.epoch = x.epoch AND t.number = x.number \
         CROSS JOIN acts e ON e.agent = x.agent AND e.turn_epoch = x.epoch \
         AND e.turn_number = x.number \
         WHERE y.agent = ?1 AND y.epoch = ?2 AND y.number = ?3 \
         AND (x.epoch, x.number) < (?2, ?3) AND coalesce(t.outcome, '') <> ?4 \
         AND e.key = ?5 AND e.repeats IS NULL) ORDER BY a.id"
    );
    let with = params![
        act.agent.folded(),
        act.turn.epoch.0,
        act.turn.number,
        OutcomeWord::Completed.as_str(),
        act.key.as_str()
    ];
    Ok(sql::all(c, sql, with, |found| Ok((row(found)?, found.get("arrives")?)))?)
}

/// Returns which turns were answered with an act.
fn taken(c: &Connection, now: TurnId, act: i64) -> Result<Vec<Taken>, Fault> {
    let sql = "SELECT a.turn_epoch, a.turn_number, coalesce(t.outcome, '') FROM acts a \
               LEFT JOIN turns t ON t.agent = a.agent AND t.epoch = a.turn_epoch \
               AND t.number = a.turn_number WHERE a.repeats = ?";
    let read = |row: &Row<'_>| {
        let turn = TurnId { epoch: Epoch(row.get(0)?), number: row.get(1)? };
        let outcome: String = row.get(2)?;
        Ok(match outcome == OutcomeWord::Completed.as_str() {
            _ if turn == now => Taken::Now,
            true => Taken::Finished,
            false => Taken::Unfinished,
        })
    };
    Ok(sql::all(c, sql, params![act], read)?)
}

/// Returns the calls of a turn that were answered with what earlier attempts had done, in order.
pub(crate) fn again_in(
    c: &Connection,
    agent: &AgentName,
    turn: TurnId,
) -> Result<Vec<ActAgain>, Fault> {
    let sql = act_sql!(
        ", b.request AS by_request, b.in_reply_to AS by_reply, b.at AS by_at",
        "JOIN acts b ON b.repeats = a.id \
         WHERE b.agent = ? AND b.turn_epoch = ? AND b.turn_number = ? ORDER BY b.id"
    );
    let read = |found: &Row<'_>| {
        let in_reply_to: Option<i64> = found.get("by_reply")?;
        Ok(ActAgain {
            turn,
            request: found.get("by_request")?,
            in_reply_to: in_reply_to.map(MessageId),
            at: rows::time(found, "by_at")?,
            act: row(found)?,
        })
    };
    Ok(sql::all(c, sql, params![agent.folded(), turn.epoch.0, turn.number], read)?)
}

fn row(row: &Row<'_>) -> rusqlite::Result<ActRow> {
    let message: Option<i64> = row.get("message")?;
    Ok(ActRow {
        id: row.get("id")?,
        kind: rows::parsed(row, "kind")?,
        turn: TurnId { epoch: Epoch(row.get("turn_epoch")?), number: row.get("turn_number")? },
        request: row.get("request")?,
        number: row.get("number")?,
        message: message.map(MessageId),
        at: rows::time(row, "at")?,
    })
}
