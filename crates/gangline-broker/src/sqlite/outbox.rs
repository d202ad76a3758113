//! Statements of the outbox.

use gangline_core::{AgentName, redact::Redacted};
use sqlx::{Row, SqliteConnection};

use super::{
    Writer, agents,
    fault::Fault,
    messages,
    rows::{self, outbox_sql, page},
};
use crate::types::{OutboxId, OutboxRow, OutboxState, Send, SendReceipt};

pub(crate) async fn send(w: &mut Writer, send: &Send) -> Result<SendReceipt, Fault> {
    agents::fence(w, &send.agent, send.turn.map(|turn| turn.epoch)).await?;
    put(w, send).await
}

/// Inserts a send's lines, without asking whose epoch it is.
pub(super) async fn put(w: &mut Writer, send: &Send) -> Result<SendReceipt, Fault> {
    let known = "SELECT id FROM outbox WHERE agent = ? AND idem_key = ? ORDER BY part";
    let known: Vec<i64> = sqlx::query_scalar(known)
        .bind(send.agent.folded())
        .bind(&send.idem_key)
        .fetch_all(&mut w.connection)
        .await?;
    let repeated = !known.is_empty();
    let mut outbox: Vec<OutboxId> = known.into_iter().map(OutboxId).collect();
    if !repeated {
        let cause = cause(w, send).await?;
        for (part, line) in send.lines.iter().enumerate() {
            outbox.push(put_line(w, send, part, (line, &cause)).await?);
        }
    }
    let delivered = match &send.deliver {
        Some(message) if !repeated || message.intake_key.is_some() => {
            Some(messages::put(w, message).await?)
        }
        _ => None,
    };
    let repeated = repeated || delivered.is_some_and(|row| row.duplicate);
    Ok(SendReceipt { outbox, repeated, delivered })
}

/// What a line follows from.
#[derive(Default)]
struct Cause {
    root: Option<i64>,
    hops: i64,
    tell: Option<String>,
}

/// Takes the cause from the answered message, else from the turn's message with most hops.
async fn cause(w: &mut Writer, send: &Send) -> Result<Cause, Fault> {
    let answered = "SELECT coalesce(cause_root, id), hops + 1, sender FROM messages WHERE id = ?";
    let of_turn = "SELECT coalesce(m.cause_root, m.id), m.hops + 1, NULL \
                   FROM turn_messages t JOIN messages m ON m.id = t.message \
                   WHERE t.agent = ? AND t.epoch = ? AND t.number = ? \
                   ORDER BY m.hops DESC, m.id LIMIT 1";
    let query = match (send.in_reply_to, send.turn) {
        (Some(message), _) => sqlx::query(answered).bind(message.0),
        (None, Some(turn)) => {
            sqlx::query(of_turn).bind(send.agent.folded()).bind(turn.epoch.0).bind(turn.number)
        }
        (None, None) => return Ok(Cause::default()),
    };
    let Some(row) = query.fetch_optional(&mut w.connection).await? else {
        return Ok(Cause::default());
    };
    Ok(Cause { root: row.try_get(0)?, hops: row.try_get(1)?, tell: row.try_get(2)? })
}

async fn put_line(
    w: &mut Writer,
    send: &Send,
    part: usize,
    (line, cause): (&Redacted, &Cause),
) -> Result<OutboxId, Fault> {
    let sql = "INSERT INTO outbox (installation_id, agent, idem_key, part, parts, target, body, \
               kind, state, turn_epoch, turn_number, in_reply_to, tell, cause_root, hops, \
               created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let done = sqlx::query(sql)
        .bind(&w.installation_id)
        .bind(send.agent.folded())
        .bind(&send.idem_key)
        .bind(count(part))
        .bind(count(send.lines.len()))
        .bind(&send.target)
        .bind(line.as_str())
        .bind(send.kind.as_str())
        .bind(OutboxState::Queued.as_str())
        .bind(send.turn.map(|turn| turn.epoch.0))
        .bind(send.turn.map(|turn| turn.number))
        .bind(send.in_reply_to.map(|id| id.0))
        .bind(&cause.tell)
        .bind(cause.root)
        .bind(cause.hops)
        .bind(w.now.0)
        .execute(&mut w.connection)
        .await?;
    Ok(OutboxId(done.last_insert_rowid()))
}

