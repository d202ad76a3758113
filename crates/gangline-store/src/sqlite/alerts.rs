//! Statements of alerts: raised, told, delivered.

use gangline_core::{
    AgentName, MessageId, TurnId,
    alert::{self, DeliveryState, Standing, Waits},
    finding::Severity,
    hook::WebhookEvent,
    redact::Redacted,
    time::WallMicros,
    word::Stored,
};
use gangline_os::clock::UnixMicros;
use rusqlite::{Connection, Row, params};

use super::{
    Writer, events,
    fault::Fault,
    fence,
    rows::{self, page},
    sql,
};
use crate::types::{AlertRow, DeliveryEnd, DeliveryRow, NewAlert, NewDelivery, NewEvent};

/// The most bytes of an alert's text that are told; the rest is where it came from.
const TEXT_MOST: usize = 1_000;
/// The most deliveries of one target that are looked at together: more than one message holds.
const DUE_OF_TARGET: i64 = 50;
/// How many alerts are kept; older ones that nobody looks at any more are removed.
const ALERTS_KEPT: i64 = 5_000;

/// Whether what the alert `a` is about is still open.
macro_rules! open_sql {
    () => {
        "(EXISTS (SELECT 1 FROM questions q WHERE q.id = a.about AND q.state = 'open') OR \
         EXISTS (SELECT 1 FROM approvals p WHERE p.number = a.about AND p.state = 'open') OR \
         EXISTS (SELECT 1 FROM findings f WHERE f.number = a.about AND f.state = 'open'))"
    };
}
macro_rules! alert_sql {
    ($rest:literal) => {
        concat!(
            "SELECT a.id, a.agent, a.event, a.severity, a.about, a.more, a.told, \
             CASE WHEN a.told = 0 THEN a.text ELSE coalesce(a.newest, a.text) END AS text, \
              a.room_text, a.raised_at, a.until, ",
            open_sql!(),
            " AS open FROM alerts a ",
            $rest
        )
    };
}
macro_rules! delivery_sql {
    ($rest:literal) => {
        concat!(
            "SELECT d.id, d.alert, d.agent, a.event, a.severity, a.about, d.target, d.text, d.state, \
             d.attempts, d.next_at, d.claimed_by, d.trouble, d.made_at, d.ended_at, ",
            open_sql!(),
            " AS open FROM alert_deliveries d JOIN alerts a ON a.id = d.alert ",
            $rest
        )
    };
}

/// Raises an alert, or counts it to one of its group that is not told in full yet, with its
/// record. Returns its number.
pub(crate) fn raise(w: &mut Writer, new: &NewAlert) -> Result<i64, Fault> {
    fence::fence(w, &new.agent, None)?;
    put(w, new)
}

/// As [`raise`], unless a question is open that the turn, or another attempt at its message, has asked: then
/// the task is not finished.
pub(crate) fn raise_unless_asked(
    w: &mut Writer,
    new: &NewAlert,
    (turn, message): (TurnId, MessageId),
) -> Result<(), Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM questions WHERE agent = ?1 AND state = 'open' \
               AND (in_reply_to = ?4 OR (turn_epoch = ?2 AND turn_number = ?3)))";
    let with = params![new.agent.folded(), turn.epoch.0, turn.number, message.0];
    match sql::one(&w.connection, sql, with, sql::column)? {
        true => Ok(()),
        false => raise(w, new).map(drop),
    }
}

