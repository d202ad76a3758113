//! Statements of reminders: made, fired, removed.

use gangline_core::{
    AgentName, MessageId, MessageState, Origin, Principal, Redacted, reminder::CHAIN_MAX,
};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, Row, params};

use super::{
    Writer,
    acts::{self, MadeByCall},
    fault::Fault,
    fence, messages,
    rows::{self, page},
    sql,
};
use crate::{
    error::StoreError,
    types::{Firing, NewAct, NewMessage, NewReminder, ReminderRow, ReminderState},
};

/// Said to an agent whose reminder would be one too many.
const CHAIN_IS_OVER: &str = "this would follow from a reminder, that one from another, and so on, 30 times \
                             without a word of a person: ask a person whether to go on";

/// Who a reminder is from, for the agent (R2-28).
const SENDER: &str = "reminder";

macro_rules! reminder_sql {
    ($rest:literal) => {
        concat!(
            "SELECT id, agent, principal, tier, target, body, rule, due_at, state, fired, parent, \
             created_at FROM reminders ",
            $rest
        )
    };
}

pub(crate) fn make(
    w: &mut Writer,
    new: &NewReminder,
    act: Option<&NewAct>,
) -> Result<ReminderRow, Fault> {
    fence::fence(w, &new.agent, new.turn.map(|turn| turn.epoch))?;
    let known = reminder_sql!("WHERE agent = ? AND request = ?");
    let with = params![new.agent.folded(), &new.request];
    if let Some(known) = sql::first(&w.connection, known, with, row)? {
        return Ok(known);
    }
    let open = "SELECT count(*) FROM reminders WHERE agent = ? AND state = 'waiting'";
    let open: i64 = sql::one(&w.connection, open, params![new.agent.folded()], sql::column)?;
    if open >= i64::from(new.open_max) {
        return Err(StoreError::Invalid("too many reminders of this agent wait").into());
    }
    let parent = parent(w, new)?;
    if let Some(parent) = parent
        && in_a_row(&w.connection, parent)? >= CHAIN_MAX
    {
        return Err(StoreError::Invalid(CHAIN_IS_OVER).into());
    }
    let sql = "INSERT INTO reminders (installation_id, agent, epoch, principal, tier, target, body, \
               rule, due_at, state, created_at, request, parent) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?, ?)";
    sql::run(
        &w.connection,
        sql,
        params![
            &w.installation_id,
            new.agent.folded(),
            new.turn.map(|turn| turn.epoch.0),
            &new.by.account,
            new.by.tier.as_str(),
            &new.target,
            new.body.as_str(),
            &new.repeats,
            new.due_at.0,
            w.now.0,
            &new.request,
            parent
        ],
    )?;
    let id = w.connection.last_insert_rowid();
    if let Some(act) = act {
        acts::record(w, act, &MadeByCall::numbered(id))?;
    }
    Ok(sql::one(&w.connection, reminder_sql!("WHERE id = ?"), params![id], row)?)
}

/// Returns the root cause of the turn in which a reminder is made.
fn parent(w: &mut Writer, new: &NewReminder) -> Result<Option<i64>, Fault> {
    let Some(turn) = new.turn else { return Ok(None) };
    let sql = "SELECT coalesce(m.cause, m.cause_root, m.id) \
               FROM turn_messages t JOIN messages m ON m.id = t.message \
               WHERE t.agent = ? AND (t.epoch, t.number) <= (?, ?) \
               ORDER BY t.epoch DESC, t.number DESC, m.hops DESC, m.id LIMIT 1";
    let with = params![new.agent.folded(), turn.epoch.0, turn.number];
    Ok(sql::first(&w.connection, sql, with, sql::column)?)
}

/// Returns how many reminders in a row led to a cause, none of them from a person, over all agents; at most
/// [`CHAIN_MAX`] are counted.
fn in_a_row(c: &Connection, root: i64) -> Result<u32, Fault> {
    let sql = "WITH RECURSIVE chain (root, length) AS (SELECT ?1, 0 UNION ALL \
               SELECT c.parent, chain.length + 1 FROM chain JOIN causes c ON c.root = chain.root \
               WHERE c.parent IS NOT NULL AND chain.length < ?2) \
               SELECT max(length) FROM chain";
    Ok(sql::one(c, sql, params![root, CHAIN_MAX], sql::column)?)
}

