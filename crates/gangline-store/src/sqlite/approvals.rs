//! Statements of approvals.

use gangline_core::{
    AgentName, ApprovalNumber, Epoch, MessageId, Principal, Tier, TurnId,
    approval::{ApprovalState, Decision, view},
    redact::Redacted,
    rule::{Offer, Rule, Subject},
};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, Row, params};

use super::{
    Writer,
    fault::Fault,
    fence, numbers, places,
    rows::{self, approval_sql, page},
    rules, sql, turn_orders,
};
use crate::{
    error::{DecideError, StoreError},
    types::{
        AllowedBefore, Always, Announce, ApprovalRow, Decided, OpenApproval, OpenedApproval,
        Ruling, SendReceipt, Stored, WithdrawApproval, by_rules, is_by_rules,
    },
};

pub(crate) fn open(w: &mut Writer, ask: &OpenApproval) -> Result<OpenedApproval, Fault> {
    fence::fence(w, &ask.agent, Some(ask.turn.epoch))?;
    let running = "SELECT 1 FROM turns WHERE agent = ? AND epoch = ? AND number = ? \
                   AND ended_at IS NULL";
    let running: Option<i64> = sql::first(
        &w.connection,
        running,
        params![ask.agent.folded(), ask.turn.epoch.0, ask.turn.number],
        sql::column,
    )?;
    if running.is_none() {
        let (agent, turn) = (ask.agent.clone(), ask.turn);
        return Err(StoreError::TurnNotOpen { agent, turn }.into());
    }
    let (number, decided, reopened) = match same_request(w, ask)? {
        Some((number, decided)) => (number, decided, true),
        None => ask_anew(w, ask)?,
    };
    let decided = match decided {
        None => allow_by_rules(w, ask, number)?,
        decided => decided,
    };
    let mut opened = OpenedApproval {
        number: ApprovalNumber(number),
        decided,
        reopened,
        outbox: Vec::new(),
        delivered: None,
    };
    if let (Some(announce), None) = (&ask.announce, decided) {
        let receipt = places::put(w, ApprovalNumber(number), announce)?;
        opened.outbox = receipt.outbox;
        opened.delivered = receipt.delivered;
    }
    Ok(opened)
}

/// Allows an approval that was just opened, if rules cover all of it.
fn allow_by_rules(
    w: &mut Writer,
    ask: &OpenApproval,
    number: i64,
) -> Result<Option<Decision>, Fault> {
    let Some(offer) = &ask.offer else { return Ok(None) };
    rules::store_offer(w, number, offer)?;
    let rules: Vec<Rule> =
        rules::in_force(&w.connection, &ask.agent)?.into_iter().map(|row| row.rule).collect();
    let Some(numbers) = offer.allowed_by(&rules) else { return Ok(None) };
    let by = by_rules(&numbers);
    let ruling = Ruling {
        decision: Decision::Allow,
        by: Principal { account: by.clone(), tier: Tier::Owner },
        known_as: by,
        note: None,
        say: None,
    };
    let decided = decide(w, ApprovalNumber(number), &ruling)?;
    Ok(decided.ok().map(|decided| decided.decision))
}

/// Finds the approval of a request that is repeated within its turn.
fn same_request(
    w: &mut Writer,
    ask: &OpenApproval,
) -> Result<Option<(i64, Option<Decision>)>, Fault> {
    let sql = "SELECT number, decision FROM approvals \
               WHERE agent = ? AND epoch = ? AND turn_number = ? AND request = ? \
               AND state != 'withdrawn'";
    let with = params![ask.agent.folded(), ask.turn.epoch.0, ask.turn.number, &ask.request];
    Ok(sql::first(&w.connection, sql, with, |row| Ok((row.get(0)?, decision(row, 1)?)))?)
}

