//! Statements of letters: sent, read, answered, put away.

use gangline_core::{AgentName, MessageId, Redacted};
use rusqlite::{Connection, Row, params};

use super::{
    Writer,
    acts::{self, MadeByCall},
    fault::Fault,
    fence, messages,
    rows::{self, page},
    sql,
};
use crate::{
    error::LetterError,
    types::{LetterFilter, LetterRow, LetterState, NewAct, NewLetter, NewMessage},
};

macro_rules! letter_sql {
    ($rest:literal) => {
        concat!(
            "SELECT id, agent, turn_epoch, turn_number, in_reply_to, body, state, answer, \
             settled_by, sent_at FROM letters ",
            $rest
        )
    };
}

/// Sends a letter, once for each key.
pub(crate) fn send(w: &mut Writer, new: &NewLetter, act: Option<&NewAct>) -> Result<i64, Fault> {
    fence::fence(w, &new.agent, new.turn.map(|turn| turn.epoch))?;
    let sql = "INSERT INTO letters (installation_id, agent, idem_key, turn_epoch, turn_number, \
               in_reply_to, hops, body, state, sent_at) VALUES (?, ?, ?, ?, ?, ?, 0, ?, 'new', ?) \
               ON CONFLICT (agent, idem_key) DO NOTHING";
    sql::run(
        &w.connection,
        sql,
        params![
            &w.installation_id,
            new.agent.folded(),
            &new.idem_key,
            new.turn.map(|turn| turn.epoch.0),
            new.turn.map(|turn| turn.number),
            new.in_reply_to.map(|id| id.0),
            new.body.as_str(),
            w.now.0
        ],
    )?;
    let sql = "SELECT id FROM letters WHERE agent = ? AND idem_key = ?";
    let with = params![new.agent.folded(), &new.idem_key];
    let id = sql::one(&w.connection, sql, with, sql::column)?;
    if let Some(act) = act {
        acts::record(w, act, &MadeByCall::numbered(id))?;
    }
    Ok(id)
}

pub(crate) fn read(w: &mut Writer, ids: &[i64]) -> Result<(), Fault> {
    let sql = "UPDATE letters SET state = 'read', read_at = ? WHERE id = ? AND state = 'new'";
    for id in ids {
        sql::run(&w.connection, sql, params![w.now.0, id])?;
    }
    Ok(())
}

/// Answers an open letter, or puts it away if there is no answer.
pub(crate) fn settle(
    w: &mut Writer,
    (id, by): (i64, &str),
    answer: Option<&NewMessage>,
) -> Result<Result<(LetterRow, Option<MessageId>), LetterError>, Fault> {
    let Some(letter) = one(&w.connection, id)? else { return Ok(Err(LetterError::Unknown(id))) };
    match letter.state {
        LetterState::New | LetterState::Read => {}
        state @ (LetterState::Answered | LetterState::Done) => {
            return Ok(Err(LetterError::Settled { id, state }));
        }
    }
    let message = match answer {
        Some(answer) => Some(messages::put(w, answer, None)?.id),
        None => None,
    };
    let state = if answer.is_some() { LetterState::Answered } else { LetterState::Done };
    let sql = "UPDATE letters SET state = ?, answer = ?, settled_by = ?, settled_at = ? \
               WHERE id = ?";
    let with = params![state.as_str(), message.map(|id| id.0), by, w.now.0, id];
    sql::run(&w.connection, sql, with)?;
    Ok(Ok((letter, message)))
}

pub(crate) fn one(c: &Connection, id: i64) -> Result<Option<LetterRow>, Fault> {
    Ok(sql::first(c, letter_sql!("WHERE id = ?"), params![id], row)?)
}

/// Returns letters, oldest first.
pub(crate) fn list(
    c: &Connection,
    filter: &LetterFilter,
    limit: u32,
) -> Result<Vec<LetterRow>, Fault> {
    let sql = letter_sql!(
        "WHERE (?1 IS NULL OR agent = ?1) AND (state = 'new' OR NOT ?2) \
         AND (state IN ('new', 'read') OR ?3) ORDER BY id LIMIT ?4"
    );
    let agent = filter.agent.as_ref().map(AgentName::folded);
    Ok(sql::all(c, sql, params![agent, filter.unread, filter.settled, page(limit)], row)?)
}

fn row(row: &Row<'_>) -> rusqlite::Result<LetterRow> {
    let number = |column: &'static str| row.get::<_, Option<i64>>(column);
    Ok(LetterRow {
        id: row.get("id")?,
        agent: rows::parsed(row, "agent")?,
        turn: rows::maybe_turn(row)?,
        in_reply_to: number("in_reply_to")?.map(MessageId),
        body: Redacted::from_store(row.get("body")?),
        state: rows::parsed(row, "state")?,
        answer: number("answer")?.map(MessageId),
        settled_by: row.get("settled_by")?,
        sent_at: rows::time(row, "sent_at")?,
    })
}
