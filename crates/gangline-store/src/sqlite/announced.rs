//! Statements of what has been heard of the announcements of approvals and questions.

use rusqlite::params;

use super::{Writer, fault::Fault, sql};
use crate::types::Said;

/// Records that the last line of an announcement was said, if it is one. `agent` is folded.
pub(super) fn put(w: &Writer, (agent, idem_key): (&str, &str), said: &Said) -> Result<(), Fault> {
    let sql = "UPDATE approval_places SET told_at = ?, heard_at = ? \
               WHERE agent = ? AND idem_key = ? AND heard_at IS NULL RETURNING number";
    let with = params![said.at, w.now.0, agent, idem_key];
    let numbers: Vec<i64> = sql::all(&w.connection, sql, with, sql::column)?;
    for number in numbers {
        let sql = "UPDATE approvals SET announced_at = ?, announced_msgid = ? \
                   WHERE number = ? AND announced_at IS NULL AND announced_msgid IS NULL";
        sql::run(&w.connection, sql, params![said.at, said.msgid, number])?;
    }
    let sql = "UPDATE question_places SET told_at = ?, heard_at = ? \
               WHERE agent = ? AND idem_key = ? AND heard_at IS NULL";
    sql::run(&w.connection, sql, params![said.at, w.now.0, agent, idem_key])?;
    Ok(())
}