fn decision(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Decision>> {
    let word: Option<String> = row.get(column)?;
    Ok(word.as_deref().and_then(|word| word.parse().ok()))
}

/// Opens an approval: the void or withdrawn one of the same question, or a new one.
fn ask_anew(w: &mut Writer, ask: &OpenApproval) -> Result<(i64, Option<Decision>, bool), Fault> {
    let takes: Option<i64> = sql::first(
        &w.connection,
        "SELECT takes FROM messages WHERE id = ?",
        params![ask.message.map(|id| id.0)],
        sql::column,
    )?;
    let takes = takes.unwrap_or(0);
    let sql = "SELECT number, state, decision, takes, decided_by FROM approvals \
               WHERE agent = ? AND message = ? AND tool = ? AND args_hash = ? \
               AND state IN ('void', 'withdrawn') ORDER BY number DESC LIMIT 1";
    let before = sql::first(
        &w.connection,
        sql,
        params![ask.agent.folded(), ask.message.map(|id| id.0), &ask.tool, &ask.args_hash],
        |row| {
            let state: String = row.get(1)?;
            let before: (i64, Option<Decision>, i64) =
                (row.get(0)?, decision(row, 2)?, row.get(3)?);
            // A person's decision counts for the next attempt; rules are looked at anew.
            let by: Option<String> = row.get(4)?;
            let person = !by.is_some_and(|by| is_by_rules(&by));
            Ok((before, person && state == ApprovalState::Void.as_str()))
        },
    )?;
    let Some(((number, decision, taken), void)) = before else {
        return Ok((insert(w, ask, takes)?, None, false));
    };
    let decided = decision.filter(|_| void && takes == taken + 1);
    reopen(w, ask, (number, takes), decided)?;
    Ok((number, decided, true))
}

fn insert(w: &mut Writer, ask: &OpenApproval, takes: i64) -> Result<i64, Fault> {
    let number = numbers::next(w)?;
    let sql = "INSERT INTO approvals (number, installation_id, agent, epoch, turn_number, message, takes, \
               request, tool, args_hash, summary, detail, folder, said_before, audience, \
               state, opened_at) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?)";
    sql::run(
        &w.connection,
        sql,
        params![
            number,
            &w.installation_id,
            ask.agent.folded(),
            ask.turn.epoch.0,
            ask.turn.number,
            ask.message.map(|id| id.0),
            takes,
            &ask.request,
            &ask.tool,
            &ask.args_hash,
            ask.summary.as_str(),
            ask.detail.as_str(),
            ask.folder.as_str(),
            ask.said_before.as_str(),
            ask.audience.as_str(),
            w.now.0
        ],
    )?;
    numbers::keep_in_step(w, number)?;
    Ok(number)
}

const fn state_of(decision: Decision) -> ApprovalState {
    match decision {
        Decision::Allow => ApprovalState::Allowed,
        Decision::Deny => ApprovalState::Denied,
    }
}

fn reopen(
    w: &mut Writer,
    ask: &OpenApproval,
    (number, takes): (i64, i64),
    decided: Option<Decision>,
) -> Result<(), Fault> {
    places::forget(w, ApprovalNumber(number))?;
    let sql = "UPDATE approvals SET epoch = ?2, turn_number = ?3, takes = ?4, request = ?5, \
               summary = ?6, detail = ?7, state = ?8, opened_at = ?9, delivered = 0, \
               announced_at = NULL, announced_msgid = NULL, \
               closed_at = CASE WHEN ?10 THEN ?9 END, \
               decision = CASE WHEN ?10 THEN decision END, \
               decided_by = CASE WHEN ?10 THEN decided_by END, \
               decided_tier = CASE WHEN ?10 THEN decided_tier END, \
               decided_as = CASE WHEN ?10 THEN decided_as END, \
               folder = ?11, said_before = ?12, audience = ?13, \
               note = CASE WHEN ?10 THEN note END WHERE number = ?1";
    sql::run(
        &w.connection,
        sql,
        params![
            number,
            ask.turn.epoch.0,
            ask.turn.number,
            takes,
            &ask.request,
            ask.summary.as_str(),
            ask.detail.as_str(),
            decided.map_or(ApprovalState::Open, state_of).as_str(),
            w.now.0,
            decided.is_some(),
            ask.folder.as_str(),
            ask.said_before.as_str(),
            ask.audience.as_str()
        ],
    )?;
    Ok(())
}

pub(crate) fn decide(
    w: &mut Writer,
    number: ApprovalNumber,
    ruling: &Ruling,
) -> Result<Result<Decided, DecideError>, Fault> {
    let Some(row) = one(&w.connection, number)? else {
        return Ok(Err(DecideError::Unknown(number)));
    };
    let state = match row.state {
        ApprovalState::Open => state_of(ruling.decision),
        ApprovalState::Void if row.message.is_some() => ApprovalState::Void,
        state @ (ApprovalState::Allowed
        | ApprovalState::Denied
        | ApprovalState::Void
        | ApprovalState::Withdrawn) => return Ok(Err(DecideError::Closed { number, state })),
    };
    let sql = "UPDATE approvals SET state = ?, decision = ?, decided_by = ?, decided_tier = ?, \
               decided_as = ?, note = ?, closed_at = ?, delivered = 0 WHERE number = ?";
    sql::run(
        &w.connection,
        sql,
        params![
            state.as_str(),
            ruling.decision.as_str(),
            &ruling.by.account,
            ruling.by.tier.as_str(),
            &ruling.known_as,
            ruling.note.as_ref().map(Redacted::as_str),
            w.now.0,
            number.0
        ],
    )?;
    if let Some(say) = &ruling.say {
        let key = format!("ad-{number}-{}", w.now.0);
        places::say_everywhere(w, &row, (&key, say))?;
    }
    let for_next_attempt = state == ApprovalState::Void;
    Ok(Ok(Decided { number, agent: row.agent, decision: ruling.decision, for_next_attempt }))
}

/// Decides an approval and stores what it offers.
pub(crate) fn decide_always(
    w: &mut Writer,
    number: ApprovalNumber,
    ruling: &Ruling,
) -> Result<Result<Always, DecideError>, Fault> {
    let decided = match decide(w, number, ruling)? {
        Ok(decided) => decided,
        Err(error) => return Ok(Err(error)),
    };
    let stored = match rules::offer(&w.connection, number)? {
        Some(Offer { subject: Subject::Unclear(why), .. }) => Stored::Nothing(why),
        None => Stored::Nothing("it was asked by an older program".to_owned()),
        Some(offer) => rules::store(w, (&decided.agent, number), (&offer, ruling))?,
    };
    rules::record_always(w, &decided, (&stored, &ruling.known_as))?;
    Ok(Ok(Always { decided, stored }))
}

/// Announces an open approval in one more place, or again in one.
pub(crate) fn announce(
    w: &mut Writer,
    number: ApprovalNumber,
    it: &Announce,
) -> Result<SendReceipt, Fault> {
    fence::fence(w, &it.send.agent, it.send.turn.map(|turn| turn.epoch))?;
    match one(&w.connection, number)? {
        // One whose daemon died can be decided for the next attempt.
        Some(row) if matches!(row.state, ApprovalState::Open | ApprovalState::Void) => {
            places::put(w, number, it)
        }
        Some(_) | None => Ok(SendReceipt::default()),
    }
}

/// Finds one by its number.
pub(crate) fn one(c: &Connection, number: ApprovalNumber) -> Result<Option<ApprovalRow>, Fault> {
    let sql = approval_sql!("WHERE number = ?");
    Ok(sql::first(c, sql, params![number.0], rows::approval)?)
}

pub(crate) fn list(
    c: &Connection,
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
    let with = params![agent.map(AgentName::folded), page(0)];
    let mut found = sql::all(c, sql, with, rows::approval)?;
    found.reverse();
    Ok(found)
}

pub(crate) fn asked_since(
    c: &Connection,
    agent: Option<&AgentName>,
    since: UnixMicros,
    before: Option<ApprovalNumber>,
) -> Result<Vec<(ApprovalRow, Option<Offer>)>, Fault> {
    let sql = match agent {
        Some(_) => approval_sql!(
            "WHERE agent = ?1 AND opened_at >= ?2 AND number < ?3 ORDER BY number DESC LIMIT ?4"
        ),
        None => approval_sql!(
            "WHERE ?1 IS NULL AND opened_at >= ?2 AND number < ?3 ORDER BY number DESC LIMIT ?4"
        ),
    };
    let before = before.map_or(i64::MAX, |number| number.0);
    let with = params![agent.map(AgentName::folded), since.0, before, page(0)];
    let found: Vec<ApprovalRow> = sql::all(c, sql, with, rows::approval)?;
    let with_offer = |row: ApprovalRow| Ok((row.clone(), rules::offer(c, row.number)?));
    found.into_iter().map(with_offer).collect()
}

pub(crate) fn undelivered(
    c: &Connection,
    agent: &AgentName,
    epoch: Epoch,
) -> Result<Vec<ApprovalRow>, Fault> {
    let sql = approval_sql!(
        "WHERE agent = ? AND epoch = ? AND delivered = 0 AND state IN ('allowed', 'denied') \
         ORDER BY number"
    );
    Ok(sql::all(c, sql, params![agent.folded(), epoch.0], rows::approval)?)
}

/// Fences a write that names only the approval.
fn fence_row(w: &mut Writer, number: ApprovalNumber) -> Result<(), Fault> {
    if w.epochs.is_empty() {
        return Ok(());
    }
    let sql = "SELECT agent FROM approvals WHERE number = ?";
    match sql::first(&w.connection, sql, params![number.0], |row| rows::parsed(row, "agent"))? {
        Some(agent) => fence::fence(w, &agent, None),
        None => Ok(()),
    }
}

pub(crate) fn mark_delivered(w: &mut Writer, number: ApprovalNumber) -> Result<(), Fault> {
    fence_row(w, number)?;
    sql::run(
        &w.connection,
        "UPDATE approvals SET delivered = 1 WHERE number = ?",
        params![number.0],
    )?;
    Ok(())
}

pub(crate) fn void_older(
    w: &mut Writer,
    agent: &AgentName,
    epoch: Epoch,
) -> Result<Vec<ApprovalNumber>, Fault> {
    fence::fence(w, agent, Some(epoch))?;
    let sql = "UPDATE approvals SET state = 'void', closed_at = ?3 WHERE agent = ?1 \
               AND epoch < ?2 AND (state = 'open' \
               OR (delivered = 0 AND state IN ('allowed', 'denied'))) RETURNING number";
    let mut numbers: Vec<i64> =
        sql::all(&w.connection, sql, params![agent.folded(), epoch.0, w.now.0], sql::column)?;
    numbers.sort_unstable();
    turn_orders::void_older(w, agent, epoch)?;
    Ok(numbers.into_iter().map(ApprovalNumber).collect())
}

/// Returns the calls that people have allowed the agent for a message and that a backend has heard of,
/// the newest first.
pub(crate) fn allowed_before(
    c: &Connection,
    agent: &AgentName,
    message: MessageId,
) -> Result<Vec<AllowedBefore>, Fault> {
    let sql = "SELECT epoch, turn_number, tool, args_hash, closed_at, coalesce(decided_as, decided_by, '') AS known_as, \
               coalesce(decided_by, '') AS decided_by FROM approvals \
               WHERE agent = ? AND message = ? AND state = 'allowed' AND delivered = 1 \
               AND closed_at IS NOT NULL ORDER BY number DESC LIMIT 100";
    let read = |row: &Row<'_>| {
        let by: String = row.get("decided_by")?;
        let before = AllowedBefore {
            turn: TurnId { epoch: Epoch(row.get("epoch")?), number: row.get("turn_number")? },
            tool: row.get("tool")?,
            args_hash: row.get("args_hash")?,
            at: rows::time(row, "closed_at")?,
            by: row.get("known_as")?,
        };
        Ok((!is_by_rules(&by)).then_some(before))
    };
    let found = sql::all(c, sql, params![agent.folded(), message.0], read)?;
    Ok(found.into_iter().flatten().collect())
}

