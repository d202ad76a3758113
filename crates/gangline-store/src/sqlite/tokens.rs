//! Statements of tokens: made, used, revoked.

use gangline_core::Principal;
use rusqlite::{Connection, Row, params};

use super::{
    Writer,
    fault::Fault,
    rows::{self, page},
    sql,
};
use crate::{
    PAGE_MAX,
    types::{NewToken, TokenRow},
};

/// A use is not written again within this, in microseconds.
const USED_AGAIN: i64 = 60_000_000;

macro_rules! token_sql {
    ($rest:literal) => {
        concat!(
            "SELECT id, scope, agent, label, made_by, made_tier, made_at, used_at, revoked_at \
             FROM tokens ",
            $rest
        )
    };
}

pub(crate) fn add(w: &mut Writer, new: &NewToken) -> Result<TokenRow, Fault> {
    let sql = "INSERT INTO tokens (installation_id, scope, agent, label, hash, made_by, made_tier, \
               made_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    sql::run(
        &w.connection,
        sql,
        params![
            &w.installation_id,
            new.scope.as_str(),
            new.agent.folded(),
            &new.label,
            &new.hash,
            &new.made_by.account,
            new.made_by.tier.as_str(),
            w.now.0
        ],
    )?;
    let id = w.connection.last_insert_rowid();
    Ok(sql::one(&w.connection, token_sql!("WHERE id = ?"), params![id], row)?)
}

/// Revokes a token; one that is revoked keeps its time.
pub(crate) fn revoke(w: &mut Writer, id: i64) -> Result<Option<TokenRow>, Fault> {
    let was = sql::first(&w.connection, token_sql!("WHERE id = ?"), params![id], row)?;
    let sql = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL";
    sql::run(&w.connection, sql, params![w.now.0, id])?;
    Ok(was)
}

pub(crate) fn used(w: &mut Writer, id: i64) -> Result<(), Fault> {
    let sql = "UPDATE tokens SET used_at = ?1 \
               WHERE id = ?2 AND (used_at IS NULL OR abs(?1 - used_at) >= ?3)";
    sql::run(&w.connection, sql, params![w.now.0, id, USED_AGAIN])?;
    Ok(())
}

pub(crate) fn of_hash(c: &Connection, hash: &str) -> Result<Option<TokenRow>, Fault> {
    Ok(sql::first(c, token_sql!("WHERE hash = ?"), params![hash], row)?)
}

pub(crate) fn list(c: &Connection) -> Result<Vec<TokenRow>, Fault> {
    Ok(sql::all(c, token_sql!("ORDER BY id LIMIT ?"), params![page(PAGE_MAX)], row)?)
}

fn row(row: &Row<'_>) -> rusqlite::Result<TokenRow> {
    Ok(TokenRow {
        id: row.get("id")?,
        scope: rows::parsed(row, "scope")?,
        agent: rows::parsed(row, "agent")?,
        label: row.get("label")?,
        made_by: Principal { account: row.get("made_by")?, tier: rows::parsed(row, "made_tier")? },
        made_at: rows::time(row, "made_at")?,
        used_at: rows::maybe_time(row, "used_at")?,
        revoked_at: rows::maybe_time(row, "revoked_at")?,
    })
}
