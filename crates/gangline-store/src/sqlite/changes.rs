//! Statements of changes: asked for, decided, taken step by step.

use gangline_core::{
    AgentName, ApprovalNumber, MessageId, MessageState, Origin, Principal, Redacted, Tier,
    approval::{ApprovalState, Decision},
};
use rusqlite::{Connection, Row, params};

use super::{
    Writer,
    acts::{self, MadeByCall},
    fault::Fault,
    fence, messages, numbers, outbox,
    rows::{self, page},
    send, sql,
};
use crate::{
    error::DecideError,
    types::{
        ChangeRequested, ChangeRow, ChangeState, ChangeStep, ChangeTold, LineKind, NewAct,
        NewChange, NewMessage, Ruling, Send,
    },
};

/// Who tells the manager what became of its request.
const SYSTEM: &str = "system";

macro_rules! change_sql {
    ($rest:literal) => {
        concat!(
            "SELECT number, agent, turn_epoch, turn_number, kind, subject, commit_id, before_id, \
             epoch, entry, summary, detail, reason, message, reply_target, state, decision, \
             decided_by, decided_tier, decided_as, note, outcome, asked_at, decided_at, \
             applying_at FROM changes ",
            $rest
        )
    };
}

/// Asks for a change. `bring` makes what people are told, once its number is known.
pub(crate) fn request(
    w: &mut Writer,
    new: &NewChange,
    act: Option<&NewAct>,
    bring: impl FnOnce(ApprovalNumber) -> ChangeTold,
) -> Result<ChangeRequested, Fault> {
    fence::fence(w, &new.agent, Some(new.turn.epoch))?;
    let known = "SELECT number FROM changes WHERE agent = ? AND request = ?";
    let with = params![new.agent.folded(), &new.request];
    let known: Option<i64> = sql::first(&w.connection, known, with, sql::column)?;
    if let Some(known) = known {
        return Ok(ChangeRequested { number: ApprovalNumber(known), repeated: true });
    }
    let number = ApprovalNumber(numbers::next(w)?);
    let told = bring(number);
    let places: Vec<&str> = told.announce.iter().map(|send| send.target.as_str()).collect();
    let sql = "INSERT INTO changes (number, installation_id, agent, turn_epoch, turn_number, \
               request, kind, subject, commit_id, entry, summary, detail, reason, message, \
               reply_target, places, state, asked_at) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'requested', ?)";
    sql::run(
        &w.connection,
        sql,
        params![
            number.0,
            &w.installation_id,
            new.agent.folded(),
            new.turn.epoch.0,
            new.turn.number,
            &new.request,
            new.kind.as_str(),
            new.subject.folded(),
            &new.commit,
            &new.entry,
            new.summary.as_str(),
            new.detail.as_str(),
            new.reason.as_str(),
            new.message.map(|id| id.0),
            &new.reply_target,
            serde_json::to_string(&places).unwrap_or_default(),
            w.now.0
        ],
    )?;
    numbers::keep_in_step(w, number.0)?;
    if let Some(act) = act {
        acts::record(w, act, &MadeByCall::numbered(number.0))?;
    }
    for announce in &told.announce {
        send::put(w, announce, None)?;
    }
    Ok(ChangeRequested { number, repeated: false })
}

/// Decides a change that nobody has decided. A no is told to the manager at once; what comes of a
/// yes, at the end.
pub(crate) fn decide(
    w: &mut Writer,
    number: ApprovalNumber,
    ruling: &Ruling,
) -> Result<Result<ChangeRow, DecideError>, Fault> {
    let Some(row) = one(&w.connection, number)? else {
        return Ok(Err(DecideError::Unknown(number)));
    };
    if row.state != ChangeState::Requested {
        let state = match row.decision {
            Some(Decision::Allow) => ApprovalState::Allowed,
            Some(Decision::Deny) | None => ApprovalState::Denied,
        };
        return Ok(Err(DecideError::Closed { number, state }));
    }
    let state = match ruling.decision {
        Decision::Allow => ChangeState::Approved,
        Decision::Deny => ChangeState::Denied,
    };
    let sql = "UPDATE changes SET state = ?, decision = ?, decided_by = ?, decided_tier = ?, \
               decided_as = ?, note = ?, decided_at = ? WHERE number = ?";
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
        say_everywhere(w, &row, ("decided", say))?;
    }
    if state == ChangeState::Denied {
        let why = ruling.note.as_ref().map_or_else(String::new, |note| format!(": {note}"));
        let body =
            format!("[DENIED {number}] by {}{why}\nYou asked: {}", ruling.known_as, row.summary);
        let by = (ruling.by.clone(), ruling.known_as.as_str());
        tell(w, &row, by, Redacted::from_store(body))?;
    }
    Ok(one(&w.connection, number)?.ok_or(DecideError::Unknown(number)))
}

