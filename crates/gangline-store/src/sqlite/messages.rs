//! Statements of messages and cursors.

use gangline_core::{AgentName, MessageId, MessageState, cause::Limit};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, params};

use super::{
    Writer, causes,
    fault::Fault,
    fence, findings,
    rows::{self, message_sql, page},
    sql,
};
use crate::{
    error::StoreError,
    types::{Accepted, Cancel, MessageFilter, MessageRow, NewMessage, TakenIn},
};

pub(crate) fn accept(w: &mut Writer, message: &NewMessage) -> Result<Accepted, Fault> {
    fence::fence(w, &message.agent, None)?;
    put(w, message, None)
}

/// As [`accept`]; returns the row too, if it is new and waits for a turn now.
pub(crate) fn accept_row(
    w: &mut Writer,
    message: &NewMessage,
) -> Result<(Accepted, Option<MessageRow>), Fault> {
    let accepted = accept(w, message)?;
    if accepted.duplicate || message.not_before.is_some_and(|at| at > w.now) {
        return Ok((accepted, None));
    }
    let row = one(&w.connection, accepted.id)?;
    Ok((accepted, row.filter(|row| row.state == MessageState::Accepted)))
}

/// Inserts a message, without asking whose epoch it is. `inherited`: the root of what it follows
/// from, where the message does not say.
pub(crate) fn put(
    w: &mut Writer,
    message: &NewMessage,
    inherited: Option<MessageId>,
) -> Result<Accepted, Fault> {
    if !matches!(message.state, MessageState::Accepted | MessageState::Refused | MessageState::Held)
    {
        return Err(StoreError::Invalid("a new message is accepted, refused or held").into());
    }
    if let Some(moved) = &message.cursor {
        let place = (&message.agent, message.network_id.as_str());
        put_cursor(w, place, &moved.target, &moved.cursor)?;
    }
    let root = causes::root_of_new(&w.connection, message, inherited)?;
    let (state, reason) = causes::state_of_new(&w.connection, (message.state, message.hops), root)?;
    let insert = "INSERT INTO messages (installation_id, agent, network_id, intake_key, origin, \
                  principal, tier, sender, target, body, in_reply_to, cause_root, cause, hops, \
                  state, reason, not_before, msgid, accepted_at, settled_at) \
                  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
                  ON CONFLICT (agent, network_id, intake_key) WHERE intake_key IS NOT NULL \
                  DO NOTHING RETURNING id";
    let settled = state.is_terminal().then_some(w.now.0);
    let new: Option<i64> = sql::first(
        &w.connection,
        insert,
        params![
            &w.installation_id,
            message.agent.folded(),
            &message.network_id,
            &message.intake_key,
            message.origin.as_str(),
            &message.principal.account,
            message.principal.tier.as_str(),
            &message.sender,
            &message.target,
            message.body.as_str(),
            message.in_reply_to.map(|id| id.0),
            message.cause_root.or(inherited).map(|id| id.0),
            root.map(|id| id.0),
            message.hops,
            state.as_str(),
            reason,
            message.not_before.map(|at| at.0),
            &message.msgid,
            w.now.0,
            settled
        ],
        sql::column,
    )?;
    if let Some(id) = new {
        if state == MessageState::Held {
            let root = root.unwrap_or(MessageId(id));
            let limit = Limit::Hops(message.hops);
            causes::flag(w, root, limit, (&message.agent, MessageId(id)))?;
        }
        return Ok(Accepted { id: MessageId(id), duplicate: false });
    }
    let find = "SELECT id FROM messages WHERE agent = ? AND network_id = ? AND intake_key = ?";
    let id = sql::one(
        &w.connection,
        find,
        params![message.agent.folded(), &message.network_id, &message.intake_key],
        sql::column,
    )?;
    Ok(Accepted { id: MessageId(id), duplicate: true })
}

pub(crate) fn move_cursor(
    w: &mut Writer,
    place: (&AgentName, &str),
    target: &str,
    cursor: &str,
) -> Result<(), Fault> {
    fence::fence(w, place.0, None)?;
    put_cursor(w, place, target, cursor)
}

fn put_cursor(
    w: &mut Writer,
    (agent, network): (&AgentName, &str),
    target: &str,
    cursor: &str,
) -> Result<(), Fault> {
    let sql = "INSERT INTO cursors (agent, network_id, target, cursor, moved_at) \
               VALUES (?, ?, ?, ?, ?) ON CONFLICT (agent, network_id, target) \
               DO UPDATE SET cursor = excluded.cursor, moved_at = excluded.moved_at";
    sql::run(&w.connection, sql, params![agent.folded(), network, target, cursor, w.now.0])?;
    Ok(())
}

