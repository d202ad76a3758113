//! Statements of pauses. Whether a person paused the agent stands in its row as well, where programs
//! look that know no more; that word counts, and a row here adds until when.

use std::collections::HashMap;

use gangline_core::{AgentName, pause::PauseReason, redact::Redacted};
use rusqlite::{Connection, Row, params};

use super::{Writer, fault::Fault, findings, rows, sql};
use crate::types::{AgentRow, Holds, NewPause, PauseRow};

/// Returns whether the agent's own row says so too.
fn is_said(reason: PauseReason) -> bool {
    match reason {
        PauseReason::Operator | PauseReason::Question => true,
        PauseReason::Escalation
        | PauseReason::Schedule
        | PauseReason::Budget
        | PauseReason::RateLimit
        | PauseReason::Fleet => false,
    }
}

pub(crate) fn begin(w: &mut Writer, pause: &NewPause) -> Result<(), Fault> {
    let NewPause { agent, reason, until, holds, note } = pause;
    let sql = "INSERT INTO pauses (agent, reason, installation_id, until, holds, note, at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (agent, reason) DO UPDATE SET \
               until = excluded.until, holds = excluded.holds, note = excluded.note";
    let with = params![
        agent.folded(),
        reason.as_str(),
        &w.installation_id,
        until.map(|at| at.0),
        *holds == Holds::Yes,
        note.as_ref().map(Redacted::as_str),
        w.now.0
    ];
    sql::run(&w.connection, sql, with)?;
    if is_said(*reason) {
        say(w, agent, 1)?;
    }
    Ok(())
}

/// Ends a pause; with `until`, only one that ends then: it may have got another end meanwhile. Returns
/// whether it holds no more.
pub(crate) fn end(
    w: &mut Writer,
    agent: &AgentName,
    (reason, until): (PauseReason, Option<i64>),
) -> Result<bool, Fault> {
    let sql = "DELETE FROM pauses WHERE agent = ?1 AND reason = ?2 AND (?3 IS NULL OR until = ?3)";
    let ended = sql::run(&w.connection, sql, params![agent.folded(), reason.as_str(), until])?;
    let over = ended > 0 || until.is_none();
    if !is_said(reason) || !over {
        return Ok(over);
    }
    let sql = "UPDATE agents SET paused = EXISTS (SELECT 1 FROM pauses WHERE agent = ?1 \
               AND reason IN ('operator', 'question')) WHERE agent = ?1";
    sql::run(&w.connection, sql, params![agent.folded()])?;
    Ok(true)
}

/// Ends what an operator's `resume` ends; hours of sleep go on without holding.
fn resume(w: &mut Writer, agent: &AgentName) -> Result<(), Fault> {
    for reason in PauseReason::ALL.iter().filter(|reason| reason.ends_with_resume()) {
        match reason {
            PauseReason::Schedule => {
                let sql = "UPDATE pauses SET holds = 0 WHERE agent = ?1 AND reason = ?2";
                sql::run(&w.connection, sql, params![agent.folded(), reason.as_str()])?;
            }
            PauseReason::Operator
            | PauseReason::Question
            | PauseReason::Escalation
            | PauseReason::Budget
            | PauseReason::RateLimit
            | PauseReason::Fleet => drop(end(w, agent, (*reason, None))?),
        }
    }
    // What waits for the end of a limit is tried.
    let sql = "UPDATE messages SET not_before = NULL \
               WHERE agent = ? AND state = 'accepted' AND reason = 'rate_limited'";
    sql::run(&w.connection, sql, params![agent.folded()])?;
    say(w, agent, 0)
}

/// As [`resume`], with the findings of what has ended.
pub(crate) fn resume_all(w: &mut Writer, agent: &AgentName) -> Result<(), Fault> {
    resume(w, agent)?;
    let mut ended = PauseReason::ALL.iter().filter(|reason| reason.ends_with_resume());
    ended.try_for_each(|reason| findings::pause_over(w, agent, *reason))
}

/// Sets the word of a person in the agent's row.
fn say(w: &mut Writer, agent: &AgentName, paused: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO agents (agent, installation_id, epoch, pid, note, paused, started_at, \
               updated_at) VALUES (?1, ?2, 0, 0, '', ?3, ?4, ?4) \
               ON CONFLICT (agent) DO UPDATE SET paused = excluded.paused";
    sql::run(&w.connection, sql, params![agent.folded(), &w.installation_id, paused, w.now.0])?;
    Ok(())
}

fn row(row: &Row<'_>) -> rusqlite::Result<Option<PauseRow>> {
    // A word of a newer program holds nothing here.
    let Ok(reason) = row.get::<_, String>("reason")?.parse() else { return Ok(None) };
    let note: Option<String> = row.get("note")?;
    Ok(Some(PauseRow {
        reason,
        until: rows::maybe_time(row, "until")?,
        holds: if row.get("holds")? { Holds::Yes } else { Holds::No },
        note: note.map(Redacted::from_store),
        at: rows::time(row, "at")?,
    }))
}

/// Returns the pauses of an agent whose row has this word.
pub(crate) fn of(c: &Connection, agent: &AgentName, said: bool) -> rusqlite::Result<Vec<PauseRow>> {
    let sql = "SELECT reason, until, holds, note, at FROM pauses WHERE agent = ? ORDER BY reason";
    let found = sql::all(c, sql, params![agent.folded()], row)?;
    Ok(as_said(said, found.into_iter().flatten().collect()))
}

/// Puts the pauses of all agents beside their rows.
pub(crate) fn beside(c: &Connection, agents: &mut [AgentRow]) -> rusqlite::Result<()> {
    let sql = "SELECT agent, reason, until, holds, note, at FROM pauses ORDER BY agent, reason";
    let found = sql::all(c, sql, [], |found| Ok((rows::parsed(found, "agent")?, row(found)?)))?;
    let mut by_agent: HashMap<AgentName, Vec<PauseRow>> = HashMap::new();
    for (agent, pause) in found {
        by_agent.entry(agent).or_default().extend(pause);
    }
    for row in agents {
        let pauses = by_agent.remove(&row.agent).unwrap_or_default();
        row.pauses = as_said(row.paused, pauses);
    }
    Ok(())
}

fn as_said(said: bool, mut pauses: Vec<PauseRow>) -> Vec<PauseRow> {
    match said {
        false => pauses.retain(|row| !is_said(row.reason)),
        true if pauses.iter().any(|row| is_said(row.reason)) => {}
        true => pauses.push(PauseRow {
            reason: PauseReason::Operator,
            until: None,
            holds: Holds::Yes,
            note: None,
            at: gangline_os::clock::UnixMicros(0),
        }),
    }
    pauses
}
