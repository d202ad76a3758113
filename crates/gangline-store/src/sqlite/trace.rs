//! Statements that gather all about one message.

use std::collections::BTreeMap;

use gangline_core::{
    MessageId,
    question::{Asked, OPERATOR, text},
    redact::Redacted,
};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, Row, params};

use super::{
    acts, approvals, causes, events,
    fault::Fault,
    messages,
    rows::{self, approval_sql, outbox_sql, page, turn_sql},
    sql,
};
use crate::types::{ApprovalRow, EventQuery, Made, OutboxRow, Trace, TurnRow};

pub(crate) fn trace(c: &Connection, id: MessageId) -> Result<Option<Trace>, Fault> {
    let Some(message) = messages::one(c, id)? else { return Ok(None) };
    let turns = turns(c, id)?;
    let limit = page(0);
    let mut outbox = BTreeMap::new();
    let mut asked = BTreeMap::new();
    let sql = outbox_sql!("WHERE in_reply_to = ? ORDER BY id LIMIT ?");
    for line in sql::all(c, sql, params![id.0, limit], rows::outbox)? {
        outbox.insert(line.id, line);
    }
    let sql = approval_sql!("WHERE message = ? ORDER BY number LIMIT ?");
    for approval in sql::all(c, sql, params![id.0, limit], rows::approval)? {
        asked.insert(approval.number, approvals::with_before(c, approval)?);
    }
    let (mut record, mut made, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for turn in &turns {
        for line in lines_of(c, turn)? {
            outbox.insert(line.id, line);
        }
        for approval in approvals_of(c, turn)? {
            asked.insert(approval.number, approvals::with_before(c, approval)?);
        }
        again.extend(acts::again_in(c, &turn.agent, turn.turn)?);
        made.extend(made_by(c, turn)?);
        let query = EventQuery {
            agent: Some(turn.agent.clone()),
            turn: Some(turn.turn),
            ..EventQuery::default()
        };
        record.extend(events::page(c, &query)?.events);
    }
    made.sort_by_key(|made: &Made| made.at);
    record.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let (outbox, approvals) = (outbox.into_values().collect(), asked.into_values().collect());
    let cause = causes::of(c, id)?;
    Ok(Some(Trace { message, cause, turns, outbox, made, again, approvals, events: record }))
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

/// Returns the letters, questions and reminders of a turn. Their keys begin with it.
fn made_by(c: &Connection, turn: &TurnRow) -> Result<Vec<Made>, Fault> {
    let (agent, of) = (turn.agent.folded(), turn.turn.to_string());
    let mut made = Vec::new();
    let letters = "SELECT 'letter ' || id, ?, body, sent_at FROM letters \
                   WHERE agent = ? AND idem_key >= ? AND idem_key < ? ORDER BY id LIMIT ?";
    let with = params![OPERATOR, agent, format!("{of}-"), format!("{of}."), page(0)];
    made.extend(sql::all(c, letters, with, one_made)?);
    // The character after `/` is `0`.
    let (from, until) = (format!("{of}/"), format!("{of}0"));
    let questions = "SELECT 'question ' || id, target, body, asked_at FROM questions \
                     WHERE agent = ? AND request >= ? AND request < ? ORDER BY id LIMIT ?";
    made.extend(sql::all(c, questions, params![agent, from, until, page(0)], one_made)?);
    let reminders = "SELECT 'reminder ' || id, '', body, created_at FROM reminders \
                     WHERE agent = ? AND request >= ? AND request < ? ORDER BY id LIMIT ?";
    made.extend(sql::all(c, reminders, params![agent, from, until, page(0)], one_made)?);
    Ok(made)
}

fn one_made(row: &Row<'_>) -> rusqlite::Result<Made> {
    let to: String = row.get(1)?;
    let to = to.parse().map_or(to, |asked: Asked| text::recipient(&asked));
    Ok(Made {
        what: row.get(0)?,
        to,
        body: Redacted::from_store(row.get(2)?),
        at: UnixMicros(row.get(3)?),
    })
}
