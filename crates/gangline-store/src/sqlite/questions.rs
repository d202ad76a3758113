//! Statements of questions: asked, answered, counted, expired, withdrawn.

use gangline_core::{
    AgentName, Epoch, MessageId, MessageState, Origin, Principal, QuestionNumber, Redacted, Tier,
    pause::PauseReason,
    question::{
        self, CANCELLED, Choose, DENIED, EXPIRED, OnTimeout, QuestionState, Standing, TTL_WATCHDOG,
        Tally, Vote, tally, text,
    },
};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, Row, params};
use serde_json::{Value, json};

use super::{
    Writer,
    acts::{self, MadeByCall},
    alerts, events,
    fault::Fault,
    fence, messages, numbers, pauses, question_places,
    rows::{self, page},
    sql, turn_orders,
};
use crate::{
    error::{AnswerError, StoreError},
    types::{
        AskedBy, Got, NewAct, NewAnswer, NewEvent, NewMessage, NewPause, NewQuestion,
        QuestionAsked, QuestionClosed, QuestionFilter, QuestionRow, Waited,
    },
};

macro_rules! question_sql {
    ($rest:literal) => {
        concat!(
            "SELECT q.id, q.agent, q.turn_epoch, q.turn_number, q.in_reply_to, q.target, q.body, \
             q.state, q.answer, q.answered_by, q.asked_at, q.expires_at, q.answered_at, q.options, \
             q.several, q.rule, q.on_timeout, q.reply_target, q.waits FROM questions q ",
            $rest
        )
    };
}

/// Asks a question. `bring` makes what it has to bring about, once its number is known.
pub(crate) fn ask(
    w: &mut Writer,
    new: &NewQuestion,
    act: Option<&NewAct>,
    bring: impl FnOnce(QuestionNumber) -> AskedBy,
) -> Result<QuestionAsked, Fault> {
    fence::fence(w, &new.agent, new.turn.map(|turn| turn.epoch))?;
    let known = "SELECT id FROM questions WHERE agent = ? AND request = ?";
    let with = params![new.agent.folded(), &new.request];
    let known: Option<i64> = sql::first(&w.connection, known, with, sql::column)?;
    if let Some(known) = known {
        let number = QuestionNumber(known);
        let sql = "UPDATE questions SET waits = ? WHERE id = ? AND state = 'open'";
        if let Some(epoch) = new.waits {
            sql::run(&w.connection, sql, params![epoch.0, known])?;
        }
        return Ok(QuestionAsked { number, repeated: true, notify: Vec::new() });
    }
    let open = "SELECT count(*) FROM questions WHERE agent = ? AND state = 'open'";
    let open: i64 = sql::one(&w.connection, open, params![new.agent.folded()], sql::column)?;
    if usize::try_from(open).is_ok_and(|open| open >= question::OPEN_MAX) {
        return Err(StoreError::Invalid("too many questions of this agent are open").into());
    }
    let number = QuestionNumber(numbers::next(w)?);
    insert(w, new, number)?;
    numbers::keep_in_step(w, number.0)?;
    if let Some(act) = act {
        acts::record(w, act, &MadeByCall::numbered(number.0))?;
    }
    let AskedBy { deliver, announce, alert } = bring(number);
    if let Some(alert) = alert {
        alerts::put(w, &alert)?;
    }
    let mut notify = Vec::new();
    for message in deliver {
        let id = messages::put(w, &message, None)?.id;
        mark(w, id, number)?;
        events::put(w, &[asked_event(new, number, &message.agent)])?;
        notify.push(message.agent);
    }
    for placed in announce {
        question_places::put(w, number, &placed)?;
    }
    Ok(QuestionAsked { number, repeated: false, notify })
}

