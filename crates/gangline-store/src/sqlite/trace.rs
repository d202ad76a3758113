//! Statements that gather all about one message.

use std::collections::BTreeMap;

use gangline_core::MessageId;
use rusqlite::{Connection, params};

use super::{
    causes, events,
    fault::Fault,
    messages,
    rows::{self, approval_sql, outbox_sql, page, turn_sql},
    sql,
};
use crate::types::{ApprovalRow, EventQuery, OutboxRow, Trace, TurnRow};

pub(crate) fn trace(c: &Connection, id: MessageId) -> Result<Option<Trace>, Fault> {
    let Some(message) = messages::one(c, id)? else { return Ok(None) };
    let turns = turns(c, id)?;
    let limit = page(0);
    let mut outbox = BTreeMap::new();
    let mut approvals = BTreeMap::new();
    let sql = outbox_sql!("WHERE in_reply_to = ? ORDER BY id LIMIT ?");
    for line in sql::all(c, sql, params![id.0, limit], rows::outbox)? {
        outbox.insert(line.id, line);
    }
    let sql = approval_sql!("WHERE message = ? ORDER BY number LIMIT ?");
    for approval in sql::all(c, sql, params![id.0, limit], rows::approval)? {
        approvals.insert(approval.number, approval);
    }
    let mut record = Vec::new();
    for turn in &turns {
        for line in lines_of(c, turn)? {
            outbox.insert(line.id, line);
        }
        for approval in approvals_of(c, turn)? {
            approvals.insert(approval.number, approval);
        }
        let query = EventQuery {
            agent: Some(turn.agent.clone()),
            turn: Some(turn.turn),
            ..EventQuery::default()
        };
        record.extend(events::page(c, &query)?.events);
    }
    record.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let (outbox, approvals) = (outbox.into_values().collect(), approvals.into_values().collect());
    let cause = causes::of(c, id)?;
    Ok(Some(Trace { message, cause, turns, outbox, approvals, events: record }))
}

fn turns(c: &Connection, id: MessageId) -> Result<Vec<TurnRow>, Fault> {
    let sql = turn_sql!(
        "JOIN turn_messages x ON x.agent = t.agent AND x.epoch = t.epoch AND x.number = t.number \
         WHERE x.message = ? ORDER BY t.epoch, t.number LIMIT ?"
    );
    Ok(sql::all(c, sql, params![id.0, page(0)], rows::turn)?)
}

fn lines_of(c: &Connection, turn: &TurnRow) -> Result<Vec<OutboxRow>, Fault> {
    let sql =
        outbox_sql!("WHERE agent = ? AND turn_epoch = ? AND turn_number = ? ORDER BY id LIMIT ?");
    let with = params![turn.agent.folded(), turn.turn.epoch.0, turn.turn.number, page(0)];
    Ok(sql::all(c, sql, with, rows::outbox)?)
}

fn approvals_of(c: &Connection, turn: &TurnRow) -> Result<Vec<ApprovalRow>, Fault> {
    let sql =
        approval_sql!("WHERE agent = ? AND epoch = ? AND turn_number = ? ORDER BY number LIMIT ?");
    let with = params![turn.agent.folded(), turn.turn.epoch.0, turn.turn.number, page(0)];
    Ok(sql::all(c, sql, with, rows::approval)?)
}
