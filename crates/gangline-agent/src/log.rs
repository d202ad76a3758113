//! What an agent was asked and did, an event on a line: for `gangline logs`, and for managers.

use gangline_api::approval::Decision;
use gangline_api::event::{
    EVENT_VERSION, Event, EventRecord, HookData, HookPayload, OnMessage, QuestionAsked,
    SessionStart, SessionStop, StartStep, StepState, Verdict, Whisper, WhisperDelivered,
    stored_payload,
};
use gangline_api::finding::Finding;
use gangline_core::{
    AgentName, ApprovalNumber, MessageId,
    answer::How,
    approval::view,
    block::Block,
    hook::WebhookEvent,
    shown::{cut, one_line},
};
use gangline_os::clock::{UnixMicros, parse_rfc3339, rfc3339};
use gangline_store::{Cursor, Event as Row, EventQuery, Store, StoreError};
use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Value, json};

use crate::shown_input;

/// How much of a text is shown, in characters.
const TEXT_MAX: usize = 160;

/// What happened, in two parts: a word and the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The word.
    pub what: String,
    /// The rest.
    pub text: String,
}

fn entry(what: impl Into<String>, text: impl Into<String>) -> Entry {
    Entry { what: what.into(), text: text.into() }
}

/// How much `logs` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What the agent was asked and did, and what went wrong.
    Work,
    /// The program's own steps, too.
    All,
}

/// Returns an event as clients get it. A payload that is no JSON becomes a string.
#[must_use]
pub fn record(row: &Row) -> EventRecord {
    EventRecord {
        v: u32::try_from(row.v).unwrap_or(EVENT_VERSION),
        seq: row.cursor().to_string(),
        agent: row.agent.clone(),
        turn: row.turn,
        kind: row.kind.clone(),
        at: rfc3339(row.at),
        payload: stored_payload(&row.kind, row.turn, row.payload.as_str()),
    }
}

/// Returns the newest events that are shown, oldest first, and the place behind them.
///
/// # Errors
/// [`StoreError`] if the database cannot be read.
pub async fn newest(
    store: &Store,
    (agent, limit): (Option<AgentName>, u32),
    shown: &(dyn Fn(&EventRecord) -> bool + Sync),
) -> Result<(Vec<EventRecord>, Cursor), StoreError> {
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut query = EventQuery { agent, newest: true, ..EventQuery::default() };
    let mut page = store.events(query.clone()).await?;
    let behind = page.cursor;
    // From the newest back, until there are enough of them.
    let mut found = Vec::new();
    while let Some(oldest) = page.events.first().map(Row::cursor) {
        found.extend(page.events.iter().rev().map(record).filter(shown));
        if found.len() >= wanted {
            break;
        }
        query.before = Some(oldest);
        page = store.events(query.clone()).await?;
    }
    found.truncate(wanted);
    found.reverse();
    Ok((found, behind))
}

/// Returns the lines of the log; none if nothing of that depth has happened. `dim` makes of the
/// time what is of less weight.
#[must_use]
pub fn lines(
    events: &[EventRecord],
    depth: Depth,
    (zone, dim): (&TimeZone, &dyn Fn(&str) -> String),
) -> Vec<String> {
    let mut out = Vec::new();
    for event in events {
        let at = parse_rfc3339(&event.at).and_then(|at| stamp(at, zone));
        let at = dim(&at.unwrap_or_else(|| one_line(&event.at)));
        let turn = event.turn.map_or_else(|| "-".to_owned(), |turn| turn.to_string());
        for Entry { what, text } in at_depth(event, depth) {
            out.push(format!("{at} {} {turn:<6} {what:<11} {text}", event.agent));
        }
    }
    out
}