/// As [`raise`], for a write that was let through already.
pub(super) fn put(w: &mut Writer, new: &NewAlert) -> Result<i64, Fault> {
    record(w, new)?;
    let number = new.about.map_or(String::new(), |number| number.to_string());
    let about = if new.group.is_empty() { number.as_str() } else { new.group };
    let grouped = format!("{}/{about}", new.event);
    // Whoever reads it reads one line: nothing in it begins another alert.
    let one_line = |text: &Redacted| {
        let text = alert::text::one_line(text.as_str());
        match text.len() > TEXT_MOST {
            false => Redacted::from_store(text),
            true => {
                Redacted::from_store(format!("{}…", Redacted::from_store(text).head(TEXT_MOST)))
            }
        }
    };
    let (text, room_text) = (one_line(&new.text), new.room_text.as_ref().map(one_line));
    let sql = "UPDATE alerts SET more = more + 1, newest = ?3, about = coalesce(?5, about), \
               due_at = CASE WHEN told = 0 THEN due_at ELSE min(coalesce(due_at, until), until) END \
               WHERE id = (SELECT max(id) FROM alerts WHERE agent = ?1 AND grouped = ?2) \
               AND raised_at <= ?4 AND (due_at IS NOT NULL OR told > 0 AND until > ?4) RETURNING id";
    let with = params![new.agent.folded(), &grouped, text.as_str(), w.now.0, new.about];
    let joined = match new.event.is_joined() {
        true => sql::first(&w.connection, sql, with, sql::column)?,
        false => None,
    };
    if let Some(id) = joined {
        return Ok(id);
    }
    let until = alert::later(WallMicros(w.now.0), alert::GROUP_WINDOW);
    let sql = "INSERT INTO alerts (installation_id, agent, event, grouped, about, text, raised_at, \
               until, due_at, room_text, severity) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?7, ?9, ?10) RETURNING id";
    let with = params![
        &w.installation_id,
        new.agent.folded(),
        new.event.as_str(),
        &grouped,
        new.about,
        text.as_str(),
        w.now.0,
        until.0,
        room_text.as_ref().map(Redacted::as_str),
        new.severity.as_str()
    ];
    let id: i64 = sql::one(&w.connection, sql, with, sql::column)?;
    let old = params![id - ALERTS_KEPT];
    let sql = "DELETE FROM alert_deliveries WHERE alert <= ?1 AND next_at IS NULL";
    sql::run(&w.connection, sql, old)?;
    let sql = "DELETE FROM alerts WHERE id <= ?1 AND due_at IS NULL AND NOT EXISTS \
               (SELECT 1 FROM alert_deliveries d WHERE d.alert = alerts.id)";
    sql::run(&w.connection, sql, old)?;
    Ok(id)
}

fn record(w: &mut Writer, new: &NewAlert) -> Result<(), Fault> {
    let payload = serde_json::json!({
        "event": new.event,
        "severity": new.severity,
        "text": new.text.as_str(),
    });
    let event = NewEvent {
        agent: new.agent.clone(),
        epoch: None,
        turn: None,
        kind: "alert".to_owned(),
        // Texts that were masked before, and words of the program.
        payload: Redacted::from_store(payload.to_string()),
    };
    events::put(w, &[event]).map(drop)
}

/// Makes the deliveries of an alert that was told so often, and says when it is looked at next.
/// Returns whether it did: another process may have been quicker.
pub(crate) fn tell(
    w: &mut Writer,
    seen: &AlertRow,
    deliveries: &[NewDelivery],
    due: Option<UnixMicros>,
) -> Result<bool, Fault> {
    let Standing { told, more, .. } = seen.standing;
    // What has come since it was read stays counted, and is told at the end of a new time.
    let until = alert::later(WallMicros(w.now.0), alert::GROUP_WINDOW);
    let sql = "UPDATE alerts SET told = told + ?4, \
               more = CASE WHEN ?5 THEN more - ?3 ELSE more END, \
               until = CASE WHEN ?5 THEN ?6 ELSE until END, \
               due_at = CASE WHEN more > ?3 THEN min(coalesce(?7, until), until) ELSE ?7 END \
               WHERE id = ?1 AND told = ?2 AND more >= ?3 AND due_at IS NOT NULL";
    let tells = !deliveries.is_empty();
    // The first telling is of the first of them; the others have gathered behind it.
    let gathered = tells && told > 0 && more > 0;
    let with =
        params![seen.id, told, more, i64::from(tells), gathered, until.0, due.map(|due| due.0)];
    if sql::run(&w.connection, sql, with)? == 0 {
        return Ok(false);
    }
    let sql = "INSERT INTO alert_deliveries (installation_id, alert, agent, target, text, state, \
               next_at, made_at) SELECT ?1, ?2, ?3, ?4, ?5, 'waiting', ?6, ?7 WHERE NOT (?8 AND EXISTS \
               (SELECT 1 FROM alert_deliveries WHERE alert = ?2 AND target = ?4 \
                AND state IN ('waiting', 'claimed')))";
    for new in deliveries {
        let with = params![
            &w.installation_id,
            seen.id,
            seen.agent.folded(),
            &new.target,
            new.text.as_str(),
            new.at.0,
            w.now.0,
            new.repeats
        ];
        sql::run(&w.connection, sql, with)?;
    }
    Ok(true)
}