fn insert(w: &mut Writer, new: &NewQuestion, number: QuestionNumber) -> Result<(), Fault> {
    let options: Vec<&str> = new.options.iter().map(Redacted::as_str).collect();
    let (root, hops) = cause(w, new)?;
    let sql = "INSERT INTO questions (id, installation_id, agent, epoch, turn_epoch, turn_number, \
               in_reply_to, cause_root, hops, target, body, state, asked_at, expires_at, options, \
               several, rule, on_timeout, request, reply_target, waits) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    sql::run(
        &w.connection,
        sql,
        params![
            number.0,
            &w.installation_id,
            new.agent.folded(),
            new.turn.map(|turn| turn.epoch.0),
            new.turn.map(|turn| turn.epoch.0),
            new.turn.map(|turn| turn.number),
            new.in_reply_to.map(|id| id.0),
            root,
            hops,
            new.asked.to_string(),
            new.body.as_str(),
            w.now.0,
            new.expires_at.map(|at| at.0),
            // Strings always become JSON.
            serde_json::to_string(&options).unwrap_or_default(),
            new.choose == Choose::Several,
            new.rule.as_str(),
            new.on_timeout.as_str(),
            &new.request,
            &new.reply_target,
            new.waits.map(|epoch| epoch.0)
        ],
    )?;
    Ok(())
}

/// Returns the root cause and the hops of the turn that asks.
fn cause(w: &mut Writer, new: &NewQuestion) -> Result<(Option<i64>, i64), Fault> {
    let Some(turn) = new.turn else { return Ok((None, 0)) };
    let sql = "SELECT coalesce(m.cause, m.cause_root, m.id), m.hops \
               FROM turn_messages t JOIN messages m ON m.id = t.message \
               WHERE t.agent = ? AND (t.epoch, t.number) <= (?, ?) \
               ORDER BY t.epoch DESC, t.number DESC, m.hops DESC, m.id LIMIT 1";
    let with = params![new.agent.folded(), turn.epoch.0, turn.number];
    let found = sql::first(&w.connection, sql, with, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.unwrap_or((None, 0)))
}

/// Says which question a message asks or brings the answer to.
fn mark(w: &mut Writer, message: MessageId, number: QuestionNumber) -> Result<(), Fault> {
    let sql = "UPDATE messages SET question = ? WHERE id = ?";
    sql::run(&w.connection, sql, params![number.0, message.0])?;
    Ok(())
}

pub(crate) fn answer(
    w: &mut Writer,
    number: QuestionNumber,
    answer: &NewAnswer,
) -> Result<Result<QuestionClosed, AnswerError>, Fault> {
    let row = match open_row(w, number)? {
        Ok(row) => row,
        Err(error) => return Ok(Err(error)),
    };
    let (by, known_as) = (&answer.by, answer.known_as.as_str());
    match answer.standing {
        Standing::Decides => {
            let closing = Closing { state: QuestionState::Answered, by, known_as };
            close(w, row, &closing, answer.text.clone()).map(Ok)
        }
        Standing::Counts | Standing::Advises => {
            vote(w, &row, answer)?;
            let votes = votes(&w.connection, number)?;
            match tally(row.rule, row.asked.agents(), &votes) {
                Tally::Open => Ok(Ok(QuestionClosed { row, message: None })),
                Tally::Decided(text) => {
                    let known_as = row.rule.as_str();
                    let closing = Closing { state: QuestionState::Answered, by, known_as };
                    close(w, row, &closing, Redacted::from_store(text)).map(Ok)
                }
            }
        }
    }
}

/// Withdraws a question; `text` is what its asker is told.
pub(crate) fn cancel(
    w: &mut Writer,
    number: QuestionNumber,
    by: &Principal,
) -> Result<Result<QuestionClosed, AnswerError>, Fault> {
    let row = match open_row(w, number)? {
        Ok(row) => row,
        Err(error) => return Ok(Err(error)),
    };
    let text = match by.tier {
        Tier::Agent => text::cancelled_by(&by.account),
        Tier::Owner | Tier::Member | Tier::Stranger => CANCELLED.to_owned(),
    };
    let known_as = by.account.as_str();
    let closing = Closing { state: QuestionState::Cancelled, by, known_as };
    close(w, row, &closing, Redacted::from_store(text)).map(Ok)
}

