//! Statements of agents, epochs, stand-downs, usage and accounts; and the fence.

use std::time::Duration;

use gangline_core::{
    AgentName, Epoch, Principal,
    agent::AgentPhase,
    usage::{MICROS_MAX, Spender, TOKENS_MAX},
    word::Stored,
};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, Row, params};

use super::{Writer, fault::Fault, fence, pauses, rows, sql, turn_orders};
use crate::types::{
    AccountRow, AgentRow, AgentUpdate, EpochStart, LeftSession, NewUsage, SessionRow,
    StandingOrders, UsageSum, Whose,
};

/// So many sessions of an agent are remembered.
const SESSIONS_KEPT: i64 = 200;
/// How many days records of use are stored. A sum covers one day, so it needs no deleted record.
pub(super) const USAGE_KEPT_DAYS: u32 = 90;
/// The most old rows that one write deletes: after an update there may be years of them.
const USAGE_REMOVED_MOST: i64 = 100;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn begin(
    w: &mut Writer,
    agent: &AgentName,
    (pid, note): (u32, &str),
    whose: Whose<'_>,
) -> Result<EpochStart, Fault> {
    let (mut session, mut left) = sessions(w, agent, whose)?;
    if turn_orders::begins_anew(w, agent)? {
        // That no session is gone on with is what was ordered.
        sql::run(
            &w.connection,
            "DELETE FROM sessions WHERE agent = ? AND runtime = ?",
            params![agent.folded(), whose.runtime],
        )?;
        (session, left) = (None, None);
    }
    let known_as = match &session {
        Some(session) => known_as(w, agent, (whose.runtime, session))?,
        None => None,
    };
    let sql = "INSERT INTO agents (agent, installation_id, epoch, pid, note, started_at, \
               updated_at, runtime, session) \
               VALUES (?1, ?2, 1, ?3, ?4, ?5, ?5, ?6, ?7) ON CONFLICT (agent) DO UPDATE SET \
               epoch = epoch + 1, pid = excluded.pid, note = excluded.note, \
               started_at = excluded.started_at, updated_at = excluded.updated_at, \
               runtime = excluded.runtime, session = excluded.session, \
               ready_at = NULL, phase = NULL RETURNING epoch, paused";
    let with =
        params![agent.folded(), &w.installation_id, pid, note, w.now.0, whose.runtime, &session];
    let (epoch, paused) =
        sql::one(&w.connection, sql, with, |row| Ok((Epoch(row.get(0)?), row.get(1)?)))?;
    // Should this commit fail, the process is bound to an epoch that is not there, and fenced.
    w.epochs.insert(agent.clone(), epoch);
    let pauses = pauses::of(&w.connection, agent, paused)?;
    Ok(EpochStart { epoch, session, known_as, left, paused, pauses })
}