/// Returns the day and the time of day with milliseconds.
fn stamp(at: UnixMicros, zone: &TimeZone) -> Option<String> {
    let stamp = Timestamp::from_microsecond(at.0).ok()?;
    Some(stamp.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S%.3f").to_string())
}

/// Returns whether an event tells what its agent alone is told (R1-33): other agents do not see it.
#[must_use]
pub fn is_private(event: &EventRecord) -> bool {
    ["whisper", "whisper_delivered"].contains(&event.kind.as_str())
}

/// Returns the event as other agents read it: without the commands that owners alone are shown.
#[must_use]
pub fn for_agents(mut event: EventRecord) -> EventRecord {
    let blocks = event.payload.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten() {
        let name = block.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(input) = block.get_mut("input") else { continue };
        if shown_input::is_for_owners(&name, input) {
            *input = json!({"command": view::WITHHELD});
        }
    }
    event
}

/// Returns whether `logs` shows anything of an event.
#[must_use]
pub fn is_shown(event: &EventRecord, depth: Depth) -> bool {
    !at_depth(event, depth).is_empty()
}

/// Returns what `logs` says of an event.
fn at_depth(event: &EventRecord, depth: Depth) -> Vec<Entry> {
    let Ok(Some(known)) = event.event() else { return describe(event) };
    match &known {
        Event::OnMessage(OnMessage(it)) => return vec![message(it)],
        Event::SessionStart(SessionStart(it)) => {
            return vec![entry("start", format!("{} takes prompts", one_line(&it.runtime)))];
        }
        Event::SessionStop(SessionStop(it)) => return vec![stopped(it)],
        _ if depth == Depth::Work && is_own_step(&known) => return Vec::new(),
        Event::Assistant(it) if depth == Depth::Work => {
            let spoken = it.content.iter().filter(|it| !matches!(it, Block::Thinking { .. }));
            return spoken.filter_map(block).collect();
        }
        _ => {}
    }
    known_event(&known)
}

/// Returns whether an event is a step of the program's own, or is told by another one too.
fn is_own_step(event: &Event) -> bool {
    match event {
        Event::Phase(_) | Event::StartStep(_) | Event::OnError(_) => true,
        // The message that asks or answers says so.
        Event::QuestionAsked(_) | Event::QuestionAnswered(_) => true,
        // The end of the turn says so.
        Event::Alert(it) => it.event == WebhookEvent::AgentComplete,
        // Each of its messages has a line.
        Event::TurnStarted(it) => it.attempt <= 1 && !it.messages.is_empty(),
        Event::MessageAccepted(_)
        | Event::TurnSteered(_)
        | Event::Assistant(_)
        | Event::ToolResult(_)
        | Event::Sent(_)
        | Event::TurnEnded(_)
        | Event::ApprovalAsked(_)
        | Event::ApprovalDecided(_)
        | Event::SessionStart(_)
        | Event::SessionStop(_)
        | Event::Finding(_)
        | Event::OnMessage(_)
        | Event::Verdict(_)
        | Event::Whisper(_)
        | Event::WhisperDelivered(_) => false,
        // So does the end of the session.
        Event::Notice(it) => it.code == "ended",
    }
}

fn stopped(payload: &HookPayload) -> Entry {
    let how = Some(payload.data.message.as_str()).filter(|how| !how.is_empty());
    let how = how.map_or_else(String::new, |how| format!(": {}", short(how)));
    entry("end", format!("{} has ended{how}", one_line(&payload.runtime)))
}

fn message(payload: &HookPayload) -> Entry {
    let HookData { message, id, sender } = &payload.data;
    let id = id.map_or_else(String::new, |id| format!("{id} "));
    let sender = sender.as_deref().map_or_else(|| "an unknown sender".to_owned(), one_line);
    entry("message", format!("{id}from {sender}: {}", short(message)))
}

/// Returns what an event tells: nothing, one line, or one for each block of a model's message.
#[must_use]
pub fn describe(event: &EventRecord) -> Vec<Entry> {
    match event.event() {
        Ok(Some(known)) => known_event(&known),
        // Of a newer version, or damaged: shown as it is.
        Ok(None) | Err(_) => vec![entry(one_line(&event.kind), short(&event.payload.to_string()))],
    }
}

fn known_event(event: &Event) -> Vec<Entry> {
    let one = match event {
        Event::Assistant(message) => return message.content.iter().filter_map(block).collect(),
        Event::MessageAccepted(it) => {
            let from = one_line(&it.sender);
            entry("accepted", format!("{} from {from}: {}", it.message, short(&it.preview)))
        }
        Event::TurnStarted(it) if it.messages.is_empty() => {
            entry("turn", "started by the backend itself")
        }
        Event::TurnStarted(it) => {
            entry("turn", format!("started for {}, attempt {}", names(&it.messages), it.attempt))
        }
        Event::TurnSteered(it) => {
            let how = if it.how == How::Read { "read" } else { "was given" };
            entry("turn", format!("{how} {}", names(&it.messages)))
        }
        Event::ToolResult(it) => {
            let how = if it.is_error { " failed" } else { "" };
            entry("result", format!("{}{how}: {}", one_line(&it.name), short(&it.preview)))
        }
        Event::Sent(it) => {
            entry("said", format!("to {}: {}", one_line(&it.to.to_string()), short(&it.preview)))
        }
        Event::TurnEnded(it) => entry("turn", ended(&it.outcome.to_string(), it.reason.as_deref())),
        Event::ApprovalAsked(it) => {
            entry(format!("approval {}", it.number), asked(it.number, (&it.tool, &it.summary)))
        }
        Event::ApprovalDecided(it) => {
            let said = decided(it.decision);
            entry(format!("approval {}", it.number), format!("{said} by {}", one_line(&it.by)))
        }
        Event::QuestionAsked(it) => question(it),
        Event::QuestionAnswered(it) => {
            let answer = format!("{} answers: {}", one_line(&it.answerer), short(&it.answer));
            entry(format!("question {}", it.id), answer)
        }
        Event::Finding(it) => finding(it),
        Event::Whisper(it) => whispered(it),
        Event::WhisperDelivered(it) => whisper_delivered(it),
        Event::Verdict(it) => verdict(it),
        Event::Phase(it) => {
            entry("phase", format!("{} → {}", one_line(it.from.as_str()), one_line(it.to.as_str())))
        }
        Event::StartStep(it) => start_step(it),
        // Each tells for programs what other kinds tell for people.
        Event::SessionStart(_)
        | Event::SessionStop(_)
        | Event::OnMessage(_)
        | Event::OnError(_) => return Vec::new(),
        Event::Alert(it) => entry("alert", format!("{}: {}", it.event, short(&it.text))),
        Event::Notice(it) => {
            entry("notice", format!("{}: {}", one_line(&it.code), short(&it.text)))
        }
    };
    vec![one]
}

fn question(it: &QuestionAsked) -> Entry {
    let asks = format!("{} asks: {}", one_line(it.asker.as_str()), short(&it.question));
    entry(format!("question {}", it.id), asks)
}

fn verdict(it: &Verdict) -> Entry {
    let (by, verdict) = (one_line(&it.by), one_line(it.verdict.as_str()));
    let message = match it.message.as_str() {
        "" => String::new(),
        message => format!(": {}", short(message)),
    };
    entry("supervisor", format!("{by}: {verdict}{message}"))
}

fn finding(it: &Finding) -> Entry {
    let by = it.by.as_deref().map_or_else(String::new, |by| format!(" by {}", one_line(by)));
    let chosen = it.choice.as_ref().map(|choice| format!(" ({})", one_line(choice.as_str())));
    let state = one_line(it.state.as_str());
    let text = format!("{state}{by}{}: {}", chosen.unwrap_or_default(), short(&it.cause));
    entry(format!("finding {}", it.number), text)
}

fn start_step(step: &StartStep) -> Entry {
    let state = match step.state {
        StepState::Done => "done",
        StepState::Absent => "absent",
    };
    entry("start", format!("{}: {state}", one_line(&step.step)))
}

fn whispered(whisper: &Whisper) -> Entry {
    let Whisper { id, whisper_type, source, text, by, .. } = whisper;
    let by = one_line(by.as_deref().unwrap_or(source.as_str()));
    let kind = one_line(whisper_type.as_str());
    entry(format!("whisper {id}"), format!("{kind} from {by}: {}", short(text)))
}

fn whisper_delivered(delivered: &WhisperDelivered) -> Entry {
    let ids: Vec<String> = delivered.ids.iter().map(ToString::to_string).collect();
    let road = one_line(delivered.road.as_str());
    entry(format!("whisper {}", ids.join(", ")), format!("delivered by {road}"))
}

fn decided(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allowed",
        Decision::Deny => "denied",
    }
}

