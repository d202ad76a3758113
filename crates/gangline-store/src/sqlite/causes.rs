//! Statements of root causes: who may begin a turn, what is held, and who says so once.

use std::time::Duration;

use gangline_core::{
    AgentName, Epoch, MessageId, MessageState, Redacted, Tier, TurnId,
    cause::{self, Ledger, Limit, Used},
    split,
    trust::OWNER,
};
use rusqlite::{Connection, Row, params};

use super::{
    Writer,
    fault::Fault,
    findings, outbox,
    rows::{self, page},
    sql,
};
use crate::types::{CauseEnded, CauseRow, Held, LineKind, Released, Send, Take};

/// What is known about a root when one of its messages is judged.
#[derive(Debug, Default)]
pub(super) struct Standing {
    pub(super) ledger: Ledger,
    pub(super) ended_by: Option<String>,
}

/// Returns the root of a message.
pub(super) fn root_of(c: &Connection, id: MessageId) -> Result<Option<MessageId>, Fault> {
    let sql = "SELECT coalesce(cause, cause_root, id) FROM messages WHERE id = ?";
    Ok(sql::first(c, sql, params![id.0], sql::column)?.map(MessageId))
}

/// Returns the root that a line has in the row of another agent that it names too.
pub(super) fn root_of_line(
    c: &Connection,
    network: &str,
    msgid: &str,
) -> Result<Option<MessageId>, Fault> {
    let sql = "SELECT coalesce(cause, cause_root, id) FROM messages INDEXED BY messages_line \
               WHERE network_id = ? AND msgid = ? AND msgid IS NOT NULL AND hops = 0 \
               ORDER BY id LIMIT 1";
    Ok(sql::first(c, sql, params![network, msgid], sql::column)?.map(MessageId))
}

/// Returns how a root stands; one that had no turn has no row.
pub(super) fn standing(c: &Connection, root: MessageId) -> Result<Standing, Fault> {
    let sql = "SELECT turns, allowed, ended_by FROM causes WHERE root = ?";
    let read = |row: &Row<'_>| {
        let ledger = Ledger { turns: row.get(0)?, allowed: row.get(1)? };
        Ok(Standing { ledger, ended_by: row.get(2)? })
    };
    Ok(sql::first(c, sql, params![root.0], read)?.unwrap_or_default())
}

/// What becomes of a message that waits and is to be taken into a turn.
pub(super) enum Admitted {
    /// It does not wait.
    NotWaiting,
    /// It is taken.
    Taken,
    /// It was held or cancelled instead; somebody tells people of it.
    Kept(Option<AgentName>),
}

/// Judges one message of T1, and counts its turn. Another attempt after a loss, and a second
/// message of the same cause in one turn, are not counted.
pub(super) fn admit(w: &mut Writer, take: &Take, id: MessageId) -> Result<Admitted, Fault> {
    let sql = "SELECT coalesce(cause, cause_root, id), takes FROM messages \
               WHERE id = ? AND agent = ? AND state = 'accepted'";
    let with = params![id.0, take.agent.folded()];
    let found = sql::first(&w.connection, sql, with, |row| {
        Ok((MessageId(row.get(0)?), row.get::<_, i64>(1)?))
    })?;
    let Some((root, takes)) = found else { return Ok(Admitted::NotWaiting) };
    let standing = standing(&w.connection, root)?;
    if let Some(by) = &standing.ended_by {
        cancel(w, id, &cause::ended(root, by))?;
        return Ok(Admitted::Kept(None));
    }
    if takes > 0 || has_part_in(&w.connection, take, root)? {
        return Ok(Admitted::Taken);
    }
    if !standing.ledger.admits(take.turns_per_cause) {
        let limit = standing.ledger.limit(take.turns_per_cause);
        hold(w, (id, root), Limit::Turns(limit))?;
        return flag(w, root, Limit::Turns(limit), (&take.agent, id)).map(Admitted::Kept);
    }
    count(w, root)?;
    Ok(Admitted::Taken)
}

