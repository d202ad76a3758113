//! Statements of whispers: recorded, delivered, listed. Each is recorded as an event in the same
//! commit.

use gangline_core::{
    AgentName, Epoch, FindingNumber, TurnId,
    redact::Redacted,
    whisper::{WAITING_MAX, WhisperSource},
};
use rusqlite::{Connection, Row, params};
use serde_json::{Value, json};

use super::{
    Writer, events,
    fault::Fault,
    fence, findings,
    rows::{self, page},
    sql,
};
use crate::types::{Delivered, NewEvent, NewWhisper, OfFinding, WhisperRow};

macro_rules! whisper_sql {
    ($rest:literal) => {
        concat!(
            "SELECT id, agent, kind, source, text, said_by, finding, turn_epoch, turn_number, \
             said_at, road, delivered_at, delivered_epoch, delivered_number FROM whispers ",
            $rest
        )
    };
}

/// Records a whisper and returns its number. If as many wait already as may, the oldest one of the rules makes
/// room; `None` if there is none. What is dropped of the daemon's own is told by a notice.
pub(crate) fn say(w: &mut Writer, new: &NewWhisper) -> Result<Option<i64>, Fault> {
    fence::fence(w, &new.agent, new.turn.map(|turn| turn.epoch))?;
    let sql = "SELECT count(*) FROM whispers WHERE agent = ? AND road IS NULL";
    let waiting: i64 = sql::one(&w.connection, sql, params![new.agent.folded()], sql::column)?;
    if waiting >= i64::from(WAITING_MAX) && !make_room(w, &new.agent)? {
        let from = match new.source {
            // Whoever asked is told.
            WhisperSource::Operator => return Ok(None),
            WhisperSource::Rules => "the rules",
            WhisperSource::Supervisor => "the supervisor",
        };
        let text = format!("a new whisper of {from} is dropped: {WAITING_MAX} wait already");
        dropped(w, &new.agent, &text)?;
        return Ok(None);
    }
    let finding = match &new.finding {
        Some(OfFinding::Number(number)) => Some(*number),
        Some(OfFinding::Key(key)) => findings::number_of(&w.connection, &new.agent, key)?,
        None => None,
    };
    let sql = "INSERT INTO whispers (installation_id, agent, kind, source, text, said_by, finding, \
               turn_epoch, turn_number, said_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let with = params![
        &w.installation_id,
        new.agent.folded(),
        new.kind.as_str(),
        new.source.as_str(),
        new.text.as_str(),
        &new.by,
        finding.map(|number| number.0),
        new.turn.map(|turn| turn.epoch.0),
        new.turn.map(|turn| turn.number),
        w.now.0
    ];
    sql::run(&w.connection, sql, with)?;
    let id = w.connection.last_insert_rowid();
    let mut payload = json!({
        "id": id,
        "whisper_type": new.kind.as_str(),
        "source": new.source.as_str(),
        "text": new.text.as_str(),
    });
    if let Some(by) = &new.by {
        payload["by"] = json!(by);
    }
    if let Some(finding) = finding {
        payload["finding"] = json!(finding);
    }
    events::put(w, &[event(&new.agent, new.turn, ("whisper", &payload))])?;
    Ok(Some(id))
}

/// Drops the oldest whisper of the rules that waits. Returns whether there was one.
fn make_room(w: &mut Writer, agent: &AgentName) -> Result<bool, Fault> {
    let sql = "DELETE FROM whispers WHERE id = (SELECT min(id) FROM whispers \
               WHERE agent = ? AND road IS NULL AND source = ?) RETURNING id";
    let with = params![agent.folded(), WhisperSource::Rules.as_str()];
    let Some(id) = sql::first(&w.connection, sql, with, sql::column::<i64>)? else {
        return Ok(false);
    };
    let text =
        format!("whisper {id} of the rules is dropped for a new one: {WAITING_MAX} wait already");
    dropped(w, agent, &text)?;
    Ok(true)
}

fn dropped(w: &mut Writer, agent: &AgentName, text: &str) -> Result<(), Fault> {
    let payload = json!({"code": "whisper_dropped", "text": text});
    events::put(w, &[event(agent, None, ("notice", &payload))]).map(drop)
}

/// Records that whispers have reached the agent. Those of which that is known are passed over.
pub(crate) fn deliver(w: &mut Writer, told: &Delivered) -> Result<(), Fault> {
    fence::fence(w, &told.agent, told.turn.map(|turn| turn.epoch))?;
    let sql = "UPDATE whispers SET road = ?, delivered_at = ?, delivered_epoch = ?, \
               delivered_number = ? WHERE id = ? AND agent = ? AND road IS NULL";
    let mut ids = Vec::new();
    for id in &told.ids {
        let with = params![
            told.road.as_str(),
            w.now.0,
            told.turn.map(|turn| turn.epoch.0),
            told.turn.map(|turn| turn.number),
            id,
            told.agent.folded()
        ];
        if sql::run(&w.connection, sql, with)? > 0 {
            ids.push(*id);
        }
    }
    if !ids.is_empty() {
        let payload = json!({ "ids": ids, "road": told.road.as_str() });
        events::put(w, &[event(&told.agent, told.turn, ("whisper_delivered", &payload))])?;
    }
    Ok(())
}

fn event(agent: &AgentName, turn: Option<TurnId>, (kind, payload): (&str, &Value)) -> NewEvent {
    NewEvent {
        agent: agent.clone(),
        epoch: None,
        turn,
        kind: kind.to_owned(),
        // The text is masked; the rest are ids and words of the program.
        payload: Redacted::from_store(payload.to_string()),
    }
}

/// Returns the whispers of the agent that have not reached it, oldest first.
pub(crate) fn undelivered(c: &Connection, agent: &AgentName) -> Result<Vec<WhisperRow>, Fault> {
    let sql = whisper_sql!("WHERE agent = ? AND road IS NULL ORDER BY id LIMIT ?");
    Ok(sql::all(c, sql, params![agent.folded(), page(0)], row)?)
}

/// Returns whispers, newest first.
pub(crate) fn list(
    c: &Connection,
    agent: Option<&AgentName>,
    limit: u32,
) -> Result<Vec<WhisperRow>, Fault> {
    let sql = whisper_sql!("WHERE ?1 IS NULL OR agent = ?1 ORDER BY id DESC LIMIT ?2");
    Ok(sql::all(c, sql, params![agent.map(AgentName::folded), page(limit)], row)?)
}

fn row(row: &Row<'_>) -> rusqlite::Result<WhisperRow> {
    let delivered_at = rows::maybe_time(row, "delivered_at")?;
    let delivered = match delivered_at {
        Some(at) => Some((rows::parsed(row, "road")?, at)),
        None => None,
    };
    let number = |column: &'static str| row.get::<_, Option<i64>>(column);
    let delivered_in = number("delivered_epoch")?.zip(number("delivered_number")?);
    Ok(WhisperRow {
        id: row.get("id")?,
        agent: rows::parsed(row, "agent")?,
        kind: rows::parsed(row, "kind")?,
        source: rows::parsed(row, "source")?,
        text: Redacted::from_store(row.get("text")?),
        by: row.get("said_by")?,
        finding: number("finding")?.map(FindingNumber),
        turn: rows::maybe_turn(row)?,
        said_at: rows::time(row, "said_at")?,
        delivered,
        delivered_in: delivered_in.map(|(epoch, number)| TurnId { epoch: Epoch(epoch), number }),
    })
}