/// Closes the questions of an agent whose time is over at `now`.
pub(crate) fn expire(
    w: &mut Writer,
    agent: &AgentName,
    now: UnixMicros,
) -> Result<Vec<QuestionClosed>, Fault> {
    fence::fence(w, agent, None)?;
    let sql = question_sql!(
        "WHERE q.agent = ? AND q.state = 'open' AND q.expires_at <= ? ORDER BY q.expires_at LIMIT 100"
    );
    let due = sql::all(&w.connection, sql, params![agent.folded(), now.0], row)?;
    let watchdog = Principal { account: TTL_WATCHDOG.to_owned(), tier: Tier::Owner };
    let mut closed = Vec::new();
    for row in due {
        let text = match row.on_timeout {
            OnTimeout::Deny => DENIED,
            OnTimeout::None | OnTimeout::Pause | OnTimeout::Abort => EXPIRED,
        };
        // With the expiry: a death in between must not leave the agent running.
        if row.on_timeout == OnTimeout::Pause {
            let pause = NewPause::new(agent.clone(), PauseReason::Question, None);
            pauses::begin(w, &pause)?;
        }
        if let (OnTimeout::Abort, Some(turn)) = (row.on_timeout, row.turn) {
            turn_orders::end_one(w, agent, (turn, TTL_WATCHDOG))?;
        }
        let (state, known_as) = (QuestionState::Expired, TTL_WATCHDOG);
        let closing = Closing { state, by: &watchdog, known_as };
        closed.push(close(w, row, &closing, Redacted::from_store(text.to_owned()))?);
    }
    Ok(closed)
}

fn open_row(
    w: &mut Writer,
    number: QuestionNumber,
) -> Result<Result<QuestionRow, AnswerError>, Fault> {
    Ok(match one(&w.connection, number)? {
        None => Err(AnswerError::Unknown(number)),
        Some(row) if row.state == QuestionState::Open => Ok(row),
        Some(row) => Err(AnswerError::Closed(Box::new(row))),
    })
}

/// How a question is closed.
struct Closing<'a> {
    state: QuestionState,
    by: &'a Principal,
    known_as: &'a str,
}

/// Closes a question: the asker gets a message, and those who have not read theirs get none.
fn close(
    w: &mut Writer,
    mut row: QuestionRow,
    closing: &Closing<'_>,
    answer: Redacted,
) -> Result<QuestionClosed, Fault> {
    let sql = "UPDATE questions SET state = ?, answer = ?, answered_by = ?, answered_tier = ?, \
               answered_at = ? WHERE id = ?";
    sql::run(
        &w.connection,
        sql,
        params![
            closing.state.as_str(),
            answer.as_str(),
            closing.known_as,
            closing.by.tier.as_str(),
            w.now.0,
            row.number.0
        ],
    )?;
    let sql = "UPDATE messages SET state = 'cancelled', reason = ?, settled_at = ? \
               WHERE question = ? AND agent != ? AND state IN ('accepted', 'held')";
    let why = format!("question {} is closed", row.number);
    sql::run(&w.connection, sql, params![why, w.now.0, row.number.0, row.agent.folded()])?;
    row.state = closing.state;
    row.answer = Some(answer.clone());
    row.answered_by = Some(closing.known_as.to_owned());
    row.answered_at = Some(w.now);
    let said = match row.state {
        QuestionState::Expired => text::expired(row.number, row.on_timeout),
        QuestionState::Open | QuestionState::Answered | QuestionState::Cancelled => {
            text::closed(row.number, row.state, answer.as_str(), closing.known_as)
        }
    };
    question_places::say_everywhere(w, &row, &Redacted::from_store(said))?;
    events::put(w, &[answered_event(&row)])?;
    // Who withdraws its own question knows it.
    let own = closing.by.tier == Tier::Agent && closing.by.account == row.agent.as_str();
    let withdrawn = own && closing.state == QuestionState::Cancelled;
    // A call that is held open gets it.
    if withdrawn || row.waits.is_some() {
        return Ok(QuestionClosed { row, message: None });
    }
    let told = tell_asker(w, &row, closing, &answer)?;
    Ok(QuestionClosed { row, message: Some(told) })
}

