//! Statements of the places in which questions are announced to people.

use gangline_core::{QuestionNumber, approval::view::Extent, redact::Redacted};
use rusqlite::{Connection, params};

use super::{Writer, fault::Fault, outbox, rows, send, sql};
use crate::types::{LineKind, QuestionPlace, QuestionPlaced, QuestionRow, Send};

/// Announces a question in a place. The same place again changes nothing.
pub(super) fn put(
    w: &mut Writer,
    number: QuestionNumber,
    placed: &QuestionPlaced,
) -> Result<(), Fault> {
    send::put(w, &placed.send, placed.question.as_deref())?;
    let sql = "INSERT INTO question_places (question, place, installation_id, agent, target, \
               idem_key, whole) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
    sql::run(
        &w.connection,
        sql,
        params![
            number.0,
            &placed.place,
            &w.installation_id,
            placed.send.agent.folded(),
            &placed.send.target,
            placed.send.idem_key.as_str(),
            placed.extent == Extent::Whole
        ],
    )?;
    Ok(())
}

/// Returns where a question was announced.
pub(crate) fn list(c: &Connection, number: QuestionNumber) -> Result<Vec<QuestionPlace>, Fault> {
    let sql = "SELECT place, target, whole, told_at, heard_at FROM question_places \
               WHERE question = ? ORDER BY place";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(QuestionPlace {
            place: row.get("place")?,
            target: row.get("target")?,
            extent: if row.get("whole")? { Extent::Whole } else { Extent::Cut },
            told_at: row.get("told_at")?,
            heard_at: rows::maybe_time(row, "heard_at")?,
        })
    };
    Ok(sql::all(c, sql, params![number.0], read)?)
}

/// Says what became of a question wherever it was announced.
pub(super) fn say_everywhere(
    w: &mut Writer,
    row: &QuestionRow,
    text: &Redacted,
) -> Result<(), Fault> {
    let number = row.number;
    for (at, place) in list(&w.connection, number)?.into_iter().enumerate() {
        let send = Send {
            agent: row.agent.clone(),
            turn: None,
            idem_key: format!("qc-{number}-{at}-{}", w.now.0).into(),
            target: place.target,
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