/// Returns the session that the runtime had last, and the one that another had since. Gives one
/// that has nobody's name to the configured runtime.
fn sessions(
    w: &mut Writer,
    agent: &AgentName,
    whose: Whose<'_>,
) -> Result<(Option<String>, Option<LeftSession>), Fault> {
    let sql = "INSERT OR REPLACE INTO sessions (agent, runtime, installation_id, session, epoch) \
               SELECT agent, ?2, ?3, session, epoch FROM agents \
               WHERE agent = ?1 AND runtime IS NULL AND session IS NOT NULL";
    sql::run(&w.connection, sql, params![agent.folded(), whose.configured, &w.installation_id])?;
    let sql = "SELECT runtime, session FROM sessions WHERE agent = ? ORDER BY epoch DESC";
    let kept: Vec<(String, String)> =
        sql::all(&w.connection, sql, params![agent.folded()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let own = kept.iter().find(|(runtime, _)| runtime == whose.runtime);
    let session = own.map(|(_, session)| session.clone());
    let left = kept.into_iter().next().filter(|(runtime, _)| runtime != whose.runtime);
    Ok((session, left.map(|(runtime, session)| LeftSession { runtime, session })))
}

pub(crate) fn update(
    w: &mut Writer,
    agent: &AgentName,
    epoch: Epoch,
    update: &AgentUpdate,
) -> Result<(), Fault> {
    fence::fence(w, agent, Some(epoch))?;
    let sql = "UPDATE agents SET phase = coalesce(?2, phase), \
               session = CASE WHEN ?3 THEN ?4 ELSE session END, paused = coalesce(?5, paused), \
               status_json = coalesce(?6, status_json), \
               ready_at = CASE WHEN ?7 THEN ?8 ELSE ready_at END, updated_at = ?8 \
               WHERE agent = ?1";
    sql::run(
        &w.connection,
        sql,
        params![
            agent.folded(),
            update.phase.map(AgentPhase::as_str),
            update.session.is_some(),
            update.session.as_ref().and_then(Option::as_ref),
            update.paused,
            &update.status_json,
            update.ready,
            w.now.0
        ],
    )?;
    if let Some(session) = &update.session {
        keep(w, agent, session.as_deref())?;
    }
    match (&update.session, &update.known_as) {
        (Some(Some(session)), Some(known_as)) => know(w, agent, session, known_as),
        _ => Ok(()),
    }
}

/// Returns our own id of a session.
fn known_as(
    w: &mut Writer,
    agent: &AgentName,
    (runtime, session): (&str, &str),
) -> Result<Option<String>, Fault> {
    let sql = "SELECT known_as FROM session_ids WHERE agent = ? AND runtime = ? AND session = ?";
    Ok(sql::first(&w.connection, sql, params![agent.folded(), runtime, session], sql::column)?)
}

/// Records under which id of ours a session of the epoch's runtime is known. Of each agent the
/// latest [`SESSIONS_KEPT`] stay.
fn know(w: &mut Writer, agent: &AgentName, session: &str, known_as: &str) -> Result<(), Fault> {
    let sql = "INSERT INTO session_ids (agent, runtime, session, installation_id, known_as, \
               begun_at, used_at) \
               SELECT agent, runtime, ?2, ?3, ?4, ?5, ?5 FROM agents \
               WHERE agent = ?1 AND runtime IS NOT NULL \
               ON CONFLICT (agent, runtime, session) DO UPDATE SET used_at = excluded.used_at";
    let with = params![agent.folded(), session, &w.installation_id, known_as, w.now.0];
    sql::run(&w.connection, sql, with)?;
    let sql = "DELETE FROM session_ids WHERE agent = ?1 AND used_at < \
               (SELECT used_at FROM session_ids WHERE agent = ?1 \
               ORDER BY used_at DESC LIMIT 1 OFFSET ?2)";
    sql::run(&w.connection, sql, params![agent.folded(), SESSIONS_KEPT - 1])?;
    Ok(())
}

/// Returns the sessions of an agent, the one that was used last first.
pub(crate) fn known_sessions(c: &Connection, agent: &AgentName) -> Result<Vec<SessionRow>, Fault> {
    let sql = "SELECT runtime, session, known_as, begun_at, used_at, EXISTS (SELECT 1 FROM sessions \
               AS kept WHERE kept.agent = ids.agent AND kept.runtime = ids.runtime \
               AND kept.session = ids.session) AS kept \
               FROM session_ids AS ids WHERE agent = ? ORDER BY used_at DESC, begun_at DESC";
    let row = |row: &Row<'_>| {
        Ok(SessionRow {
            runtime: row.get("runtime")?,
            session: row.get("session")?,
            known_as: row.get("known_as")?,
            begun_at: rows::time(row, "begun_at")?,
            used_at: rows::time(row, "used_at")?,
            kept: row.get("kept")?,
        })
    };
    Ok(sql::all(c, sql, params![agent.folded()], row)?)
}

/// Keeps or forgets the session of the epoch's runtime.
fn keep(w: &mut Writer, agent: &AgentName, session: Option<&str>) -> Result<(), Fault> {
    let sql = match session {
        Some(_) => {
            "INSERT INTO sessions (agent, runtime, installation_id, session, epoch) \
             SELECT agent, runtime, ?2, ?3, epoch FROM agents \
             WHERE agent = ?1 AND runtime IS NOT NULL \
             ON CONFLICT (agent, runtime) DO UPDATE SET session = excluded.session, \
             epoch = excluded.epoch"
        }
        None => {
            "DELETE FROM sessions WHERE agent = ?1 AND runtime = \
             (SELECT runtime FROM agents WHERE agent = ?1)"
        }
    };
    match session {
        Some(session) => {
            sql::run(&w.connection, sql, params![agent.folded(), &w.installation_id, session])?
        }
        None => sql::run(&w.connection, sql, params![agent.folded()])?,
    };
    Ok(())
}

fn agent_row(row: &Row<'_>) -> Result<AgentRow, rusqlite::Error> {
    Ok(AgentRow {
        agent: rows::parsed(row, "agent")?,
        epoch: Epoch(row.get("epoch")?),
        pid: row.get("pid")?,
        note: row.get("note")?,
        phase: row.get::<_, Option<String>>("phase")?.map(Stored::from),
        runtime: row.get("runtime")?,
        session: row.get("session")?,
        paused: row.get("paused")?,
        pauses: Vec::new(),
        status_json: row.get("status_json")?,
        started_at: rows::time(row, "started_at")?,
        ready_at: rows::maybe_time(row, "ready_at")?,
        updated_at: rows::time(row, "updated_at")?,
    })
}

pub(crate) fn one(c: &Connection, agent: &AgentName) -> Result<Option<AgentRow>, Fault> {
    let sql = "SELECT agent, epoch, pid, note, phase, runtime, session, paused, status_json, \
               started_at, ready_at, updated_at FROM agents WHERE agent = ?";
    let mut found = sql::first(c, sql, params![agent.folded()], agent_row)?;
    if let Some(row) = &mut found {
        row.pauses = pauses::of(c, agent, row.paused)?;
    }
    Ok(found)
}

/// Returns what holds an agent, and whether its backend is to be tried again.
pub(crate) fn standing(c: &Connection, agent: &AgentName) -> Result<Option<StandingOrders>, Fault> {
    let Some(row) = one(c, agent)? else { return Ok(None) };
    let resume = turn_orders::resume_ordered(c, agent)?;
    Ok(Some(StandingOrders { pauses: row.pauses, resume }))
}

pub(crate) fn list(c: &Connection) -> Result<Vec<AgentRow>, Fault> {
    Ok(all(c)?)
}

pub(crate) fn all(c: &Connection) -> rusqlite::Result<Vec<AgentRow>> {
    let sql = "SELECT agent, epoch, pid, note, phase, runtime, session, paused, status_json, \
               started_at, ready_at, updated_at FROM agents ORDER BY agent";
    let mut found = sql::all(c, sql, [], agent_row)?;
    pauses::beside(c, &mut found)?;
    Ok(found)
}

pub(crate) fn add_usage(w: &mut Writer, usage: &NewUsage) -> Result<(), Fault> {
    fence::fence(w, &usage.agent, usage.turn.map(|turn| turn.epoch))?;
    // Whoever told the numbers, no row may break a sum.
    let tokens = |many: i64| many.clamp(0, TOKENS_MAX.cast_signed());
    let sql = "INSERT INTO usage (installation_id, agent, epoch, turn_epoch, turn_number, model, \
               input, output, cache_read, cache_write, cost_micros, at, spender, source) \
               VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    sql::run(
        &w.connection,
        sql,
        params![
            &w.installation_id,
            usage.agent.folded(),
            usage.turn.map(|turn| turn.epoch.0),
            usage.turn.map(|turn| turn.number),
            &usage.model,
            tokens(usage.input),
            tokens(usage.output),
            tokens(usage.cache_read),
            tokens(usage.cache_write),
            usage.cost_micros.map(|micros| micros.clamp(0, MICROS_MAX.cast_signed())),
            w.now.0,
            usage.by.as_str(),
            usage.source.as_str(),
        ],
    )?;
    let sql = "DELETE FROM usage WHERE id IN \
               (SELECT id FROM usage WHERE at < ?1 ORDER BY at LIMIT ?2)";
    let old = w.now.before(DAY * USAGE_KEPT_DAYS);
    sql::run(&w.connection, sql, params![old.0, USAGE_REMOVED_MOST])?;
    Ok(())
}

