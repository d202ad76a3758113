//! Statements of the outbox.

use gangline_core::{AgentName, MessageId, Principal, name::fold, redact::Redacted, split::Line};
use rusqlite::{Connection, Row, params};

use super::{
    Writer, announced,
    fault::Fault,
    fence,
    rows::{self, outbox_sql, page},
    sql,
};
use crate::types::{OutboxId, OutboxRow, OutboxState, Said, Send, SentAs};

/// The lines of a send.
pub(super) struct Lines {
    pub(super) ids: Vec<OutboxId>,
    /// They were there before.
    pub(super) repeated: bool,
    /// The root of what they follow from.
    pub(super) root: Option<MessageId>,
}

/// Inserts a send's lines, without asking whose epoch it is; what is delivered at once is
/// [`super::send`]'s. A question that is not named is looked for in what the send answers.
pub(super) fn put(w: &mut Writer, send: &Send, asked: Option<&str>) -> Result<Lines, Fault> {
    let known = "SELECT id FROM outbox WHERE agent = ? AND idem_key = ? ORDER BY part";
    let known: Vec<i64> = sql::all(
        &w.connection,
        known,
        params![send.agent.folded(), send.idem_key.as_str()],
        sql::column,
    )?;
    let repeated = !known.is_empty();
    let mut ids: Vec<OutboxId> = known.into_iter().map(OutboxId).collect();
    let mut cause = cause(w, send)?;
    if !repeated {
        cause.question = match asked {
            Some(msgid) => Some(msgid.to_owned()),
            None => question(w, send)?,
        };
        for (part, line) in send.lines.iter().enumerate() {
            ids.push(put_line(w, send, part, (line, &cause))?);
        }
    }
    Ok(Lines { ids, repeated, root: cause.root.map(MessageId) })
}

/// What a line follows from.
#[derive(Default)]
struct Cause {
    root: Option<i64>,
    hops: i64,
    tell: Option<String>,
    question: Option<String>,
}

/// Returns the id of the line that a private line answers: of the message that it names, or of
/// the turn's newest, if its target said it.
fn question(w: &mut Writer, send: &Send) -> Result<Option<String>, Fault> {
    if send.target.starts_with('#') {
        return Ok(None);
    }
    let named = "SELECT sender, msgid FROM messages WHERE id = ? AND msgid IS NOT NULL";
    let of_turn = "SELECT m.sender, m.msgid FROM turn_messages t JOIN messages m \
                   ON m.id = t.message WHERE t.agent = ? AND t.epoch = ? AND t.number = ? \
                   AND m.msgid IS NOT NULL ORDER BY m.id DESC";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let mut asked: Vec<(String, String)> = Vec::new();
    if let Some(message) = send.in_reply_to {
        asked.extend(sql::all(&w.connection, named, params![message.0], read)?);
    }
    if let Some(turn) = send.turn {
        let with = params![send.agent.folded(), turn.epoch.0, turn.number];
        asked.extend(sql::all(&w.connection, of_turn, with, read)?);
    }
    let target = fold(&send.target);
    Ok(asked.into_iter().find(|(sender, _)| fold(sender) == target).map(|(_, msgid)| msgid))
}

/// Takes the cause from the answered message, else from the turn's message with most hops. A turn
/// without messages follows from those that the agent had last.
fn cause(w: &mut Writer, send: &Send) -> Result<Cause, Fault> {
    let answered = "SELECT coalesce(cause_root, id), hops + 1, sender FROM messages WHERE id = ?";
    let of_turn = "SELECT coalesce(m.cause_root, m.id), m.hops + 1, NULL \
                   FROM turn_messages t JOIN messages m ON m.id = t.message \
                   WHERE t.agent = ? AND (t.epoch, t.number) <= (?, ?) \
                   ORDER BY t.epoch DESC, t.number DESC, m.hops DESC, m.id LIMIT 1";
    let read = |row: &Row<'_>| {
        let (root, hops, tell) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Cause { root, hops, tell, question: None })
    };
    let found = match (send.in_reply_to, send.turn) {
        (Some(message), _) => sql::first(&w.connection, answered, params![message.0], read)?,
        (None, Some(turn)) => {
            let with = params![send.agent.folded(), turn.epoch.0, turn.number];
            sql::first(&w.connection, of_turn, with, read)?
        }
        (None, None) => None,
    };
    Ok(found.unwrap_or_default())
}

fn put_line(
    w: &mut Writer,
    send: &Send,
    part: usize,
    (line, cause): (&Line<Redacted>, &Cause),
) -> Result<OutboxId, Fault> {
    let sql = "INSERT INTO outbox (installation_id, agent, idem_key, part, parts, target, body, \
               kind, state, turn_epoch, turn_number, in_reply_to, tell, question, cause_root, \
               hops, created_at, goes_on) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    sql::run(
        &w.connection,
        sql,
        params![
            &w.installation_id,
            send.agent.folded(),
            send.idem_key.as_str(),
            count(part),
            count(send.lines.len()),
            &send.target,
            line.text.as_str(),
            send.kind.as_str(),
            OutboxState::Queued.as_str(),
            send.turn.map(|turn| turn.epoch.0),
            send.turn.map(|turn| turn.number),
            send.in_reply_to.map(|id| id.0),
            &cause.tell,
            &cause.question,
            cause.root,
            cause.hops,
            w.now.0,
            rows::goes_on(line.joint)
        ],
    )?;
    Ok(OutboxId(w.connection.last_insert_rowid()))
}