/// No call is held open any more for the questions of an agent: for the one of this request, or for
/// those of older daemons. Who did not get the answer gets it as a message.
pub(crate) fn stop_waiting(
    w: &mut Writer,
    agent: &AgentName,
    which: &Waited,
) -> Result<Vec<MessageId>, Fault> {
    fence::fence(w, agent, None)?;
    let (rows, taken) = match which {
        Waited::Request { request, got } => {
            let sql = question_sql!("WHERE q.agent = ? AND q.request = ? AND q.waits IS NOT NULL");
            let rows = sql::all(&w.connection, sql, params![agent.folded(), request], row)?;
            (rows, *got == Got::Answer)
        }
        Waited::Before(epoch) => {
            let sql = question_sql!("WHERE q.agent = ? AND q.waits < ?");
            (sql::all(&w.connection, sql, params![agent.folded(), epoch.0], row)?, false)
        }
    };
    let mut told = Vec::new();
    for row in rows {
        let sql = "UPDATE questions SET waits = NULL WHERE id = ? RETURNING answered_tier";
        let tier: Option<String> =
            sql::one(&w.connection, sql, params![row.number.0], sql::column)?;
        let (Some(answer), false) = (row.answer.clone(), taken) else { continue };
        let known_as = row.answered_by.clone().unwrap_or_default();
        let tier = tier.and_then(|tier| tier.parse().ok()).unwrap_or(Tier::Owner);
        let by = Principal { account: known_as.clone(), tier };
        let closing = Closing { state: row.state, by: &by, known_as: &known_as };
        told.push(tell_asker(w, &row, &closing, &answer)?);
    }
    Ok(told)
}

/// What `question_asked` tells in the record of an agent that is asked (R2-22).
fn asked_event(new: &NewQuestion, number: QuestionNumber, agent: &AgentName) -> NewEvent {
    let payload = json!({
        "event": "QuestionAsked",
        "id": number,
        "asker": new.agent,
        "question": new.body.as_str(),
        "options": new.options.iter().map(Redacted::as_str).collect::<Vec<_>>(),
        "multi": new.choose == Choose::Several,
    });
    recorded(agent, "question_asked", &payload)
}

/// What `question_answered` tells in the asker's record (R2-22).
fn answered_event(row: &QuestionRow) -> NewEvent {
    let payload = json!({
        "event": "QuestionAnswered",
        "id": row.number,
        "question": row.body.as_str(),
        "answer": row.answer.as_ref().map_or("", Redacted::as_str),
        "answerer": row.answered_by.as_deref().unwrap_or_default(),
    });
    recorded(&row.agent, "question_answered", &payload)
}

fn recorded(agent: &AgentName, kind: &str, payload: &Value) -> NewEvent {
    NewEvent {
        agent: agent.clone(),
        epoch: None,
        turn: None,
        kind: kind.to_owned(),
        // Each of its texts is redacted.
        payload: Redacted::from_store(payload.to_string()),
    }
}

fn tell_asker(
    w: &mut Writer,
    row: &QuestionRow,
    closing: &Closing<'_>,
    answer: &Redacted,
) -> Result<MessageId, Fault> {
    let sql = "SELECT cause_root, hops FROM questions WHERE id = ?";
    let read = |row: &Row<'_>| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, i64>(1)?));
    let (root, hops) = sql::one(&w.connection, sql, params![row.number.0], read)?;
    let body = text::answered(row.number, row.body.as_str(), answer.as_str(), closing.known_as);
    let message = NewMessage {
        agent: row.agent.clone(),
        network_id: "local".to_owned(),
        intake_key: Some(format!("question/{}", row.number)),
        origin: Origin::Answer,
        principal: closing.by.clone(),
        sender: closing.known_as.to_owned(),
        target: row.reply_target.clone(),
        body: Redacted::from_store(body),
        in_reply_to: None,
        cause_root: root.map(MessageId),
        hops,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    };
    let id = messages::put(w, &message, None)?.id;
    mark(w, id, row.number)?;
    Ok(id)
}

fn vote(w: &mut Writer, row: &QuestionRow, answer: &NewAnswer) -> Result<(), Fault> {
    let sql = "INSERT INTO question_votes (question, agent, installation_id, answer, at) \
               VALUES (?, ?, ?, ?, ?) ON CONFLICT (question, agent) \
               DO UPDATE SET answer = excluded.answer, at = excluded.at";
    let (number, agent) = (row.number.0, &answer.by.account);
    let with = params![number, agent, &w.installation_id, answer.text.as_str(), w.now.0];
    sql::run(&w.connection, sql, with)?;
    Ok(())
}

pub(crate) fn votes(c: &Connection, number: QuestionNumber) -> Result<Vec<Vote>, Fault> {
    let sql = "SELECT agent, answer FROM question_votes WHERE question = ? ORDER BY at, agent";
    let read = |row: &Row<'_>| Ok(Vote { by: rows::parsed(row, "agent")?, answer: row.get(1)? });
    Ok(sql::all(c, sql, params![number.0], read)?)
}