/// Takes a delivery to send it, if nobody has changed it since it was read. Returns it as it is then.
pub(crate) fn claim(
    w: &mut Writer,
    seen: &DeliveryRow,
    by: &str,
) -> Result<Option<DeliveryRow>, Fault> {
    let lapses = alert::later(WallMicros(w.now.0), alert::CLAIM);
    let sql = "UPDATE alert_deliveries SET state = 'claimed', claimed_by = ?2, next_at = ?3, \
               attempts = attempts + 1 WHERE id = ?1 AND state = 'waiting' AND attempts = ?4";
    let with = params![seen.id, by, lapses.0, seen.attempts];
    match sql::run(&w.connection, sql, with)? {
        0 => Ok(None),
        _ => Ok(sql::first(&w.connection, delivery_sql!("WHERE d.id = ?"), [seen.id], delivery)?),
    }
}

/// Records what became of a delivery, if nobody has changed it since it was read. Returns whether it did.
pub(crate) fn end(w: &mut Writer, seen: &DeliveryRow, end: &DeliveryEnd) -> Result<bool, Fault> {
    let (state, next, trouble, ended) = match end {
        DeliveryEnd::Over(state, trouble) => (*state, None, trouble.as_ref(), Some(w.now.0)),
        DeliveryEnd::Again { at, trouble } => {
            (DeliveryState::Waiting, Some(at.0), Some(trouble), None)
        }
    };
    let sql = "UPDATE alert_deliveries SET state = ?2, next_at = ?3, trouble = ?4, ended_at = ?5 \
               WHERE id = ?1 AND state = ?6 AND attempts = ?7";
    let with = params![
        seen.id,
        state.as_str(),
        next,
        trouble.map(Redacted::as_str),
        ended,
        seen.state.as_str(),
        seen.attempts
    ];
    Ok(sql::run(&w.connection, sql, with)? > 0)
}

/// Lets the deliveries that wait for this target wait at least until then.
pub(crate) fn hold(w: &mut Writer, target: &str, until: UnixMicros) -> Result<(), Fault> {
    let sql = "UPDATE alert_deliveries SET next_at = ?2 \
               WHERE target = ?1 AND state = 'waiting' AND next_at < ?2";
    sql::run(&w.connection, sql, params![target, until.0])?;
    Ok(())
}

/// Returns the alerts that are to be looked at, the oldest first.
pub(crate) fn due(
    c: &Connection,
    agent: Option<&AgentName>,
    now: UnixMicros,
) -> Result<Vec<AlertRow>, Fault> {
    let sql = alert_sql!(
        "WHERE a.due_at <= ?2 AND (?1 IS NULL OR a.agent = ?1) ORDER BY a.due_at, a.id LIMIT ?3"
    );
    let with = params![agent.map(AgentName::folded), now.0, page(0)];
    Ok(sql::all(c, sql, with, alert_row)?)
}

/// Returns the deliveries that are to be sent, or whose claim has lapsed, the oldest first.
pub(crate) fn deliveries_due(
    c: &Connection,
    agent: Option<&AgentName>,
    now: UnixMicros,
) -> Result<Vec<DeliveryRow>, Fault> {
    // Of each target some: one for which many wait holds up no other.
    let sql = delivery_sql!(
        "WHERE d.id IN (SELECT id FROM (SELECT id, row_number() OVER \
         (PARTITION BY target ORDER BY id) AS nth FROM alert_deliveries \
          WHERE next_at <= ?2 AND (?1 IS NULL OR agent = ?1)) WHERE nth <= ?3) ORDER BY d.id"
    );
    let with = params![agent.map(AgentName::folded), now.0, DUE_OF_TARGET];
    Ok(sql::all(c, sql, with, delivery)?)
}

