//! Statements of agents, epochs, stand-downs, usage and accounts; and the fence.

use gangline_core::{AgentName, Epoch, Principal, TurnId};
use gangline_os::clock::UnixMicros;
use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::{Writer, fault::Fault, rows};
use crate::{
    error::BrokerError,
    types::{
        AccountRow, AgentRow, AgentUpdate, EpochStart, LeftSession, NewUsage, UsageSum, Whose,
    },
};

async fn current(w: &mut Writer, agent: &AgentName) -> Result<Epoch, Fault> {
    let sql = "SELECT epoch FROM agents WHERE agent = ?";
    let epoch: Option<i64> =
        sqlx::query_scalar(sql).bind(agent.folded()).fetch_optional(&mut w.connection).await?;
    Ok(Epoch(epoch.unwrap_or(0)))
}

/// Lets a write through only if the epoch that it names, and the one that this process has begun
/// for the agent, are the agent's. A write that names none, of a process that began none, passes.
pub(super) async fn fence(
    w: &mut Writer,
    agent: &AgentName,
    named: Option<Epoch>,
) -> Result<(), Fault> {
    let bound = w.epochs.get(agent).copied();
    if named.is_none() && bound.is_none() {
        return Ok(());
    }
    let current = current(w, agent).await?;
    for held in [named, bound].into_iter().flatten() {
        if held != current {
            return Err(BrokerError::Fenced { agent: agent.clone(), held, current }.into());
        }
    }
    Ok(())
}

/// As [`fence`], for the end of a turn: a daemon ends lost turns of older epochs as well.
pub(super) async fn fence_end(
    w: &mut Writer,
    agent: &AgentName,
    turn: TurnId,
) -> Result<(), Fault> {
    match w.epochs.get(agent) {
        Some(bound) if turn.epoch <= *bound => fence(w, agent, None).await,
        _ => fence(w, agent, Some(turn.epoch)).await,
    }
}

pub(crate) async fn begin(
    w: &mut Writer,
    agent: &AgentName,
    (pid, note): (u32, &str),
    whose: Whose<'_>,
) -> Result<EpochStart, Fault> {
    let (session, left) = sessions(w, agent, whose).await?;
    let sql = "INSERT INTO agents (agent, installation_id, epoch, pid, note, started_at, \
               updated_at, runtime, session) \
               VALUES (?1, ?2, 1, ?3, ?4, ?5, ?5, ?6, ?7) ON CONFLICT (agent) DO UPDATE SET \
               epoch = epoch + 1, pid = excluded.pid, note = excluded.note, \
               started_at = excluded.started_at, updated_at = excluded.updated_at, \
               runtime = excluded.runtime, session = excluded.session, \
               ready_at = NULL, phase = NULL RETURNING epoch, paused";
    let row = sqlx::query(sql)
        .bind(agent.folded())
        .bind(&w.installation_id)
        .bind(i64::from(pid))
        .bind(note)
        .bind(w.now.0)
        .bind(whose.runtime)
        .bind(&session)
        .fetch_one(&mut w.connection)
        .await?;
    let epoch = Epoch(row.try_get(0)?);
    let rooms = "SELECT target FROM stand_downs WHERE agent = ? ORDER BY target";
    let stood_down =
        sqlx::query_scalar(rooms).bind(agent.folded()).fetch_all(&mut w.connection).await?;
    // Should this commit fail, the process is bound to an epoch that is not there, and fenced.
    w.epochs.insert(agent.clone(), epoch);
    Ok(EpochStart { epoch, session, left, paused: row.try_get(1)?, stood_down })
}

/// Returns the session that the runtime had last, and the one that another had since. Gives one
/// that has nobody's name to the configured runtime.
async fn sessions(
    w: &mut Writer,
    agent: &AgentName,
    whose: Whose<'_>,
) -> Result<(Option<String>, Option<LeftSession>), Fault> {
    let sql = "INSERT OR REPLACE INTO sessions (agent, runtime, installation_id, session, epoch) \
               SELECT agent, ?2, ?3, session, epoch FROM agents \
               WHERE agent = ?1 AND runtime IS NULL AND session IS NOT NULL";
    sqlx::query(sql)
        .bind(agent.folded())
        .bind(whose.configured)
        .bind(&w.installation_id)
        .execute(&mut w.connection)
        .await?;
    let sql = "SELECT runtime, session FROM sessions WHERE agent = ? ORDER BY epoch DESC";
    let kept: Vec<(String, String)> =
        sqlx::query_as(sql).bind(agent.folded()).fetch_all(&mut w.connection).await?;
    let own = kept.iter().find(|(runtime, _)| runtime == whose.runtime);
    let session = own.map(|(_, session)| session.clone());
    let left = kept.into_iter().next().filter(|(runtime, _)| runtime != whose.runtime);
    Ok((session, left.map(|(runtime, session)| LeftSession { runtime, session })))
}

