//! Statements of approvals.

use gangline_core::{AgentName, ApprovalNumber, Epoch, Principal, TurnId, redact::Redacted};
use sqlx::{Row, SqliteConnection};

use super::{
    Writer, agents,
    fault::Fault,
    outbox,
    rows::{self, approval_sql, page},
};
use crate::{
    NUMBER_PLACEHOLDER,
    error::{BrokerError, DecideError},
    types::{ApprovalRow, ApprovalState, Decided, Decision, OpenApproval, OpenedApproval, Send},
};

pub(crate) async fn open(w: &mut Writer, ask: &OpenApproval) -> Result<OpenedApproval, Fault> {
    agents::fence(w, &ask.agent, Some(ask.turn.epoch)).await?;
    let running = "SELECT 1 FROM turns WHERE agent = ? AND epoch = ? AND number = ? \
                   AND ended_at IS NULL";
    let running: Option<i64> = sqlx::query_scalar(running)
        .bind(ask.agent.folded())
        .bind(ask.turn.epoch.0)
        .bind(ask.turn.number)
        .fetch_optional(&mut w.connection)
        .await?;
    if running.is_none() {
        let (agent, turn) = (ask.agent.clone(), ask.turn);
        return Err(BrokerError::TurnNotOpen { agent, turn }.into());
    }
    let (number, decided, reopened) = match same_request(w, ask).await? {
        Some((number, decided)) => (number, decided, true),
        None => ask_anew(w, ask).await?,
    };
    let mut opened = OpenedApproval {
        number: ApprovalNumber(number),
        decided,
        reopened,
        outbox: Vec::new(),
        delivered: None,
    };
    if let (Some(announce), None) = (&ask.announce, decided) {
        let receipt = outbox::put(w, &numbered(announce, number)).await?;
        opened.outbox = receipt.outbox;
        opened.delivered = receipt.delivered;
    }
    Ok(opened)
}