/// Returns when there is something to do next.
pub(crate) fn next_due(
    c: &Connection,
    agent: Option<&AgentName>,
) -> Result<Option<UnixMicros>, Fault> {
    let sql = "SELECT min(at) FROM \
               (SELECT min(due_at) AS at FROM alerts \
                 WHERE due_at IS NOT NULL AND (?1 IS NULL OR agent = ?1) \
                UNION ALL SELECT min(next_at) FROM alert_deliveries \
                 WHERE next_at IS NOT NULL AND (?1 IS NULL OR agent = ?1))";
    let with = params![agent.map(AgentName::folded)];
    let at: Option<i64> = sql::one(c, sql, with, sql::column)?;
    Ok(at.map(UnixMicros))
}

/// Returns the last deliveries, the newest first.
pub(crate) fn deliveries(
    c: &Connection,
    agent: Option<&AgentName>,
    limit: u32,
) -> Result<Vec<DeliveryRow>, Fault> {
    let sql = delivery_sql!("WHERE (?1 IS NULL OR d.agent = ?1) ORDER BY d.id DESC LIMIT ?2");
    let with = params![agent.map(AgentName::folded), page(limit)];
    Ok(sql::all(c, sql, with, delivery)?)
}

fn event(row: &Row<'_>) -> rusqlite::Result<Stored<WebhookEvent>> {
    let word: String = row.get("event")?;
    Ok(word.parse().map_or(Stored::Other(word), Stored::Known))
}

/// An alert of an older program has none, and is as grave as its event; one of a newer is a warning.
fn severity(row: &Row<'_>) -> rusqlite::Result<Severity> {
    let word: Option<String> = row.get("severity")?;
    let usual =
        || event(row).map(|it| it.known().map_or(Severity::Warning, WebhookEvent::severity));
    word.and_then(|word| word.parse().ok()).map_or_else(usual, Ok)
}

fn alert_row(row: &Row<'_>) -> rusqlite::Result<AlertRow> {
    let about: Option<i64> = row.get("about")?;
    let waits = match about {
        None => Waits::Nobody,
        Some(_) if row.get("open")? => Waits::Open,
        Some(_) => Waits::Closed,
    };
    let standing = Standing {
        raised_at: WallMicros(row.get("raised_at")?),
        told: row.get("told")?,
        more: row.get("more")?,
        until: WallMicros(row.get("until")?),
        waits,
    };
    Ok(AlertRow {
        id: row.get("id")?,
        agent: rows::parsed(row, "agent")?,
        severity: severity(row)?,
        event: event(row)?,
        about,
        text: Redacted::from_store(row.get("text")?),
        room_text: row.get::<_, Option<String>>("room_text")?.map(Redacted::from_store),
        standing,
    })
}

fn delivery(row: &Row<'_>) -> rusqlite::Result<DeliveryRow> {
    let open: bool = row.get("open")?;
    let about: Option<i64> = row.get("about")?;
    let trouble: Option<String> = row.get("trouble")?;
    let next_at: Option<i64> = row.get("next_at")?;
    Ok(DeliveryRow {
        id: row.get("id")?,
        alert: row.get("alert")?,
        agent: rows::parsed(row, "agent")?,
        severity: severity(row)?,
        event: event(row)?,
        about: about.map(|number| (number, !open)),
        target: row.get("target")?,
        text: Redacted::from_store(row.get("text")?),
        state: rows::parsed(row, "state")?,
        attempts: row.get("attempts")?,
        next_at: next_at.map(UnixMicros),
        claimed_by: row.get("claimed_by")?,
        trouble: trouble.map(Redacted::from_store),
        made_at: rows::time(row, "made_at")?,
        ended_at: rows::maybe_time(row, "ended_at")?,
    })
}