pub(crate) async fn update(
    w: &mut Writer,
    agent: &AgentName,
    epoch: Epoch,
    update: &AgentUpdate,
) -> Result<(), Fault> {
    fence(w, agent, Some(epoch)).await?;
    let sql = "UPDATE agents SET phase = coalesce(?2, phase), \
               session = CASE WHEN ?3 THEN ?4 ELSE session END, paused = coalesce(?5, paused), \
               status_json = coalesce(?6, status_json), \
               ready_at = CASE WHEN ?7 THEN ?8 ELSE ready_at END, updated_at = ?8 \
               WHERE agent = ?1";
    sqlx::query(sql)
        .bind(agent.folded())
        .bind(&update.phase)
        .bind(update.session.is_some())
        .bind(update.session.as_ref().and_then(Option::as_ref))
        .bind(update.paused)
        .bind(&update.status_json)
        .bind(update.ready)
        .bind(w.now.0)
        .execute(&mut w.connection)
        .await?;
    match &update.session {
        Some(session) => keep(w, agent, session.as_deref()).await,
        None => Ok(()),
    }
}

/// Keeps or forgets the session of the epoch's runtime.
async fn keep(w: &mut Writer, agent: &AgentName, session: Option<&str>) -> Result<(), Fault> {
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
    let query = sqlx::query(sql).bind(agent.folded());
    let query = match session {
        Some(session) => query.bind(&w.installation_id).bind(session),
        None => query,
    };
    query.execute(&mut w.connection).await?;
    Ok(())
}

fn agent_row(row: &SqliteRow) -> Result<AgentRow, sqlx::Error> {
    Ok(AgentRow {
        agent: rows::parsed(row, "agent")?,
        epoch: Epoch(row.try_get("epoch")?),
        pid: row.try_get("pid")?,
        note: row.try_get("note")?,
        phase: row.try_get("phase")?,
        runtime: row.try_get("runtime")?,
        session: row.try_get("session")?,
        paused: row.try_get("paused")?,
        status_json: row.try_get("status_json")?,
        started_at: rows::time(row, "started_at")?,
        ready_at: rows::maybe_time(row, "ready_at")?,
        updated_at: rows::time(row, "updated_at")?,
    })
}

pub(crate) async fn one(
    c: &mut SqliteConnection,
    agent: &AgentName,
) -> Result<Option<AgentRow>, Fault> {
    let sql = "SELECT agent, epoch, pid, note, phase, runtime, session, paused, status_json, \
               started_at, ready_at, updated_at FROM agents WHERE agent = ?";
    let row = sqlx::query(sql).bind(agent.folded()).fetch_optional(c).await?;
    Ok(row.as_ref().map(agent_row).transpose()?)
}

pub(crate) async fn list(c: &mut SqliteConnection) -> Result<Vec<AgentRow>, Fault> {
    let sql = "SELECT agent, epoch, pid, note, phase, runtime, session, paused, status_json, \
               started_at, ready_at, updated_at FROM agents ORDER BY agent";
    Ok(rows::all(&sqlx::query(sql).fetch_all(c).await?, agent_row)?)
}

pub(crate) async fn pause(w: &mut Writer, agent: &AgentName, paused: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO agents (agent, installation_id, epoch, pid, note, paused, started_at, \
               updated_at) VALUES (?1, ?2, 0, 0, '', ?3, ?4, ?4) \
               ON CONFLICT (agent) DO UPDATE SET paused = excluded.paused";
    sqlx::query(sql)
        .bind(agent.folded())
        .bind(&w.installation_id)
        .bind(paused)
        .bind(w.now.0)
        .execute(&mut w.connection)
        .await?;
    Ok(())
}