/// Returns whether the turn has a message of this cause already.
fn has_part_in(c: &Connection, take: &Take, root: MessageId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM turn_messages t JOIN messages m ON m.id = t.message \
               WHERE t.agent = ? AND t.epoch = ? AND t.number = ? \
               AND coalesce(m.cause, m.cause_root, m.id) = ? LIMIT 1";
    let with = params![take.agent.folded(), take.turn.epoch.0, take.turn.number, root.0];
    Ok(sql::first(c, sql, with, sql::column::<i64>)?.is_some())
}

/// Counts a turn that the backend began by itself: it follows from what the agent had last.
/// Returns that root.
pub(super) fn inherit(w: &mut Writer, take: &Take) -> Result<Option<MessageId>, Fault> {
    let root = last_root(&w.connection, &take.agent)?;
    if let Some(root) = root {
        count(w, root)?;
    }
    Ok(root)
}

fn last_root(c: &Connection, agent: &AgentName) -> Result<Option<MessageId>, Fault> {
    let sql = "SELECT coalesce(m.cause, m.cause_root, m.id) \
               FROM turn_messages t JOIN messages m ON m.id = t.message \
               WHERE t.agent = ? ORDER BY t.epoch DESC, t.number DESC, m.hops DESC, m.id LIMIT 1";
    Ok(sql::first(c, sql, params![agent.folded()], sql::column)?.map(MessageId))
}

fn row_of(w: &mut Writer, root: MessageId) -> Result<(), Fault> {
    let sql = "INSERT INTO causes (root, installation_id) VALUES (?, ?) ON CONFLICT DO NOTHING";
    sql::run(&w.connection, sql, params![root.0, &w.installation_id])?;
    Ok(())
}

fn count(w: &mut Writer, root: MessageId) -> Result<(), Fault> {
    row_of(w, root)?;
    sql::run(&w.connection, "UPDATE causes SET turns = turns + 1 WHERE root = ?", params![root.0])?;
    Ok(())
}

fn hold(w: &mut Writer, (id, root): (MessageId, MessageId), limit: Limit) -> Result<(), Fault> {
    let sql = "UPDATE messages SET state = 'held', reason = ? WHERE id = ? AND state = 'accepted'";
    sql::run(&w.connection, sql, params![limit.reason(root), id.0])?;
    Ok(())
}

fn cancel(w: &mut Writer, id: MessageId, why: &str) -> Result<(), Fault> {
    let sql = "UPDATE messages SET state = 'cancelled', reason = ?, settled_at = ? \
               WHERE id = ? AND state = 'accepted'";
    sql::run(&w.connection, sql, params![why, w.now.0, id.0])?;
    Ok(())
}

/// Raises the cause's flag. The one commit that does so has the line in it that tells people.
/// Returns whose line that is.
///
/// An agent may have a lower limit than the others: each limit that is reached is told once. Hops
/// count as the lowest of all.
pub(super) fn flag(
    w: &mut Writer,
    root: MessageId,
    limit: Limit,
    (by, held): (&AgentName, MessageId),
) -> Result<Option<AgentName>, Fault> {
    row_of(w, root)?;
    findings::held(w, (by, root), (limit, held))?;
    let level = match limit {
        Limit::Turns(limit) => limit,
        Limit::Hops(_) => 0,
    };
    let sql = "UPDATE causes SET held_limit = ?2, held_at = coalesce(held_at, ?3), told = told + 1 \
               WHERE root = ?1 AND (held_limit IS NULL OR held_limit < ?2) RETURNING told";
    let told: Option<i64> =
        sql::first(&w.connection, sql, params![root.0, level, w.now.0], sql::column)?;
    match told {
        Some(told) => tell(w, (root, told), limit, (by, held)),
        None => Ok(None),
    }
}

