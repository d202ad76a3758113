//! Statements of messages and cursors.

use gangline_core::{AgentName, Epoch, MessageId, MessageState, TurnId};
use gangline_os::clock::UnixMicros;
use sqlx::{Row, SqliteConnection};

use super::{
    Writer, agents,
    fault::Fault,
    rows::{self, message_sql, page},
};
use crate::{
    error::BrokerError,
    types::{Accepted, Cancel, MessageFilter, MessageRow, NewMessage},
};

pub(crate) async fn accept(w: &mut Writer, message: &NewMessage) -> Result<Accepted, Fault> {
    agents::fence(w, &message.agent, None).await?;
    put(w, message).await
}

/// Inserts a message, without asking whose epoch it is.
pub(crate) async fn put(w: &mut Writer, message: &NewMessage) -> Result<Accepted, Fault> {
    if !matches!(message.state, MessageState::Accepted | MessageState::Refused) {
        return Err(BrokerError::Invalid("a new message is accepted or refused").into());
    }
    if let Some(moved) = &message.cursor {
        let place = (&message.agent, message.network_id.as_str());
        put_cursor(w, place, &moved.target, &moved.cursor).await?;
    }
    let insert = "INSERT INTO messages (installation_id, agent, network_id, intake_key, origin, \
                  principal, tier, sender, target, body, in_reply_to, cause_root, hops, state, \
                  not_before, msgid, accepted_at, settled_at) \
                  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
                  ON CONFLICT (agent, network_id, intake_key) WHERE intake_key IS NOT NULL \
                  DO NOTHING RETURNING id";
    let settled = message.state.is_terminal().then_some(w.now.0);
    let new: Option<i64> = sqlx::query_scalar(insert)
        .bind(&w.installation_id)
        .bind(message.agent.folded())
        .bind(&message.network_id)
        .bind(&message.intake_key)
        .bind(message.origin.as_str())
        .bind(&message.principal.account)
        .bind(message.principal.tier.as_str())
        .bind(&message.sender)
        .bind(&message.target)
        .bind(message.body.as_str())
        .bind(message.in_reply_to.map(|id| id.0))
        .bind(message.cause_root.map(|id| id.0))
        .bind(message.hops)
        .bind(message.state.as_str())
        .bind(message.not_before.map(|at| at.0))
        .bind(&message.msgid)
        .bind(w.now.0)
        .bind(settled)
        .fetch_optional(&mut w.connection)
        .await?;
    if let Some(id) = new {
        return Ok(Accepted { id: MessageId(id), duplicate: false });
    }
    let find = "SELECT id FROM messages WHERE agent = ? AND network_id = ? AND intake_key = ?";
    let id = sqlx::query_scalar(find)
        .bind(message.agent.folded())
        .bind(&message.network_id)
        .bind(&message.intake_key)
        .fetch_one(&mut w.connection)
        .await?;
    Ok(Accepted { id: MessageId(id), duplicate: true })
}

pub(crate) async fn move_cursor(
    w: &mut Writer,
    place: (&AgentName, &str),
    target: &str,
    cursor: &str,
) -> Result<(), Fault> {
    agents::fence(w, place.0, None).await?;
    put_cursor(w, place, target, cursor).await
}

async fn put_cursor(
    w: &mut Writer,
    (agent, network): (&AgentName, &str),
    target: &str,
    cursor: &str,
) -> Result<(), Fault> {
    let sql = "INSERT INTO cursors (agent, network_id, target, cursor, moved_at) \
               VALUES (?, ?, ?, ?, ?) ON CONFLICT (agent, network_id, target) \
               DO UPDATE SET cursor = excluded.cursor, moved_at = excluded.moved_at";
    sqlx::query(sql)
        .bind(agent.folded())
        .bind(network)
        .bind(target)
        .bind(cursor)
        .bind(w.now.0)
        .execute(&mut w.connection)
        .await?;
    Ok(())
}

pub(crate) async fn cursors(
    c: &mut SqliteConnection,
    agent: &AgentName,
    network: &str,
) -> Result<Vec<(String, String)>, Fault> {
    let sql = "SELECT target, cursor FROM cursors WHERE agent = ? AND network_id = ? \
               ORDER BY target";
    Ok(sqlx::query_as(sql).bind(agent.folded()).bind(network).fetch_all(c).await?)
}