pub(crate) fn one(c: &Connection, number: QuestionNumber) -> Result<Option<QuestionRow>, Fault> {
    let sql = question_sql!("WHERE q.id = ?");
    Ok(sql::first(c, sql, params![number.0], row)?)
}

/// Returns the question that a message asks or brings the answer to.
pub(crate) fn of_message(c: &Connection, id: MessageId) -> Result<Option<QuestionRow>, Fault> {
    let sql = question_sql!("JOIN messages m ON m.question = q.id WHERE m.id = ?");
    Ok(sql::first(c, sql, params![id.0], row)?)
}

/// Returns whether an agent, given this message, has asked `asker` something whose answer it has not read.
pub(super) fn has_asked_back(
    c: &Connection,
    agent: &AgentName,
    (message, asker): (MessageId, &AgentName),
) -> Result<bool, Fault> {
    let sql = question_sql!(
        "JOIN turn_messages t ON t.agent = q.agent AND t.epoch = q.turn_epoch \
         AND t.number = q.turn_number WHERE t.message = ?1 AND q.agent = ?2 \
         AND (q.state = 'open' OR EXISTS (SELECT 1 FROM messages m WHERE m.question = q.id \
             AND m.agent = ?2 AND m.state IN ('accepted', 'held')))"
    );
    let rows = sql::all(c, sql, params![message.0, agent.folded()], row)?;
    Ok(rows.iter().any(|row| row.asked.agents().contains(asker)))
}

pub(crate) fn list(
    c: &Connection,
    filter: &QuestionFilter,
    limit: u32,
) -> Result<Vec<QuestionRow>, Fault> {
    let sql = question_sql!(
        "WHERE (?1 IS NULL OR q.agent = ?1) AND (?2 IS NULL OR instr(q.target || ',', ?2) > 0) \
         AND (?3 OR q.state = 'open') AND q.id < ?4 ORDER BY q.id DESC LIMIT ?5"
    );
    let with = params![
        filter.asker.as_ref().map(AgentName::folded),
        filter.asked.as_ref().map(|agent| format!("{},", agent.folded())),
        filter.closed,
        filter.before.map_or(i64::MAX, |number| number.0),
        page(limit)
    ];
    let rows = sql::all(c, sql, with, row)?;
    // Where one name ends like another.
    let is_asked = |row: &QuestionRow| {
        filter.asked.as_ref().is_none_or(|agent| row.asked.agents().contains(agent))
    };
    Ok(rows.into_iter().filter(is_asked).collect())
}

/// Returns when the first open question of an agent expires.
pub(crate) fn next_expiry(c: &Connection, agent: &AgentName) -> Result<Option<UnixMicros>, Fault> {
    let sql = "SELECT min(expires_at) FROM questions INDEXED BY questions_due \
               WHERE agent = ? AND state = 'open' AND expires_at IS NOT NULL";
    let due: Option<i64> = sql::one(c, sql, params![agent.folded()], sql::column)?;
    Ok(due.map(UnixMicros))
}

fn row(row: &Row<'_>) -> rusqlite::Result<QuestionRow> {
    let options: String = row.get("options")?;
    let in_reply_to: Option<i64> = row.get("in_reply_to")?;
    let text = |column: &'static str| -> rusqlite::Result<Option<Redacted>> {
        Ok(row.get::<_, Option<String>>(column)?.map(Redacted::from_store))
    };
    Ok(QuestionRow {
        number: QuestionNumber(row.get("id")?),
        agent: rows::parsed(row, "agent")?,
        turn: rows::maybe_turn(row)?,
        asked: rows::parsed(row, "target")?,
        rule: rows::parsed(row, "rule")?,
        body: text("body")?.unwrap_or_default(),
        options: serde_json::from_str(&options).unwrap_or_default(),
        choose: if row.get("several")? { Choose::Several } else { Choose::One },
        on_timeout: rows::parsed(row, "on_timeout")?,
        state: rows::parsed(row, "state")?,
        answer: text("answer")?,
        answered_by: row.get("answered_by")?,
        in_reply_to: in_reply_to.map(MessageId),
        reply_target: row.get("reply_target")?,
        waits: row.get::<_, Option<i64>>("waits")?.map(Epoch),
        asked_at: rows::time(row, "asked_at")?,
        expires_at: rows::maybe_time(row, "expires_at")?,
        answered_at: rows::maybe_time(row, "answered_at")?,
    })
}