pub(crate) fn usage(
    c: &Connection,
    agent: Option<&AgentName>,
    (by, since): (Option<Spender>, UnixMicros),
) -> Result<UsageSum, Fault> {
    macro_rules! sum {
        ($of:literal) => {
            concat!(
                // A row of an older version may have any number: `TOKENS_MAX`, `MICROS_MAX`.
                "SELECT count(*), coalesce(sum(min(input, 1000000000)), 0), \
                 coalesce(sum(min(output, 1000000000)), 0), \
                 coalesce(sum(min(cache_read, 1000000000)), 0), \
                 coalesce(sum(min(cache_write, 1000000000)), 0), \
                 coalesce(sum(min(cost_micros, 1000000000000)), 0) FROM usage WHERE at >= ?1 \
                 AND (?3 IS NULL OR spender = ?3) AND ",
                $of
            )
        };
    }
    let sql = if agent.is_some() { sum!("agent = ?2") } else { sum!("?2 IS NULL") };
    let sum = |row: &Row<'_>| {
        Ok(UsageSum {
            calls: row.get(0)?,
            input: row.get(1)?,
            output: row.get(2)?,
            cache_read: row.get(3)?,
            cache_write: row.get(4)?,
            cost_micros: row.get(5)?,
        })
    };
    Ok(sql::one(
        c,
        sql,
        params![since.0, agent.map(AgentName::folded), by.map(Spender::as_str)],
        sum,
    )?)
}

pub(crate) fn put_account(w: &mut Writer, principal: &Principal) -> Result<(), Fault> {
    let sql = "INSERT INTO accounts (account, tier, installation_id, created_at) \
               VALUES (?, ?, ?, ?) ON CONFLICT (account) DO UPDATE SET tier = excluded.tier";
    sql::run(
        &w.connection,
        sql,
        params![&principal.account, principal.tier.as_str(), &w.installation_id, w.now.0],
    )?;
    Ok(())
}

fn account_row(row: &Row<'_>) -> Result<AccountRow, rusqlite::Error> {
    Ok(AccountRow {
        principal: Principal { account: row.get("account")?, tier: rows::parsed(row, "tier")? },
        created_at: rows::time(row, "created_at")?,
    })
}

pub(crate) fn accounts(c: &Connection) -> Result<Vec<AccountRow>, Fault> {
    let sql = "SELECT account, tier, created_at FROM accounts ORDER BY account";
    Ok(sql::all(c, sql, [], account_row)?)
}

pub(crate) fn probe(w: &mut Writer) -> Result<(), Fault> {
    let sql = "INSERT INTO meta (key, value) VALUES ('probed_at', ?) \
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    sql::run(&w.connection, sql, params![w.now.0.to_string()])?;
    Ok(())
}
