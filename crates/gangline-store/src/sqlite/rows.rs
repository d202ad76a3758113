//! Rows of the engine into the public types, and the columns that each reads.

use std::{error::Error, str::FromStr};

use gangline_core::{
    AgentName, ApprovalNumber, Epoch, MessageId, Principal, QuestionNumber, Tier, TurnId,
    approval::view::Extent, outcome::OutcomeRecord, redact::Redacted, split::Joint,
};
use gangline_os::clock::UnixMicros;
use rusqlite::{
    Row,
    types::{FromSql, Type},
};

use crate::{
    PAGE_MAX,
    types::{ApprovalPlace, ApprovalRow, Event, MessageRow, OutboxId, OutboxRow, TurnRow},
};

type Result<T> = rusqlite::Result<T>;

macro_rules! message_sql {
    ($rest:literal) => {
        concat!(
            "SELECT m.id, m.agent, m.network_id, m.intake_key, m.origin, m.principal, m.tier, \
             m.sender, m.target, m.body, m.in_reply_to, m.cause_root, m.hops, m.state, m.reason, \
             m.answer, m.attempt, m.takes, m.turn_epoch, m.turn_number, m.not_before, m.msgid, \
             m.question, m.restart, m.accepted_at, m.taken_at, m.settled_at ",
            $rest
        )
    };
}
macro_rules! outbox_sql {
    ($rest:literal) => {
        concat!(
            "SELECT id, agent, idem_key, part, parts, target, body, kind, state, turn_epoch, \
             turn_number, in_reply_to, tell, cause_root, hops, attempts, why, msgid, \
             may_be_doubled, question, created_at, sent_at, settled_at, sent_as, goes_on \
             FROM outbox ",
            $rest
        )
    };
}
macro_rules! event_sql {
    ($rest:literal) => {
        concat!(
            "SELECT seq, v, agent, epoch, turn_epoch, turn_number, kind, at, payload \
             FROM events WHERE seq > ?1 AND seq < ?6 ",
            $rest,
            " LIMIT ?5"
        )
    };
}
macro_rules! approval_sql {
    ($rest:literal) => {
        concat!(
            "SELECT number, agent, epoch, turn_number, message, request, tool, args_hash, \
             summary, detail, state, decision, decided_by, decided_tier, note, delivered, \
             announced_at, announced_msgid, opened_at, closed_at, folder, said_before, \
             decided_as, audience FROM approvals ",
            $rest
        )
    };
}
macro_rules! turn_sql {
    ($rest:literal) => {
        concat!(
            "SELECT t.agent, t.epoch, t.number, t.prompt_uuid, t.started_at, t.ended_at, \
             t.outcome FROM turns t ",
            $rest
        )
    };
}
pub(super) use {approval_sql, event_sql, message_sql, outbox_sql, turn_sql};

/// Returns a page's size: what was asked, at most the limit, which 0 stands for too.
pub(super) fn page(limit: u32) -> i64 {
    i64::from(if limit == 0 { PAGE_MAX } else { limit.min(PAGE_MAX) })
}

fn get<T: FromSql>(row: &Row<'_>, column: &'static str) -> Result<T> {
    row.get(column)
}

/// Says what is wrong with a column's text.
fn bad(column: &'static str, source: Box<dyn Error + Send + Sync>) -> rusqlite::Error {
    let source = format!("the column {column}: {source}").into();
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, source)
}

fn with_text<T>(
    row: &Row<'_>,
    column: &'static str,
    read: impl FnOnce(&str) -> std::result::Result<T, Box<dyn Error + Send + Sync>>,
) -> Result<T> {
    let text = row.get_ref(column)?.as_str().map_err(|error| bad(column, error.into()))?;
    read(text).map_err(|error| bad(column, error))
}

/// Reads a word or a name.
pub(super) fn parsed<T>(row: &Row<'_>, column: &'static str) -> Result<T>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    with_text(row, column, |text| text.parse().map_err(|error: T::Err| error.into()))
}

fn text(row: &Row<'_>, column: &'static str) -> Result<Redacted> {
    get::<String>(row, column).map(Redacted::from_store)
}

fn maybe_text(row: &Row<'_>, column: &'static str) -> Result<Option<Redacted>> {
    Ok(get::<Option<String>>(row, column)?.map(Redacted::from_store))
}

pub(super) fn time(row: &Row<'_>, column: &'static str) -> Result<UnixMicros> {
    get(row, column).map(UnixMicros)
}

pub(super) fn maybe_time(row: &Row<'_>, column: &'static str) -> Result<Option<UnixMicros>> {
    Ok(get::<Option<i64>>(row, column)?.map(UnixMicros))
}

fn maybe_message(row: &Row<'_>, column: &'static str) -> Result<Option<MessageId>> {
    Ok(get::<Option<i64>>(row, column)?.map(MessageId))
}

pub(super) fn maybe_turn(row: &Row<'_>) -> Result<Option<TurnId>> {
    let epoch: Option<i64> = get(row, "turn_epoch")?;
    let number: Option<i64> = get(row, "turn_number")?;
    Ok(epoch.zip(number).map(|(epoch, number)| TurnId { epoch: Epoch(epoch), number }))
}

