//! The one sequence by which people name what waits for them: approvals and questions.

use rusqlite::params;

use super::{Writer, fault::Fault, sql};

/// Returns the next number.
pub(super) fn next(w: &mut Writer) -> Result<i64, Fault> {
    let sql = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence \
               WHERE name IN ('approvals', 'questions')";
    Ok(sql::one(&w.connection, sql, [], sql::column)?)
}

/// Lets no table count from an older number, since an older program counts by its own table only.
pub(super) fn keep_in_step(w: &mut Writer, number: i64) -> Result<(), Fault> {
    for table in ["approvals", "questions"] {
        let sql = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?";
        if sql::run(&w.connection, sql, params![number, table])? == 0 {
            let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)";
            sql::run(&w.connection, sql, params![table, number])?;
        }
    }
    Ok(())
}