/// Fires a reminder: its message, and when it fires again or that it does not, are one commit.
/// Returns `None` if it does not wait for that time any more.
pub(crate) fn fire(
    w: &mut Writer,
    agent: &AgentName,
    firing: &Firing,
) -> Result<Option<MessageId>, Fault> {
    fence::fence(w, agent, None)?;
    let sql = reminder_sql!("WHERE id = ? AND agent = ? AND due_at = ? AND state = 'waiting'");
    let with = params![firing.id, agent.folded(), firing.due_at.0];
    let Some(reminder) = sql::first(&w.connection, sql, with, row)? else { return Ok(None) };
    let message = NewMessage {
        agent: agent.clone(),
        network_id: "local".to_owned(),
        intake_key: Some(format!("reminder/{}/{}", firing.id, firing.due_at.0)),
        origin: Origin::Reminder,
        principal: reminder.by,
        sender: SENDER.to_owned(),
        target: reminder.target,
        body: firing.body.clone(),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    };
    let id = messages::put(w, &message, None)?.id;
    let sql = "INSERT INTO causes (root, installation_id, parent) VALUES (?, ?, ?) \
               ON CONFLICT (root) DO UPDATE SET parent = excluded.parent";
    let parent = reminder.parent.map(|parent| parent.0);
    sql::run(&w.connection, sql, params![id.0, &w.installation_id, parent])?;
    let sql = "UPDATE reminders SET fired = fired + 1, fired_at = ?1, \
               due_at = coalesce(?2, due_at), \
               state = CASE WHEN ?2 IS NULL THEN 'fired' ELSE 'waiting' END, \
               settled_at = CASE WHEN ?2 IS NULL THEN ?1 END WHERE id = ?3";
    sql::run(&w.connection, sql, params![w.now.0, firing.next.map(|at| at.0), firing.id])?;
    let sql = "INSERT INTO firings (agent, at, reminder, installation_id, message) \
               VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
    let with = params![agent.folded(), w.now.0, firing.id, &w.installation_id, id.0];
    sql::run(&w.connection, sql, with)?;
    Ok(Some(id))
}

/// Removes a reminder that waits (R2-27: hard-deleted). Returns it.
pub(crate) fn remove(w: &mut Writer, id: i64) -> Result<Option<ReminderRow>, Fault> {
    let sql = reminder_sql!("WHERE id = ? AND state = 'waiting'");
    let Some(found) = sql::first(&w.connection, sql, params![id], row)? else { return Ok(None) };
    sql::run(&w.connection, "DELETE FROM reminders WHERE id = ?", params![id])?;
    Ok(Some(found))
}

pub(crate) fn one(c: &Connection, id: i64) -> Result<Option<ReminderRow>, Fault> {
    Ok(sql::first(c, reminder_sql!("WHERE id = ?"), params![id], row)?)
}

/// Returns reminders that wait, the next one first.
pub(crate) fn waiting(
    c: &Connection,
    agent: Option<&AgentName>,
    limit: u32,
) -> Result<Vec<ReminderRow>, Fault> {
    let sql = reminder_sql!(
        "WHERE (?1 IS NULL OR agent = ?1) AND state = 'waiting' ORDER BY due_at, id LIMIT ?2"
    );
    Ok(sql::all(c, sql, params![agent.map(AgentName::folded), page(limit)], row)?)
}

/// Returns reminders, fired or not, the newest first.
pub(crate) fn all(
    c: &Connection,
    agent: Option<&AgentName>,
    limit: u32,
) -> Result<Vec<ReminderRow>, Fault> {
    let sql = reminder_sql!("WHERE ?1 IS NULL OR agent = ?1 ORDER BY id DESC LIMIT ?2");
    Ok(sql::all(c, sql, params![agent.map(AgentName::folded), page(limit)], row)?)
}

/// Returns when reminders of the agent fired since a time, oldest first.
pub(crate) fn fired_since(
    c: &Connection,
    agent: &AgentName,
    since: UnixMicros,
) -> Result<Vec<UnixMicros>, Fault> {
    let sql = "SELECT at FROM firings WHERE agent = ? AND at > ? ORDER BY at";
    let found: Vec<i64> = sql::all(c, sql, params![agent.folded(), since.0], sql::column)?;
    Ok(found.into_iter().map(UnixMicros).collect())
}

fn row(row: &Row<'_>) -> rusqlite::Result<ReminderRow> {
    let (state, parent): (String, Option<i64>) = (row.get("state")?, row.get("parent")?);
    let fired: i64 = row.get("fired")?;
    Ok(ReminderRow {
        id: row.get("id")?,
        agent: rows::parsed(row, "agent")?,
        by: Principal { account: row.get("principal")?, tier: rows::parsed(row, "tier")? },
        target: row.get("target")?,
        body: Redacted::from_store(row.get("body")?),
        due_at: rows::time(row, "due_at")?,
        repeats: row.get("rule")?,
        state: if state == "waiting" { ReminderState::Waiting } else { ReminderState::Fired },
        fired: fired.unsigned_abs(),
        parent: parent.map(MessageId),
        created_at: rows::time(row, "created_at")?,
    })
}