fn block(block: &Block) -> Option<Entry> {
    match block {
        Block::Text { text } if text.trim().is_empty() => None,
        Block::Text { text } => Some(entry("text", short(text))),
        Block::ToolUse { name, input, .. } => {
            Some(entry("tool", format!("{} {}", one_line(name), short(&input.to_string()))))
        }
        Block::Thinking { .. } => Some(entry("thinking", "…")),
    }
}

/// Returns how a turn ended.
#[must_use]
pub fn ended(outcome: &str, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("ended: {} ({})", one_line(outcome), short(reason)),
        None => format!("ended: {}", one_line(outcome)),
    }
}

fn names(messages: &[MessageId]) -> String {
    match messages {
        [] => "nobody".to_owned(),
        all => all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Returns what an approval asks for; what is cut says where all of it is.
#[must_use]
pub fn asked(number: ApprovalNumber, (tool, summary): (&str, &str)) -> String {
    let shown = short(summary);
    let pointer = if view::is_cut(summary) || shown != one_line(summary) {
        format!("; `gangline approvals {number}` shows all of it")
    } else {
        String::new()
    };
    format!("asked: {}: {shown}{pointer}", one_line(tool))
}

/// Returns the beginning of a foreign text on one line.
#[must_use]
pub fn short(text: &str) -> String {
    cut(&one_line(text), TEXT_MAX)
}

#[cfg(test)]
mod tests;