/// Puts the line that tells of a limit into the outbox of the agent that the root message went to,
/// since that agent is in the room where it began; of the one that reached the limit if the other
/// is to be down. A root from the command line has no place: then it is told where the held message
/// came from. On the installation's own server the owner reads it in private too.
fn tell(
    w: &mut Writer,
    (root, told): (MessageId, i64),
    limit: Limit,
    (by, held): (&AgentName, MessageId),
) -> Result<Option<AgentName>, Fault> {
    let used = used(&w.connection, root)?;
    let Some(origin) = place(&w.connection, root)? else { return Ok(None) };
    let (teller, place) = match (is_down(&w.connection, &origin.agent)?, origin.target.as_str()) {
        (_, "") => match place(&w.connection, held)? {
            Some(here) => (by.clone(), here),
            None => return Ok(None),
        },
        (true, _) => (by.clone(), origin.clone()),
        (false, _) => (origin.agent.clone(), origin.clone()),
    };
    if place.target.is_empty() {
        return Ok(None);
    }
    let text = cause::announcement((root, &origin.sender), &teller, limit, &used);
    let send = Send {
        agent: teller.clone(),
        turn: None,
        idem_key: format!("c-{root}-{told}").into(),
        target: place.target.clone(),
        // Ids, figures, names and words of the program only.
        lines: split::redacted_lines(&Redacted::from_store(text), |_| String::new()).lines,
        kind: LineKind::Notice,
        in_reply_to: None,
        deliver: None,
    };
    outbox::put(w, &send, None)?;
    // Elsewhere nobody knows who holds the nick, and an owner who asked in private has read it.
    let in_room = place.target.starts_with('#');
    if place.network == w.installation_id && (in_room || place.tier != Tier::Owner) {
        let (idem_key, target) = (format!("co-{root}-{told}").into(), OWNER.to_owned());
        outbox::put(w, &Send { idem_key, target, ..send }, None)?;
    }
    Ok(Some(teller))
}

/// Where a message came from.
#[derive(Clone)]
struct Place {
    agent: AgentName,
    network: String,
    target: String,
    sender: String,
    tier: Tier,
}

fn place(c: &Connection, id: MessageId) -> Result<Option<Place>, Fault> {
    let sql = "SELECT agent, network_id, target, sender, tier FROM messages WHERE id = ?";
    Ok(sql::first(c, sql, params![id.0], |row| {
        Ok(Place {
            agent: rows::parsed(row, "agent")?,
            network: row.get("network_id")?,
            target: row.get("target")?,
            sender: row.get("sender")?,
            tier: rows::parsed(row, "tier")?,
        })
    })?)
}

fn is_down(c: &Connection, agent: &AgentName) -> Result<bool, Fault> {
    let sql = "SELECT desired <> 'up' FROM orders WHERE agent = ?";
    Ok(sql::first(c, sql, params![agent.folded()], sql::column)?.unwrap_or(false))
}

/// Returns what a cause has used, from its root to the last message that was taken.
fn used(c: &Connection, root: MessageId) -> Result<Used, Fault> {
    let turns: Option<i64> =
        sql::first(c, "SELECT turns FROM causes WHERE root = ?", params![root.0], sql::column)?;
    let sql = "SELECT count(DISTINCT CASE WHEN takes > 0 THEN agent END) AS agents, \
               min(accepted_at) AS since, max(coalesce(taken_at, accepted_at)) AS until \
               FROM messages INDEXED BY messages_cause \
               WHERE coalesce(cause, cause_root, id) = ?";
    let (agents, since, until) = sql::one(c, sql, params![root.0], |row| {
        let time = |column| row.get::<_, Option<i64>>(column).map(Option::unwrap_or_default);
        Ok((row.get("agents")?, time("since")?, time("until")?))
    })?;
    // A row of an older version may have any number: `TOKENS_MAX`.
    let sql = "SELECT coalesce(sum(min(u.input, 1000000000) + min(u.output, 1000000000) \
               + min(u.cache_write, 1000000000)), 0) FROM \
               (SELECT DISTINCT t.agent, t.epoch, t.number \
                FROM messages m INDEXED BY messages_cause \
                JOIN turn_messages t ON t.message = m.id \
                WHERE coalesce(m.cause, m.cause_root, m.id) = ?1) x \
               JOIN usage u ON u.agent = x.agent AND u.at >= ?2 \
               AND u.turn_epoch = x.epoch AND u.turn_number = x.number";
    let tokens: i64 = sql::one(c, sql, params![root.0, since], sql::column)?;
    let lasted = Duration::from_micros(u64::try_from(until - since).unwrap_or(0));
    Ok(Used { turns: turns.unwrap_or(0), agents, lasted, tokens })
}