/// Closes one that its runtime has taken back.
pub(crate) fn withdraw_one(
    w: &mut Writer,
    withdraw: &WithdrawApproval,
) -> Result<Option<ApprovalNumber>, Fault> {
    let WithdrawApproval { agent, turn, request, why, say } = withdraw;
    fence::fence(w, agent, Some(turn.epoch))?;
    let sql = "UPDATE approvals SET state = 'withdrawn', note = ?, closed_at = ? \
               WHERE agent = ? AND epoch = ? AND turn_number = ? AND request = ? \
               AND state = 'open' RETURNING number";
    let with =
        params![why.as_str(), w.now.0, agent.folded(), turn.epoch.0, turn.number, request.as_str()];
    let number: Option<i64> = sql::all(&w.connection, sql, with, sql::column)?.pop();
    if let (Some(number), Some(say)) = (number, say) {
        places::say_gone(w, ApprovalNumber(number), say)?;
    }
    Ok(number.map(ApprovalNumber))
}

/// Closes what is open of a turn that ends, and says so wherever it was announced. A decision that did not reach the runtime any more is
/// kept for the message's next attempt.
pub(super) fn withdraw(
    w: &mut Writer,
    agent: &AgentName,
    turn: TurnId,
    why: &str,
) -> Result<Vec<ApprovalNumber>, Fault> {
    let undelivered = "UPDATE approvals SET state = 'void' WHERE agent = ? AND epoch = ? \
                       AND turn_number = ? AND delivered = 0 AND state IN ('allowed', 'denied')";
    sql::run(&w.connection, undelivered, params![agent.folded(), turn.epoch.0, turn.number])?;
    let sql = "UPDATE approvals SET state = 'withdrawn', note = ?, closed_at = ? \
               WHERE agent = ? AND epoch = ? AND turn_number = ? AND state = 'open' \
               RETURNING number";
    let mut numbers: Vec<i64> = sql::all(
        &w.connection,
        sql,
        params![why, w.now.0, agent.folded(), turn.epoch.0, turn.number],
        sql::column,
    )?;
    numbers.sort_unstable();
    for number in &numbers {
        let Some(row) = one(&w.connection, ApprovalNumber(*number))? else { continue };
        let said = Redacted::from_store(view::closed(&number.to_string(), why));
        let key = format!("aw-{number}-{}", w.now.0);
        places::say_everywhere(w, &row, (&key, &said))?;
    }
    Ok(numbers.into_iter().map(ApprovalNumber).collect())
}