pub(crate) async fn pending(
    c: &mut SqliteConnection,
    agent: &AgentName,
    limit: u32,
) -> Result<Vec<OutboxRow>, Fault> {
    let sql = outbox_sql!("WHERE agent = ? AND state IN ('queued', 'sent') ORDER BY id LIMIT ?");
    let query = sqlx::query(sql).bind(agent.folded()).bind(page(limit));
    Ok(rows::all(&query.fetch_all(c).await?, rows::outbox)?)
}

pub(crate) async fn by_idem(
    c: &mut SqliteConnection,
    agent: &AgentName,
    key: &str,
) -> Result<Vec<OutboxRow>, Fault> {
    let sql = outbox_sql!("WHERE agent = ? AND idem_key = ? ORDER BY part");
    let query = sqlx::query(sql).bind(agent.folded()).bind(key);
    Ok(rows::all(&query.fetch_all(c).await?, rows::outbox)?)
}

/// Fences a write that names only the row.
async fn fence_row(w: &mut Writer, id: OutboxId) -> Result<(), Fault> {
    if w.epochs.is_empty() {
        return Ok(());
    }
    let row = sqlx::query("SELECT agent FROM outbox WHERE id = ?")
        .bind(id.0)
        .fetch_optional(&mut w.connection)
        .await?;
    match row {
        Some(row) => {
            let agent = rows::parsed(&row, "agent")?;
            agents::fence(w, &agent, None).await
        }
        None => Ok(()),
    }
}

pub(crate) async fn mark_sent(w: &mut Writer, ids: &[OutboxId]) -> Result<u64, Fault> {
    let sql = "UPDATE outbox SET state = 'sent', attempts = attempts + 1, sent_at = ? \
               WHERE id = ? AND state IN ('queued', 'sent')";
    let mut changed = 0;
    for id in ids {
        fence_row(w, *id).await?;
        let done = sqlx::query(sql).bind(w.now.0).bind(id.0).execute(&mut w.connection).await?;
        changed += done.rows_affected();
    }
    Ok(changed)
}

pub(crate) async fn confirm(
    w: &mut Writer,
    id: OutboxId,
    msgid: Option<&str>,
) -> Result<bool, Fault> {
    fence_row(w, id).await?;
    // A line that was given up and is seen in the room after all was delivered.
    let sql = "UPDATE outbox SET state = 'confirmed', msgid = ?, why = NULL, settled_at = ? \
               WHERE id = ? AND state <> 'confirmed'";
    let done =
        sqlx::query(sql).bind(msgid).bind(w.now.0).bind(id.0).execute(&mut w.connection).await?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn requeue(w: &mut Writer, agent: &AgentName) -> Result<u64, Fault> {
    agents::fence(w, agent, None).await?;
    let sql = "UPDATE outbox INDEXED BY outbox_pending SET state = 'queued' WHERE agent = ? AND state = 'sent' \
               AND state IN ('queued', 'sent')";
    let done = sqlx::query(sql).bind(agent.folded()).execute(&mut w.connection).await?;
    Ok(done.rows_affected())
}

pub(crate) async fn undeliverable(w: &mut Writer, id: OutboxId, why: &str) -> Result<bool, Fault> {
    fence_row(w, id).await?;
    let sql = "UPDATE outbox SET state = 'undeliverable', why = ?, settled_at = ? \
               WHERE id = ? AND state IN ('queued', 'sent')";
    let done =
        sqlx::query(sql).bind(why).bind(w.now.0).bind(id.0).execute(&mut w.connection).await?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn doubled(w: &mut Writer, id: OutboxId) -> Result<(), Fault> {
    fence_row(w, id).await?;
    sqlx::query("UPDATE outbox SET may_be_doubled = 1 WHERE id = ?")
        .bind(id.0)
        .execute(&mut w.connection)
        .await?;
    Ok(())
}
