//! Statements of the record of events.

use gangline_core::AgentName;
use sqlx::SqliteConnection;

use super::{
    Writer, agents,
    fault::Fault,
    rows::{self, event_sql, page as page_size},
};
use crate::{
    error::BrokerError,
    types::{Cursor, EventPage, EventQuery, NewEvent},
};

/// The form of a record.
const FORM: i64 = 1;

pub(crate) async fn append(w: &mut Writer, events: &[NewEvent]) -> Result<i64, Fault> {
    for event in events {
        let epoch = event.turn.map(|turn| turn.epoch).or(event.epoch);
        agents::fence(w, &event.agent, epoch).await?;
    }
    put(w, events).await
}

/// Inserts events, without asking whose epoch they are.
pub(super) async fn put(w: &mut Writer, events: &[NewEvent]) -> Result<i64, Fault> {
    let sql = "INSERT INTO events (v, installation_id, agent, epoch, turn_epoch, turn_number, \
               kind, at, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let mut last = 0;
    for event in events {
        let epoch = event.epoch.or(event.turn.map(|turn| turn.epoch));
        last = sqlx::query(sql)
            .bind(FORM)
            .bind(&w.installation_id)
            .bind(event.agent.folded())
            .bind(epoch.map(|epoch| epoch.0))
            .bind(event.turn.map(|turn| turn.epoch.0))
            .bind(event.turn.map(|turn| turn.number))
            .bind(&event.kind)
            .bind(w.now.0)
            .bind(event.payload.as_str())
            .execute(&mut w.connection)
            .await?
            .last_insert_rowid();
    }
    Ok(last)
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
            return Err(BrokerError::Invalid("a turn's events need the agent's name").into());
        }
    })
}

pub(crate) async fn page(c: &mut SqliteConnection, query: &EventQuery) -> Result<EventPage, Fault> {
    let after = query.after.as_ref().and_then(Cursor::seq).unwrap_or(0);
    let rows = sqlx::query(statement(query)?)
        .bind(after)
        .bind(query.agent.as_ref().map(AgentName::folded))
        .bind(query.turn.map(|turn| turn.epoch.0))
        .bind(query.turn.map(|turn| turn.number))
        .bind(page_size(query.limit))
        .fetch_all(c)
        .await?;
    let mut events = rows::all(&rows, rows::event)?;
    if query.newest {
        events.reverse();
    }
    let cursor = events.last().map_or_else(|| Cursor::at(after), crate::types::Event::cursor);
    Ok(EventPage { events, cursor })
}
