//! Statements of the record of events.

use gangline_core::{AgentName, redact::Redacted};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, params};

use super::{
    Writer,
    fault::Fault,
    fence,
    rows::{self, event_sql, page as page_size},
    sql,
};
use crate::{
    error::StoreError,
    types::{Cursor, EventPage, EventQuery, NewEvent},
};

/// The form of a record.
const FORM: i64 = 1;

pub(crate) fn append(w: &mut Writer, events: &[NewEvent]) -> Result<i64, Fault> {
    for event in events {
        let epoch = event.turn.map(|turn| turn.epoch).or(event.epoch);
        fence::fence(w, &event.agent, epoch)?;
    }
    put(w, events)
}

/// Inserts events, without asking whose epoch they are.
pub(super) fn put(w: &mut Writer, events: &[NewEvent]) -> Result<i64, Fault> {
    let sql = "INSERT INTO events (v, installation_id, agent, epoch, turn_epoch, turn_number, \
               kind, at, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    for event in events {
        let epoch = event.epoch.or(event.turn.map(|turn| turn.epoch));
        sql::run(
            &w.connection,
            sql,
            params![
                FORM,
                &w.installation_id,
                event.agent.folded(),
                epoch.map(|epoch| epoch.0),
                event.turn.map(|turn| turn.epoch.0),
                event.turn.map(|turn| turn.number),
                &event.kind,
                w.now.0,
                event.payload.as_str()
            ],
        )?;
    }
    Ok(if events.is_empty() { 0 } else { w.connection.last_insert_rowid() })
}

fn statement(query: &EventQuery) -> Result<&'static str, Fault> {
    Ok(match (&query.agent, query.turn, query.newest) {
        (None, None, false) => event_sql!("AND ?2 IS NULL ORDER BY seq"),
        (None, None, true) => event_sql!("AND ?2 IS NULL ORDER BY seq DESC"),
        (Some(_), None, false) => event_sql!("AND agent = ?2 ORDER BY seq"),
        (Some(_), None, true) => event_sql!("AND agent = ?2 ORDER BY seq DESC"),
        (Some(_), Some(_), false) => {
            event_sql!("AND agent = ?2 AND turn_epoch = ?3 AND turn_number = ?4 ORDER BY seq")
        }
        (Some(_), Some(_), true) => {
            event_sql!("AND agent = ?2 AND turn_epoch = ?3 AND turn_number = ?4 ORDER BY seq DESC")
        }
        (None, Some(_), _) => {
            return Err(StoreError::Invalid("a turn's events need the agent's name").into());
        }
    })
}

/// Returns the newest payloads of a kind since a time, oldest first.
pub(crate) fn payloads(
    c: &Connection,
    agent: &AgentName,
    kind: &str,
    since: UnixMicros,
    most: u32,
) -> Result<Vec<Redacted>, Fault> {
    let sql = "SELECT payload FROM events WHERE agent = ? AND kind = ? AND at >= ? \
               ORDER BY seq DESC LIMIT ?";
    let with = params![agent.folded(), kind, since.0, most];
    let mut payloads = sql::all(c, sql, with, |row| row.get("payload").map(Redacted::from_store))?;
    payloads.reverse();
    Ok(payloads)
}

pub(crate) fn page(c: &Connection, query: &EventQuery) -> Result<EventPage, Fault> {
    let after = query.after.as_ref().and_then(Cursor::seq).unwrap_or(0);
    let before = query.before.as_ref().and_then(Cursor::seq).unwrap_or(i64::MAX);
    let with = params![
        after,
        query.agent.as_ref().map(AgentName::folded),
        query.turn.map(|turn| turn.epoch.0),
        query.turn.map(|turn| turn.number),
        page_size(query.limit),
        before
    ];
    let mut events = sql::all(c, statement(query)?, with, rows::event)?;
    if query.newest {
        events.reverse();
    }
    let cursor = events.last().map_or_else(|| Cursor::at(after), crate::types::Event::cursor);
    Ok(EventPage { events, cursor })
}