/// Returns the cause of a message, whichever of its tree that is.
pub(crate) fn of(c: &Connection, id: MessageId) -> Result<Option<CauseRow>, Fault> {
    let Some(root) = root_of(c, id)? else { return Ok(None) };
    let used = used(c, root)?;
    let sql = "SELECT count(*) FROM messages INDEXED BY messages_cause \
               WHERE coalesce(cause, cause_root, id) = ? AND state = 'held'";
    let held = sql::one(c, sql, params![root.0], sql::column)?;
    let sql = "SELECT allowed, held_at, ended_by, parent FROM causes WHERE root = ?";
    let row = sql::first(c, sql, params![root.0], |row| {
        let held_at = rows::maybe_time(row, "held_at")?;
        Ok(CauseRow {
            root,
            parent: row.get::<_, Option<i64>>(3)?.map(MessageId),
            used: used.clone(),
            allowed: row.get(0)?,
            held,
            held_at,
            ended_by: row.get(2)?,
        })
    })?;
    Ok(row.or(Some(CauseRow {
        root,
        parent: None,
        used,
        allowed: 0,
        held,
        held_at: None,
        ended_by: None,
    })))
}

pub(crate) fn release(w: &mut Writer, id: MessageId, more: i64) -> Result<Released, Fault> {
    let Some(root) = root_of(&w.connection, id)? else { return Ok(Released::Unknown) };
    if let Some(by) = standing(&w.connection, root)?.ended_by {
        return Ok(Released::Ended { root, by });
    }
    findings::not_held(w, root)?;
    let sql = "UPDATE messages SET state = 'accepted', reason = NULL \
               WHERE coalesce(cause, cause_root, id) = ? AND state = 'held' RETURNING agent";
    let agents = changed(&w.connection, sql, root)?;
    let sql = "UPDATE causes SET allowed = turns + ?2, held_limit = NULL, held_at = NULL \
               WHERE root = ?1 AND held_limit IS NOT NULL";
    let flagged = sql::run(&w.connection, sql, params![root.0, more])?;
    if flagged == 0 && agents.is_empty() {
        return Ok(Released::NotHeld { root });
    }
    let messages = agents.len() as u64;
    Ok(Released::Done { root, messages, agents: once_each(agents) })
}

/// A message waits no more: if it was the last one of its cause that was held, nobody has to decide.
pub(super) fn look_at_held(w: &mut Writer, id: MessageId) -> Result<(), Fault> {
    let Some(root) = root_of(&w.connection, id)? else { return Ok(()) };
    let sql = "SELECT 1 FROM messages INDEXED BY messages_cause \
               WHERE coalesce(cause, cause_root, id) = ? AND state = 'held' LIMIT 1";
    match sql::first(&w.connection, sql, params![root.0], sql::column::<i64>)? {
        Some(_) => Ok(()),
        None => findings::not_held(w, root),
    }
}

fn changed(c: &Connection, sql: &str, root: MessageId) -> Result<Vec<AgentName>, Fault> {
    Ok(sql::all(c, sql, params![root.0], |row| rows::parsed(row, "agent"))?)
}

fn once_each(mut agents: Vec<AgentName>) -> Vec<AgentName> {
    agents.sort();
    agents.dedup();
    agents
}

pub(crate) fn end(w: &mut Writer, id: MessageId, by: &str) -> Result<Option<CauseEnded>, Fault> {
    let Some(root) = root_of(&w.connection, id)? else { return Ok(None) };
    row_of(w, root)?;
    findings::not_held(w, root)?;
    let sql = "UPDATE causes SET ended_by = ?, ended_at = ?, held_limit = NULL, held_at = NULL \
               WHERE root = ? AND ended_at IS NULL";
    let new = sql::run(&w.connection, sql, params![by, w.now.0, root.0])? > 0;
    let sql = "UPDATE messages SET state = 'cancelled', reason = ?, settled_at = ? \
               WHERE coalesce(cause, cause_root, id) = ? AND state IN ('accepted', 'held')";
    let with = params![cause::ended(root, by), w.now.0, root.0];
    let cancelled = sql::run(&w.connection, sql, with)?;
    let turns = turns_of(&w.connection, root)?;
    Ok(Some(CauseEnded { root, cancelled, turns, again: !new }))
}