pub(crate) fn pending(
    c: &Connection,
    agent: &AgentName,
    (after, limit): (OutboxId, u32),
) -> Result<Vec<OutboxRow>, Fault> {
    let sql = outbox_sql!(
        "WHERE agent = ? AND id > ? AND state IN ('queued', 'sent') ORDER BY id LIMIT ?"
    );
    Ok(sql::all(c, sql, params![agent.folded(), after.0, page(limit)], rows::outbox)?)
}

pub(crate) fn by_idem(
    c: &Connection,
    agent: &AgentName,
    key: &str,
) -> Result<Vec<OutboxRow>, Fault> {
    let sql = outbox_sql!("WHERE agent = ? AND idem_key = ? ORDER BY part");
    Ok(sql::all(c, sql, params![agent.folded(), key], rows::outbox)?)
}

/// Answers [`crate::Store::asked_by`]: the newest message comes first.
pub(crate) fn asked_by(
    c: &Connection,
    id: OutboxId,
    network_id: &str,
) -> Result<Option<Principal>, Fault> {
    let sql = "WITH line AS (SELECT * FROM outbox WHERE id = ?), asked AS (
         SELECT in_reply_to AS message FROM line
         UNION SELECT cause_root FROM line
         UNION SELECT t.message FROM line JOIN turn_messages t ON t.agent = line.agent
             AND t.epoch = line.turn_epoch AND t.number = line.turn_number
         UNION SELECT m.id FROM line JOIN messages m ON m.network_id = ? AND m.hops = 0
             AND m.msgid = line.question)
         SELECT m.sender, line.target, m.principal, m.tier
         FROM line JOIN asked JOIN messages m ON m.id = asked.message ORDER BY m.id DESC";
    let read = |row: &Row<'_>| {
        let (sender, target): (String, String) = (row.get(0)?, row.get(1)?);
        let who = Principal { account: row.get(2)?, tier: rows::parsed(row, "tier")? };
        Ok((fold(&sender) == fold(&target)).then_some(who))
    };
    let found: Vec<Option<Principal>> = sql::all(c, sql, params![id.0, network_id], read)?;
    Ok(found.into_iter().flatten().next())
}

/// Fences a write that names only the row.
fn fence_row(w: &mut Writer, id: OutboxId) -> Result<(), Fault> {
    if w.epochs.is_empty() {
        return Ok(());
    }
    let sql = "SELECT agent FROM outbox WHERE id = ?";
    match sql::first(&w.connection, sql, params![id.0], |row| rows::parsed(row, "agent"))? {
        Some(agent) => fence::fence(w, &agent, None),
        None => Ok(()),
    }
}

pub(crate) fn mark_sent(w: &mut Writer, ids: &[OutboxId], how: SentAs) -> Result<u64, Fault> {
    let sql = "UPDATE outbox SET state = 'sent', attempts = attempts + 1, sent_at = ?, \
               sent_as = coalesce(sent_as, ?) WHERE id = ? AND state IN ('queued', 'sent')";
    let mut changed = 0;
    for id in ids {
        fence_row(w, *id)?;
        let done = sql::run(&w.connection, sql, params![w.now.0, how.as_str(), id.0])?;
        changed += done;
    }
    Ok(changed)
}

pub(crate) fn confirm(w: &mut Writer, ids: &[OutboxId], said: &Said) -> Result<bool, Fault> {
    let mut news = false;
    for id in ids {
        news |= confirm_one(w, *id, said)?;
    }
    Ok(news)
}

/// Confirms a line. The last one of an announcement is recorded as announced in the same commit: a
/// decision must not wait for a line that has been said.
fn confirm_one(w: &mut Writer, id: OutboxId, said: &Said) -> Result<bool, Fault> {
    fence_row(w, id)?;
    // A line that was given up and is seen in the room after all was delivered.
    let sql = "UPDATE outbox SET state = 'confirmed', msgid = ?, why = NULL, settled_at = ? \
               WHERE id = ? AND state <> 'confirmed' RETURNING agent, idem_key, part + 1 = parts";
    let with = params![said.msgid, w.now.0, id.0];
    let row = |row: &rusqlite::Row<'_>| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(2)?))
    };
    let Some((agent, idem_key, is_last)) = sql::first(&w.connection, sql, with, row)? else {
        return Ok(false);
    };
    if is_last {
        announced::put(w, (&agent, &idem_key), said)?;
    }
    Ok(true)
}

pub(crate) fn undeliverable(w: &mut Writer, ids: &[OutboxId], why: &str) -> Result<bool, Fault> {
    let sql = "UPDATE outbox SET state = 'undeliverable', why = ?, settled_at = ? \
               WHERE id = ? AND state IN ('queued', 'sent')";
    let mut waited = false;
    for id in ids {
        fence_row(w, *id)?;
        waited |= sql::run(&w.connection, sql, params![why, w.now.0, id.0])? > 0;
    }
    Ok(waited)
}

pub(crate) fn doubled(w: &mut Writer, id: OutboxId) -> Result<(), Fault> {
    fence_row(w, id)?;
    sql::run(&w.connection, "UPDATE outbox SET may_be_doubled = 1 WHERE id = ?", params![id.0])?;
    Ok(())
}