/// Finds the approval of a request that is repeated within its turn.
async fn same_request(
    w: &mut Writer,
    ask: &OpenApproval,
) -> Result<Option<(i64, Option<Decision>)>, Fault> {
    let sql = "SELECT number, decision FROM approvals \
               WHERE agent = ? AND epoch = ? AND turn_number = ? AND request = ?";
    let row = sqlx::query(sql)
        .bind(ask.agent.folded())
        .bind(ask.turn.epoch.0)
        .bind(ask.turn.number)
        .bind(&ask.request)
        .fetch_optional(&mut w.connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let decision: Option<&str> = row.try_get(1)?;
    Ok(Some((row.try_get(0)?, decision.and_then(Decision::from_word))))
}

/// Opens an approval: the void or withdrawn one of the same question, or a new one.
async fn ask_anew(
    w: &mut Writer,
    ask: &OpenApproval,
) -> Result<(i64, Option<Decision>, bool), Fault> {
    let takes: Option<i64> = sqlx::query_scalar("SELECT takes FROM messages WHERE id = ?")
        .bind(ask.message.map(|id| id.0))
        .fetch_optional(&mut w.connection)
        .await?;
    let takes = takes.unwrap_or(0);
    let sql = "SELECT number, state, decision, takes FROM approvals \
               WHERE agent = ? AND message = ? AND tool = ? AND args_hash = ? \
               AND state IN ('void', 'withdrawn') ORDER BY number DESC LIMIT 1";
    let before = sqlx::query(sql)
        .bind(ask.agent.folded())
        .bind(ask.message.map(|id| id.0))
        .bind(&ask.tool)
        .bind(&ask.args_hash)
        .fetch_optional(&mut w.connection)
        .await?;
    let Some(before) = before else {
        return Ok((insert(w, ask, takes).await?, None, false));
    };
    let (state, decision): (&str, Option<&str>) = (before.try_get(1)?, before.try_get(2)?);
    let next_attempt = takes == before.try_get::<i64, _>(3)? + 1;
    let decided = decision
        .filter(|_| state == ApprovalState::Void.as_str() && next_attempt)
        .and_then(Decision::from_word);
    let number = before.try_get(0)?;
    reopen(w, ask, (number, takes), decided).await?;
    Ok((number, decided, true))
}

async fn insert(w: &mut Writer, ask: &OpenApproval, takes: i64) -> Result<i64, Fault> {
    let sql = "INSERT INTO approvals (installation_id, agent, epoch, turn_number, message, takes, \
               request, tool, args_hash, summary, detail, state, opened_at) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?)";
    let done = sqlx::query(sql)
        .bind(&w.installation_id)
        .bind(ask.agent.folded())
        .bind(ask.turn.epoch.0)
        .bind(ask.turn.number)
        .bind(ask.message.map(|id| id.0))
        .bind(takes)
        .bind(&ask.request)
        .bind(&ask.tool)
        .bind(&ask.args_hash)
        .bind(ask.summary.as_str())
        .bind(ask.detail.as_str())
        .bind(w.now.0)
        .execute(&mut w.connection)
        .await?;
    Ok(done.last_insert_rowid())
}

const fn state_of(decision: Decision) -> ApprovalState {
    match decision {
        Decision::Allow => ApprovalState::Allowed,
        Decision::Deny => ApprovalState::Denied,
    }
}

async fn reopen(
    w: &mut Writer,
    ask: &OpenApproval,
    (number, takes): (i64, i64),
    decided: Option<Decision>,
) -> Result<(), Fault> {
    let sql = "UPDATE approvals SET epoch = ?2, turn_number = ?3, takes = ?4, request = ?5, \
               summary = ?6, detail = ?7, state = ?8, opened_at = ?9, delivered = 0, \
               announced_at = NULL, announced_msgid = NULL, \
               closed_at = CASE WHEN ?10 THEN ?9 END, \
               decision = CASE WHEN ?10 THEN decision END, \
               decided_by = CASE WHEN ?10 THEN decided_by END, \
               decided_tier = CASE WHEN ?10 THEN decided_tier END, \
               note = CASE WHEN ?10 THEN note END WHERE number = ?1";
    sqlx::query(sql)
        .bind(number)
        .bind(ask.turn.epoch.0)
        .bind(ask.turn.number)
        .bind(takes)
        .bind(&ask.request)
        .bind(ask.summary.as_str())
        .bind(ask.detail.as_str())
        .bind(decided.map_or(ApprovalState::Open, state_of).as_str())
        .bind(w.now.0)
        .bind(decided.is_some())
        .execute(&mut w.connection)
        .await?;
    Ok(())
}

/// Puts the number in place of the first placeholder; a command that is quoted further on may
/// contain the same characters.
fn numbered(announce: &Send, number: i64) -> Send {
    let mut send = announce.clone();
    let place = send.lines.iter_mut().find(|line| line.as_str().contains(NUMBER_PLACEHOLDER));
    if let Some(line) = place {
        let text = line.as_str().replacen(NUMBER_PLACEHOLDER, &number.to_string(), 1);
        *line = Redacted::from_store(text);
    }
    send
}

pub(crate) async fn decide(
    w: &mut Writer,
    number: ApprovalNumber,
    (decision, by, note): (Decision, &Principal, Option<&Redacted>),
) -> Result<Result<Decided, DecideError>, Fault> {
    let Some(row) = one(&mut w.connection, number).await? else {
        return Ok(Err(DecideError::Unknown(number)));
    };
    let state = match row.state {
        ApprovalState::Open => state_of(decision),
        ApprovalState::Void if row.message.is_some() => ApprovalState::Void,
        state @ (ApprovalState::Allowed
        | ApprovalState::Denied
        | ApprovalState::Void
        | ApprovalState::Withdrawn) => return Ok(Err(DecideError::Closed { number, state })),
    };
    let sql = "UPDATE approvals SET state = ?, decision = ?, decided_by = ?, decided_tier = ?, \
               note = ?, closed_at = ?, delivered = 0 WHERE number = ?";
    sqlx::query(sql)
        .bind(state.as_str())
        .bind(decision.as_str())
        .bind(&by.account)
        .bind(by.tier.as_str())
        .bind(note.map(Redacted::as_str))
        .bind(w.now.0)
        .bind(number.0)
        .execute(&mut w.connection)
        .await?;
    let for_next_attempt = state == ApprovalState::Void;
    Ok(Ok(Decided { number, agent: row.agent, decision, for_next_attempt }))
}

pub(crate) async fn one(
    c: &mut SqliteConnection,
    number: ApprovalNumber,
) -> Result<Option<ApprovalRow>, Fault> {
    let sql = approval_sql!("WHERE number = ?");
    let row = sqlx::query(sql).bind(number.0).fetch_optional(c).await?;
    Ok(row.as_ref().map(rows::approval).transpose()?)
}

pub(crate) async fn list(
    c: &mut SqliteConnection,
    agent: Option<&AgentName>,
    open_only: bool,
) -> Result<Vec<ApprovalRow>, Fault> {
    let sql = match (agent.is_some(), open_only) {
        (false, true) => {
            approval_sql!(
                "INDEXED BY approvals_open WHERE ?1 IS NULL AND state = 'open' \
                 ORDER BY number DESC LIMIT ?2"
            )
        }
        (false, false) => approval_sql!("WHERE ?1 IS NULL ORDER BY number DESC LIMIT ?2"),
        (true, true) => {
            approval_sql!(
                "INDEXED BY approvals_open_of WHERE agent = ?1 AND state = 'open' \
                 ORDER BY number DESC LIMIT ?2"
            )
        }
        (true, false) => approval_sql!("WHERE agent = ?1 ORDER BY number DESC LIMIT ?2"),
    };
    let query = sqlx::query(sql).bind(agent.map(AgentName::folded)).bind(page(0));
    let mut found = rows::all(&query.fetch_all(c).await?, rows::approval)?;
    found.reverse();
    Ok(found)
}

pub(crate) async fn undelivered(
    c: &mut SqliteConnection,
    agent: &AgentName,
    epoch: Epoch,
) -> Result<Vec<ApprovalRow>, Fault> {
    let sql = approval_sql!(
        "WHERE agent = ? AND epoch = ? AND delivered = 0 AND state IN ('allowed', 'denied') \
         ORDER BY number"
    );
    let query = sqlx::query(sql).bind(agent.folded()).bind(epoch.0);
    Ok(rows::all(&query.fetch_all(c).await?, rows::approval)?)
}

/// Fences a write that names only the approval.
async fn fence_row(w: &mut Writer, number: ApprovalNumber) -> Result<(), Fault> {
    if w.epochs.is_empty() {
        return Ok(());
    }
    let row = sqlx::query("SELECT agent FROM approvals WHERE number = ?")
        .bind(number.0)
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

pub(crate) async fn mark_delivered(w: &mut Writer, number: ApprovalNumber) -> Result<(), Fault> {
    fence_row(w, number).await?;
    sqlx::query("UPDATE approvals SET delivered = 1 WHERE number = ?")
        .bind(number.0)
        .execute(&mut w.connection)
        .await?;
    Ok(())
}

pub(crate) async fn announced(
    w: &mut Writer,
    number: ApprovalNumber,
    server_time: Option<&str>,
    msgid: Option<&str>,
) -> Result<(), Fault> {
    fence_row(w, number).await?;
    sqlx::query("UPDATE approvals SET announced_at = ?, announced_msgid = ? WHERE number = ?")
        .bind(server_time)
        .bind(msgid)
        .bind(number.0)
        .execute(&mut w.connection)
        .await?;
    Ok(())
}

pub(crate) async fn void_older(
    w: &mut Writer,
    agent: &AgentName,
    epoch: Epoch,
) -> Result<Vec<ApprovalNumber>, Fault> {
    agents::fence(w, agent, Some(epoch)).await?;
    let sql = "UPDATE approvals SET state = 'void', closed_at = ?3 WHERE agent = ?1 \
               AND epoch < ?2 AND (state = 'open' \
               OR (delivered = 0 AND state IN ('allowed', 'denied'))) RETURNING number";
    let mut numbers: Vec<i64> = sqlx::query_scalar(sql)
        .bind(agent.folded())
        .bind(epoch.0)
        .bind(w.now.0)
        .fetch_all(&mut w.connection)
        .await?;
    numbers.sort_unstable();
    Ok(numbers.into_iter().map(ApprovalNumber).collect())
}

/// Closes what is open of a turn that ends. A decision that did not reach the runtime any more is
/// kept for the message's next attempt.
pub(super) async fn withdraw(
    w: &mut Writer,
    agent: &AgentName,
    turn: TurnId,
    why: &str,
) -> Result<Vec<ApprovalNumber>, Fault> {
    let undelivered = "UPDATE approvals SET state = 'void' WHERE agent = ? AND epoch = ? \
                       AND turn_number = ? AND delivered = 0 AND state IN ('allowed', 'denied')";
    sqlx::query(undelivered)
        .bind(agent.folded())
        .bind(turn.epoch.0)
        .bind(turn.number)
        .execute(&mut w.connection)
        .await?;
    let sql = "UPDATE approvals SET state = 'withdrawn', note = ?, closed_at = ? \
               WHERE agent = ? AND epoch = ? AND turn_number = ? AND state = 'open' \
               RETURNING number";
    let mut numbers: Vec<i64> = sqlx::query_scalar(sql)
        .bind(why)
        .bind(w.now.0)
        .bind(agent.folded())
        .bind(turn.epoch.0)
        .bind(turn.number)
        .fetch_all(&mut w.connection)
        .await?;
    numbers.sort_unstable();
    Ok(numbers.into_iter().map(ApprovalNumber).collect())
}