/// Returns the open turns that work on a cause.
fn turns_of(c: &Connection, root: MessageId) -> Result<Vec<(AgentName, TurnId)>, Fault> {
    let sql = "SELECT agent, turn_epoch AS epoch, turn_number AS number \
               FROM messages INDEXED BY messages_cause \
               WHERE coalesce(cause, cause_root, id) = ?1 AND state = 'in_turn' \
               UNION SELECT agent, epoch, number FROM turns INDEXED BY turns_open \
               WHERE ended_at IS NULL AND cause = ?1";
    Ok(sql::all(c, sql, params![root.0], |row| Ok((rows::parsed(row, "agent")?, turn(row)?)))?)
}

fn turn(row: &Row<'_>) -> rusqlite::Result<TurnId> {
    Ok(TurnId { epoch: Epoch(row.get("epoch")?), number: row.get("number")? })
}

/// Returns the open turns of an agent that work on a cause which somebody has ended.
pub(crate) fn turns_to_end(c: &Connection, agent: &AgentName) -> Result<Vec<TurnId>, Fault> {
    let sql = "SELECT m.turn_epoch AS epoch, m.turn_number AS number \
               FROM messages m INDEXED BY messages_turn \
               JOIN causes c ON c.root = coalesce(m.cause, m.cause_root, m.id) \
               WHERE m.agent = ?1 AND m.state = 'in_turn' AND c.ended_at IS NOT NULL \
               UNION SELECT t.epoch, t.number FROM turns t INDEXED BY turns_open \
               JOIN causes c ON c.root = t.cause \
               WHERE t.agent = ?1 AND t.ended_at IS NULL AND c.ended_at IS NOT NULL";
    Ok(sql::all(c, sql, params![agent.folded()], turn)?)
}

pub(crate) fn held(c: &Connection, agent: &AgentName) -> Result<Vec<Held>, Fault> {
    let sql = "SELECT coalesce(cause, cause_root, id) AS root, count(*) AS messages, \
               max(coalesce(reason, '')) AS why FROM messages INDEXED BY messages_held \
               WHERE agent = ? AND state = 'held' GROUP BY root ORDER BY root LIMIT ?";
    Ok(sql::all(c, sql, params![agent.folded(), page(0)], |row| {
        Ok(Held {
            root: MessageId(row.get("root")?),
            messages: row.get::<_, i64>("messages")?.unsigned_abs(),
            why: row.get("why")?,
        })
    })?)
}

/// Returns the root of a new message, as far as the rows before it tell; `None`: it is its own.
pub(super) fn root_of_new(
    c: &Connection,
    message: &crate::types::NewMessage,
    inherited: Option<MessageId>,
) -> Result<Option<MessageId>, Fault> {
    match (message.cause_root.or(inherited), &message.msgid) {
        (Some(root), _) => Ok(Some(root_of(c, root)?.unwrap_or(root))),
        (None, Some(msgid)) if message.hops == 0 => root_of_line(c, &message.network_id, msgid),
        (None, _) => Ok(None),
    }
}

/// Returns the state in which a new message begins, and why.
pub(super) fn state_of_new(
    c: &Connection,
    (state, hops): (MessageState, i64),
    root: Option<MessageId>,
) -> Result<(MessageState, Option<String>), Fault> {
    let standing = match root {
        Some(root) => standing(c, root)?,
        None => Standing::default(),
    };
    Ok(match (state, root, standing.ended_by) {
        (MessageState::Accepted | MessageState::Held, Some(root), Some(by)) => {
            (MessageState::Cancelled, Some(cause::ended(root, &by)))
        }
        (MessageState::Held, ..) if standing.ledger.is_released() => (MessageState::Accepted, None),
        (MessageState::Held, ..) => (MessageState::Held, Some(cause::too_far(hops))),
        (state, ..) => (state, None),
    })
}