/// Takes a step, if the change stands where the step begins. Returns whether it did.
pub(crate) fn step(
    w: &mut Writer,
    number: ApprovalNumber,
    step: &ChangeStep,
) -> Result<bool, Fault> {
    let Some(row) = one(&w.connection, number)? else { return Ok(false) };
    if row.state != step.from {
        return Ok(false);
    }
    let applying = step.to == ChangeState::Applying && step.from != ChangeState::Applying;
    let sql = "UPDATE changes SET state = ?, commit_id = coalesce(?, commit_id), \
               before_id = coalesce(?, before_id), epoch = coalesce(?, epoch), \
               outcome = coalesce(?, outcome), applying_at = iif(?, ?, applying_at), \
               ended_at = iif(?, ?, ended_at) WHERE number = ?";
    let outcome = step.outcome.as_ref().map(Redacted::as_str);
    let with = params![
        step.to.as_str(),
        &step.commit,
        &step.before,
        step.epoch,
        outcome,
        applying,
        w.now.0,
        step.to.is_final(),
        w.now.0,
        number.0
    ];
    sql::run(&w.connection, sql, with)?;
    if let (true, Some(outcome)) = (step.to.is_final(), &step.outcome) {
        let by = row.decided_as.as_deref().unwrap_or("an owner");
        let body = format!(
            "[{} {number}] {outcome}\nYou asked: {}. It was allowed by {by}",
            step.to.as_str().to_uppercase(),
            row.summary
        );
        let system = Principal { account: SYSTEM.to_owned(), tier: Tier::Agent };
        tell(w, &row, (system, SYSTEM), Redacted::from_store(body))?;
        let said = Redacted::from_store(format!("approval {number}: {outcome}"));
        say_everywhere(w, &row, ("ended", &said))?;
    }
    Ok(true)
}

/// Brings the manager a message.
fn tell(
    w: &mut Writer,
    row: &ChangeRow,
    (by, sender): (Principal, &str),
    body: Redacted,
) -> Result<(), Fault> {
    let message = NewMessage {
        agent: row.agent.clone(),
        network_id: "local".to_owned(),
        intake_key: Some(format!("change/{}", row.number)),
        origin: Origin::System,
        principal: by,
        sender: sender.to_owned(),
        target: row.reply_target.clone(),
        body,
        in_reply_to: None,
        cause_root: row.message,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    };
    messages::put(w, &message, None)?;
    Ok(())
}

/// Says a line wherever the request was announced.
fn say_everywhere(
    w: &mut Writer,
    row: &ChangeRow,
    (what, text): (&str, &Redacted),
) -> Result<(), Fault> {
    let sql = "SELECT places FROM changes WHERE number = ?";
    let places: String = sql::one(&w.connection, sql, params![row.number.0], sql::column)?;
    let places: Vec<String> = serde_json::from_str(&places).unwrap_or_default();
    for (at, target) in places.into_iter().enumerate() {
        let send = Send {
            agent: row.agent.clone(),
            turn: None,
            idem_key: format!("ch-{}-{what}-{at}", row.number).into(),
            target,
            lines: vec![text.clone().into()],
            // A notice wakes no agent.
            kind: LineKind::Notice,
            in_reply_to: None,
            deliver: None,
        };
        outbox::put(w, &send, None)?;
    }
    Ok(())
}

pub(crate) fn one(c: &Connection, number: ApprovalNumber) -> Result<Option<ChangeRow>, Fault> {
    Ok(sql::first(c, change_sql!("WHERE number = ?"), params![number.0], row)?)
}

/// Returns changes, oldest first: all, or those that somebody has to decide.
pub(crate) fn list(
    c: &Connection,
    agent: Option<&AgentName>,
    open_only: bool,
) -> Result<Vec<ChangeRow>, Fault> {
    let sql = change_sql!(
        "WHERE (?1 IS NULL OR agent = ?1) AND (state = 'requested' OR NOT ?2) \
         ORDER BY number DESC LIMIT ?3"
    );
    let with = params![agent.map(AgentName::folded), open_only, page(0)];
    let mut found = sql::all(c, sql, with, row)?;
    found.reverse();
    Ok(found)
}

/// Returns those that the hub has to do something for, oldest first.
pub(crate) fn under_way(c: &Connection) -> Result<Vec<ChangeRow>, Fault> {
    let sql = change_sql!(
        "INDEXED BY changes_under_way \
         WHERE state IN ('approved', 'applying', 'rolling_back') ORDER BY number"
    );
    Ok(sql::all(c, sql, [], row)?)
}

fn row(row: &Row<'_>) -> rusqlite::Result<ChangeRow> {
    let text = |column: &'static str| -> rusqlite::Result<Redacted> {
        Ok(Redacted::from_store(row.get(column)?))
    };
    let maybe = |column: &'static str| -> rusqlite::Result<Option<Redacted>> {
        Ok(row.get::<_, Option<String>>(column)?.map(Redacted::from_store))
    };
    let by: Option<String> = row.get("decided_by")?;
    let tier: Option<String> = row.get("decided_tier")?;
    let tier = tier.and_then(|tier| tier.parse().ok()).unwrap_or(Tier::Stranger);
    let decision: Option<String> = row.get("decision")?;
    let message: Option<i64> = row.get("message")?;
    Ok(ChangeRow {
        number: ApprovalNumber(row.get("number")?),
        agent: rows::parsed(row, "agent")?,
        turn: gangline_core::TurnId {
            epoch: gangline_core::Epoch(row.get("turn_epoch")?),
            number: row.get("turn_number")?,
        },
        kind: rows::parsed(row, "kind")?,
        subject: rows::parsed(row, "subject")?,
        commit: row.get("commit_id")?,
        before: row.get("before_id")?,
        epoch: row.get("epoch")?,
        entry: row.get("entry")?,
        summary: text("summary")?,
        detail: text("detail")?,
        reason: text("reason")?,
        message: message.map(MessageId),
        reply_target: row.get("reply_target")?,
        state: rows::parsed(row, "state")?,
        decision: decision.and_then(|word| word.parse().ok()),
        decided_by: by.map(|account| Principal { account, tier }),
        decided_as: row.get("decided_as")?,
        note: maybe("note")?,
        outcome: maybe("outcome")?,
        asked_at: rows::time(row, "asked_at")?,
        decided_at: rows::maybe_time(row, "decided_at")?,
        applying_at: rows::maybe_time(row, "applying_at")?,
    })
}