pub(crate) async fn stand_down(
    w: &mut Writer,
    agent: &AgentName,
    target: &str,
    by: &str,
) -> Result<(), Fault> {
    let sql = "INSERT INTO stand_downs (agent, target, by, at) VALUES (?, ?, ?, ?) \
               ON CONFLICT (agent, target) DO NOTHING";
    sqlx::query(sql)
        .bind(agent.folded())
        .bind(target)
        .bind(by)
        .bind(w.now.0)
        .execute(&mut w.connection)
        .await?;
    Ok(())
}

pub(crate) async fn lift(w: &mut Writer, agent: &AgentName, target: &str) -> Result<bool, Fault> {
    let sql = "DELETE FROM stand_downs WHERE agent = ? AND target = ?";
    let done =
        sqlx::query(sql).bind(agent.folded()).bind(target).execute(&mut w.connection).await?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn add_usage(w: &mut Writer, usage: &NewUsage) -> Result<(), Fault> {
    fence(w, &usage.agent, usage.turn.map(|turn| turn.epoch)).await?;
    let sql = "INSERT INTO usage (installation_id, agent, epoch, turn_epoch, turn_number, model, \
               input, output, cache_read, cache_write, cost_micros, at) \
               VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    sqlx::query(sql)
        .bind(&w.installation_id)
        .bind(usage.agent.folded())
        .bind(usage.turn.map(|turn| turn.epoch.0))
        .bind(usage.turn.map(|turn| turn.number))
        .bind(&usage.model)
        .bind(usage.input)
        .bind(usage.output)
        .bind(usage.cache_read)
        .bind(usage.cache_write)
        .bind(usage.cost_micros)
        .bind(w.now.0)
        .execute(&mut w.connection)
        .await?;
    Ok(())
}

pub(crate) async fn usage(
    c: &mut SqliteConnection,
    agent: Option<&AgentName>,
    since: UnixMicros,
) -> Result<UsageSum, Fault> {
    macro_rules! sum {
        ($of:literal) => {
            concat!(
                "SELECT count(*), coalesce(sum(input), 0), coalesce(sum(output), 0), \
                 coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0), \
                 coalesce(sum(cost_micros), 0) FROM usage WHERE at >= ?1 AND ",
                $of
            )
        };
    }
    let sql = if agent.is_some() { sum!("agent = ?2") } else { sum!("?2 IS NULL") };
    let row =
        sqlx::query(sql).bind(since.0).bind(agent.map(AgentName::folded)).fetch_one(c).await?;
    Ok(UsageSum {
        calls: row.try_get(0)?,
        input: row.try_get(1)?,
        output: row.try_get(2)?,
        cache_read: row.try_get(3)?,
        cache_write: row.try_get(4)?,
        cost_micros: row.try_get(5)?,
    })
}

pub(crate) async fn put_account(w: &mut Writer, principal: &Principal) -> Result<(), Fault> {
    let sql = "INSERT INTO accounts (account, tier, installation_id, created_at) \
               VALUES (?, ?, ?, ?) ON CONFLICT (account) DO UPDATE SET tier = excluded.tier";
    sqlx::query(sql)
        .bind(&principal.account)
        .bind(principal.tier.as_str())
        .bind(&w.installation_id)
        .bind(w.now.0)
        .execute(&mut w.connection)
        .await?;
    Ok(())
}

fn account_row(row: &SqliteRow) -> Result<AccountRow, sqlx::Error> {
    Ok(AccountRow {
        principal: Principal { account: row.try_get("account")?, tier: rows::parsed(row, "tier")? },
        created_at: rows::time(row, "created_at")?,
    })
}

pub(crate) async fn accounts(c: &mut SqliteConnection) -> Result<Vec<AccountRow>, Fault> {
    let sql = "SELECT account, tier, created_at FROM accounts ORDER BY account";
    Ok(rows::all(&sqlx::query(sql).fetch_all(c).await?, account_row)?)
}

pub(crate) async fn probe(w: &mut Writer) -> Result<(), Fault> {
    let sql = "INSERT INTO meta (key, value) VALUES ('probed_at', ?) \
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    sqlx::query(sql).bind(w.now.0.to_string()).execute(&mut w.connection).await?;
    Ok(())
}