pub(crate) async fn one(
    c: &mut SqliteConnection,
    id: MessageId,
) -> Result<Option<MessageRow>, Fault> {
    let sql = message_sql!("FROM messages m WHERE m.id = ?");
    let row = sqlx::query(sql).bind(id.0).fetch_optional(c).await?;
    Ok(row.as_ref().map(rows::message).transpose()?)
}

pub(crate) async fn pending(
    c: &mut SqliteConnection,
    agent: &AgentName,
    now: UnixMicros,
    limit: u32,
) -> Result<Vec<MessageRow>, Fault> {
    let sql = message_sql!(
        "FROM messages m INDEXED BY messages_waiting WHERE m.agent = ? AND m.state = 'accepted' \
         AND (m.not_before IS NULL OR m.not_before <= ?) ORDER BY m.id LIMIT ?"
    );
    let query = sqlx::query(sql).bind(agent.folded()).bind(now.0).bind(page(limit));
    Ok(rows::all(&query.fetch_all(c).await?, rows::message)?)
}

pub(crate) async fn next_due(
    c: &mut SqliteConnection,
    agent: &AgentName,
    now: UnixMicros,
) -> Result<Option<UnixMicros>, Fault> {
    let sql = "SELECT min(not_before) FROM messages INDEXED BY messages_due \
               WHERE agent = ? AND state = 'accepted' AND not_before > ?";
    let due: Option<i64> =
        sqlx::query_scalar(sql).bind(agent.folded()).bind(now.0).fetch_one(c).await?;
    Ok(due.map(UnixMicros))
}

pub(crate) async fn list(
    c: &mut SqliteConnection,
    filter: &MessageFilter,
    limit: u32,
) -> Result<Vec<MessageRow>, Fault> {
    let one = message_sql!(
        "FROM messages m WHERE m.agent = ?1 AND m.id < ?2 \
         AND (?3 = '' OR instr(?3, ',' || m.state || ',') > 0) ORDER BY m.id DESC LIMIT ?4"
    );
    let every = message_sql!(
        "FROM messages m WHERE ?1 IS NULL AND m.id < ?2 \
         AND (?3 = '' OR instr(?3, ',' || m.state || ',') > 0) ORDER BY m.id DESC LIMIT ?4"
    );
    let mut states = String::new();
    for state in &filter.states {
        states.push_str(if states.is_empty() { "," } else { "" });
        states.push_str(state.as_str());
        states.push(',');
    }
    let query = sqlx::query(if filter.agent.is_some() { one } else { every })
        .bind(filter.agent.as_ref().map(AgentName::folded))
        .bind(filter.before.map_or(i64::MAX, |id| id.0))
        .bind(states)
        .bind(page(limit));
    Ok(rows::all(&query.fetch_all(c).await?, rows::message)?)
}

pub(crate) async fn cancel(w: &mut Writer, id: MessageId, by: &str) -> Result<Cancel, Fault> {
    let sql = "UPDATE messages SET state = 'cancelled', reason = ?, settled_at = ? \
               WHERE id = ? AND state IN ('accepted', 'held')";
    let done = sqlx::query(sql)
        .bind(format!("by {by}"))
        .bind(w.now.0)
        .bind(id.0)
        .execute(&mut w.connection)
        .await?;
    if done.rows_affected() > 0 {
        return Ok(Cancel::Done);
    }
    let sql = "SELECT state, turn_epoch, turn_number FROM messages WHERE id = ?";
    let row = sqlx::query(sql).bind(id.0).fetch_optional(&mut w.connection).await?;
    let Some(row) = row else { return Ok(Cancel::Unknown) };
    let state: MessageState = rows::parsed(&row, "state")?;
    let turn: (Option<i64>, Option<i64>) = (row.try_get(1)?, row.try_get(2)?);
    Ok(match (state, turn) {
        (MessageState::InTurn, (Some(epoch), Some(number))) => {
            Cancel::InTurn(TurnId { epoch: Epoch(epoch), number })
        }
        (state, _) => Cancel::Settled(state),
    })
}

pub(crate) async fn release(w: &mut Writer, id: MessageId) -> Result<bool, Fault> {
    let sql = "UPDATE messages SET state = 'accepted', reason = NULL \
               WHERE id = ? AND state = 'held'";
    let done = sqlx::query(sql).bind(id.0).execute(&mut w.connection).await?;
    Ok(done.rows_affected() > 0)
}