pub(crate) fn cursors(
    c: &Connection,
    agent: &AgentName,
    network: &str,
) -> Result<Vec<(String, String)>, Fault> {
    let sql = "SELECT target, cursor FROM cursors WHERE agent = ? AND network_id = ? \
               ORDER BY target";
    Ok(sql::all(c, sql, params![agent.folded(), network], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

pub(crate) fn taken_in(
    c: &Connection,
    (agent, network): (&AgentName, &str),
    keys: Vec<String>,
) -> Result<Vec<TakenIn>, Fault> {
    let sql = "SELECT id, state FROM messages \
               WHERE agent = ? AND network_id = ? AND intake_key = ?";
    let mut found = Vec::new();
    for key in keys {
        let row = sql::first(c, sql, params![agent.folded(), network, &key], |row| {
            Ok((MessageId(row.get(0)?), rows::parsed(row, "state")?))
        })?;
        found.extend(row.map(|(id, state)| TakenIn { key, id, state }));
    }
    Ok(found)
}

pub(crate) fn one(c: &Connection, id: MessageId) -> Result<Option<MessageRow>, Fault> {
    let sql = message_sql!("FROM messages m WHERE m.id = ?");
    Ok(sql::first(c, sql, params![id.0], rows::message)?)
}

pub(crate) fn pending(
    c: &Connection,
    agent: &AgentName,
    now: UnixMicros,
    limit: u32,
) -> Result<Vec<MessageRow>, Fault> {
    let sql = message_sql!(
        "FROM messages m INDEXED BY messages_waiting WHERE m.agent = ? AND m.state = 'accepted' \
         AND (m.not_before IS NULL OR m.not_before <= ?) ORDER BY m.id LIMIT ?"
    );
    Ok(sql::all(c, sql, params![agent.folded(), now.0, page(limit)], rows::message)?)
}

/// Returns how many messages [`pending`] would return without a limit.
pub(crate) fn pending_count(
    c: &Connection,
    agent: &AgentName,
    now: UnixMicros,
) -> Result<u64, Fault> {
    let sql = "SELECT count(*) FROM messages INDEXED BY messages_waiting WHERE agent = ? \
               AND state = 'accepted' AND (not_before IS NULL OR not_before <= ?)";
    let count: i64 = sql::one(c, sql, params![agent.folded(), now.0], sql::column)?;
    Ok(count.unsigned_abs())
}

pub(crate) fn next_due(
    c: &Connection,
    agent: &AgentName,
    now: UnixMicros,
) -> Result<Option<UnixMicros>, Fault> {
    let sql = "SELECT min(not_before) FROM messages INDEXED BY messages_due \
               WHERE agent = ? AND state = 'accepted' AND not_before > ?";
    let due: Option<i64> = sql::one(c, sql, params![agent.folded(), now.0], sql::column)?;
    Ok(due.map(UnixMicros))
}

pub(crate) fn list(
    c: &Connection,
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
    let sql = if filter.agent.is_some() { one } else { every };
    let with = params![
        filter.agent.as_ref().map(AgentName::folded),
        filter.before.map_or(i64::MAX, |id| id.0),
        states,
        page(limit)
    ];
    Ok(sql::all(c, sql, with, rows::message)?)
}

pub(crate) fn cancel(w: &mut Writer, id: MessageId, by: &str) -> Result<Cancel, Fault> {
    let sql = "UPDATE messages SET state = 'cancelled', reason = ?, settled_at = ? \
               WHERE id = ? AND state IN ('accepted', 'held')";
    let done = sql::run(&w.connection, sql, params![format!("by {by}"), w.now.0, id.0])?;
    if done > 0 {
        causes::look_at_held(w, id)?;
        return Ok(Cancel::Done);
    }
    let sql = "SELECT state, turn_epoch, turn_number FROM messages WHERE id = ?";
    let found = sql::first(&w.connection, sql, params![id.0], |row| {
        Ok((rows::parsed(row, "state")?, rows::maybe_turn(row)?))
    })?;
    Ok(match found {
        None => Cancel::Unknown,
        Some((MessageState::InTurn, Some(turn))) => Cancel::InTurn(turn),
        Some((state, _)) => Cancel::Settled(state),
    })
}

/// Puts a message back that was given up. Returns whether it had been.
pub(crate) fn retry(w: &mut Writer, id: MessageId, by: &str) -> Result<bool, Fault> {
    let sql = "UPDATE messages SET state = 'accepted', reason = NULL, attempt = 0, \
               not_before = NULL, settled_at = NULL WHERE id = ? AND state = 'dead_letter'";
    let done = sql::run(&w.connection, sql, params![id.0])? > 0;
    findings::tried_again(w, id, by)?;
    Ok(done)
}

/// Returns how many of what waits stand before a message, itself included, and how many wait.
pub(crate) fn place(
    c: &Connection,
    agent: &AgentName,
    message: MessageId,
) -> Result<(u64, u64), Fault> {
    let sql = "SELECT coalesce(sum(id <= ?2), 0), count(*) FROM messages \
               INDEXED BY messages_waiting WHERE agent = ?1 AND state = 'accepted' \
               AND restart IS NULL";
    let counts = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let (before, all): (i64, i64) = sql::one(c, sql, params![agent.folded(), message.0], counts)?;
    Ok((before.unsigned_abs(), all.unsigned_abs()))
}

/// Returns how many messages of an agent wait for a turn. One that tells of its daemon's start waits for
/// another message, and is not counted.
pub(crate) fn waiting(c: &Connection, agent: &AgentName) -> Result<u64, Fault> {
    let sql = "SELECT count(*) FROM messages INDEXED BY messages_waiting \
               WHERE agent = ? AND state = 'accepted' \
               AND restart IS NULL";
    let count: i64 = sql::one(c, sql, params![agent.folded()], sql::column)?;
    Ok(count.unsigned_abs())
}
