//! Statements that gather all about one message.

use std::collections::BTreeMap;

use gangline_core::MessageId;
use sqlx::SqliteConnection;

use super::{
    events,
    fault::Fault,
    messages,
    rows::{self, approval_sql, outbox_sql, page, turn_sql},
};
use crate::types::{ApprovalRow, EventQuery, OutboxRow, Trace, TurnRow};

pub(crate) async fn trace(c: &mut SqliteConnection, id: MessageId) -> Result<Option<Trace>, Fault> {
    let Some(message) = messages::one(c, id).await? else { return Ok(None) };
    let turns = turns(c, id).await?;
    let limit = page(0);
    let mut outbox = BTreeMap::new();
    let mut approvals = BTreeMap::new();
    let sql = outbox_sql!("WHERE in_reply_to = ? ORDER BY id LIMIT ?");
    for row in sqlx::query(sql).bind(id.0).bind(limit).fetch_all(&mut *c).await? {
        let line: OutboxRow = rows::outbox(&row)?;
        outbox.insert(line.id, line);
    }
    let sql = approval_sql!("WHERE message = ? ORDER BY number LIMIT ?");
    for row in sqlx::query(sql).bind(id.0).bind(limit).fetch_all(&mut *c).await? {
        let approval: ApprovalRow = rows::approval(&row)?;
        approvals.insert(approval.number, approval);
    }
    let mut record = Vec::new();
    for turn in &turns {
        for line in lines_of(c, turn).await? {
            outbox.insert(line.id, line);
        }
        for approval in approvals_of(c, turn).await? {
            approvals.insert(approval.number, approval);
        }
        let query = EventQuery {
            agent: Some(turn.agent.clone()),
            turn: Some(turn.turn),
            ..EventQuery::default()
        };
        record.extend(events::page(c, &query).await?.events);
    }
    record.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let (outbox, approvals) = (outbox.into_values().collect(), approvals.into_values().collect());
    Ok(Some(Trace { message, turns, outbox, approvals, events: record }))
}

async fn turns(c: &mut SqliteConnection, id: MessageId) -> Result<Vec<TurnRow>, Fault> {
    let sql = turn_sql!(
        "JOIN turn_messages x ON x.agent = t.agent AND x.epoch = t.epoch AND x.number = t.number \
         WHERE x.message = ? ORDER BY t.epoch, t.number LIMIT ?"
    );
    let found = sqlx::query(sql).bind(id.0).bind(page(0)).fetch_all(c).await?;
    Ok(rows::all(&found, rows::turn)?)
}

async fn lines_of(c: &mut SqliteConnection, turn: &TurnRow) -> Result<Vec<OutboxRow>, Fault> {
    let sql =
        outbox_sql!("WHERE agent = ? AND turn_epoch = ? AND turn_number = ? ORDER BY id LIMIT ?");
    let query = sqlx::query(sql)
        .bind(turn.agent.folded())
        .bind(turn.turn.epoch.0)
        .bind(turn.turn.number)
        .bind(page(0));
    Ok(rows::all(&query.fetch_all(c).await?, rows::outbox)?)
}

async fn approvals_of(c: &mut SqliteConnection, turn: &TurnRow) -> Result<Vec<ApprovalRow>, Fault> {
    let sql =
        approval_sql!("WHERE agent = ? AND epoch = ? AND turn_number = ? ORDER BY number LIMIT ?");
    let query = sqlx::query(sql)
        .bind(turn.agent.folded())
        .bind(turn.turn.epoch.0)
        .bind(turn.turn.number)
        .bind(page(0));
    Ok(rows::all(&query.fetch_all(c).await?, rows::approval)?)
}