pub(super) fn message(row: &Row<'_>) -> Result<MessageRow> {
    Ok(MessageRow {
        id: MessageId(get(row, "id")?),
        agent: parsed::<AgentName>(row, "agent")?,
        network_id: get(row, "network_id")?,
        intake_key: get(row, "intake_key")?,
        origin: parsed(row, "origin")?,
        principal: Principal { account: get(row, "principal")?, tier: parsed(row, "tier")? },
        sender: get(row, "sender")?,
        target: get(row, "target")?,
        body: text(row, "body")?,
        in_reply_to: maybe_message(row, "in_reply_to")?,
        cause_root: maybe_message(row, "cause_root")?,
        hops: get(row, "hops")?,
        state: parsed(row, "state")?,
        reason: get(row, "reason")?,
        answer: maybe_text(row, "answer")?,
        attempt: get(row, "attempt")?,
        takes: get(row, "takes")?,
        turn: maybe_turn(row)?,
        not_before: maybe_time(row, "not_before")?,
        msgid: get(row, "msgid")?,
        question: get::<Option<i64>>(row, "question")?.map(QuestionNumber),
        restart: get::<Option<i64>>(row, "restart")?.map(Epoch),
        accepted_at: time(row, "accepted_at")?,
        taken_at: maybe_time(row, "taken_at")?,
        settled_at: maybe_time(row, "settled_at")?,
    })
}

/// Returns the word for how a line follows the one before it; none for a line that begins anew.
pub(super) fn goes_on(joint: Joint) -> Option<&'static str> {
    match joint {
        Joint::Anew => None,
        Joint::Word => Some("word"),
        Joint::Space => Some("space"),
    }
}

fn joint(row: &Row<'_>) -> Result<Joint> {
    let joint: Option<String> = get(row, "goes_on")?;
    Ok(match joint.as_deref() {
        Some("word") => Joint::Word,
        Some("space") => Joint::Space,
        Some(_) | None => Joint::Anew,
    })
}

pub(super) fn outbox(row: &Row<'_>) -> Result<OutboxRow> {
    Ok(OutboxRow {
        id: OutboxId(get(row, "id")?),
        agent: parsed(row, "agent")?,
        idem_key: get::<String>(row, "idem_key")?.into(),
        part: get(row, "part")?,
        parts: get(row, "parts")?,
        target: get(row, "target")?,
        body: text(row, "body")?,
        joint: joint(row)?,
        kind: parsed(row, "kind")?,
        state: parsed(row, "state")?,
        sent_as: get::<Option<String>>(row, "sent_as")?.and_then(|word| word.parse().ok()),
        turn: maybe_turn(row)?,
        in_reply_to: maybe_message(row, "in_reply_to")?,
        attempts: get(row, "attempts")?,
        tell: get(row, "tell")?,
        why: get(row, "why")?,
        msgid: get(row, "msgid")?,
        may_be_doubled: get(row, "may_be_doubled")?,
        question: get(row, "question")?,
        cause_root: maybe_message(row, "cause_root")?,
        hops: get(row, "hops")?,
        created_at: time(row, "created_at")?,
        sent_at: maybe_time(row, "sent_at")?,
        settled_at: maybe_time(row, "settled_at")?,
    })
}

pub(super) fn event(row: &Row<'_>) -> Result<Event> {
    Ok(Event {
        v: get(row, "v")?,
        seq: get(row, "seq")?,
        agent: parsed(row, "agent")?,
        epoch: get::<Option<i64>>(row, "epoch")?.map(Epoch),
        turn: maybe_turn(row)?,
        kind: get(row, "kind")?,
        at: time(row, "at")?,
        payload: text(row, "payload")?,
    })
}

pub(super) fn approval(row: &Row<'_>) -> Result<ApprovalRow> {
    let decision: Option<String> = get(row, "decision")?;
    let by: Option<String> = get(row, "decided_by")?;
    let decided_by = match by {
        Some(account) => Some(Principal { account, tier: parsed::<Tier>(row, "decided_tier")? }),
        None => None,
    };
    Ok(ApprovalRow {
        number: ApprovalNumber(get(row, "number")?),
        agent: parsed(row, "agent")?,
        turn: TurnId { epoch: Epoch(get(row, "epoch")?), number: get(row, "turn_number")? },
        message: maybe_message(row, "message")?,
        request: get(row, "request")?,
        tool: get(row, "tool")?,
        args_hash: get(row, "args_hash")?,
        summary: text(row, "summary")?,
        detail: text(row, "detail")?,
        audience: parsed(row, "audience")?,
        state: parsed(row, "state")?,
        decision: decision.as_deref().and_then(|word| word.parse().ok()),
        decided_by,
        note: maybe_text(row, "note")?,
        decided_as: get(row, "decided_as")?,
        folder: maybe_text(row, "folder")?,
        said_before: maybe_text(row, "said_before")?,
        delivered: get(row, "delivered")?,
        announced_at: get(row, "announced_at")?,
        announced_msgid: get(row, "announced_msgid")?,
        opened_at: time(row, "opened_at")?,
        closed_at: maybe_time(row, "closed_at")?,
        before: None,
    })
}

pub(super) fn approval_place(row: &Row<'_>) -> Result<ApprovalPlace> {
    Ok(ApprovalPlace {
        place: get(row, "place")?,
        target: get(row, "target")?,
        extent: if get(row, "whole")? { Extent::Whole } else { Extent::Cut },
        told_at: get(row, "told_at")?,
        heard_at: maybe_time(row, "heard_at")?,
    })
}

pub(super) fn turn(row: &Row<'_>) -> Result<TurnRow> {
    Ok(TurnRow {
        agent: parsed(row, "agent")?,
        turn: TurnId { epoch: Epoch(get(row, "epoch")?), number: get(row, "number")? },
        prompt_uuid: get(row, "prompt_uuid")?,
        started_at: time(row, "started_at")?,
        ended_at: maybe_time(row, "ended_at")?,
        outcome: get::<Option<String>>(row, "outcome")?.map(OutcomeRecord::from),
    })
}
