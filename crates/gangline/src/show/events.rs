//! Events: what an agent did, one line each.

use std::fmt::Write as _;

use gangline_api::event::{
    Event, EventRecord, HookData, HookPayload, OnMessage, SessionStart, SessionStop, StepState,
};
use gangline_core::{
    ApprovalNumber, MessageId, answer::How, approval::view, block::Block, hook::WebhookEvent,
};
use gangline_os::clock::parse_rfc3339;
use jiff::tz::TimeZone;

use super::text::{Paint, cut, day, one_line, paint, time};

#[cfg(test)]
mod tests;

/// How much of a text is shown, in characters.
const TEXT_MAX: usize = 160;

/// What happened, in two parts: a word and the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) what: String,
    pub(crate) text: String,
}

fn entry(what: impl Into<String>, text: impl Into<String>) -> Entry {
    Entry { what: what.into(), text: text.into() }
}

/// How much `logs` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What the agent was asked and did, and what went wrong.
    Work,
    /// The program's own steps, too.
    All,
}

/// Returns the lines of `logs`; none if nothing of that depth has happened.
pub(crate) fn list(events: &[EventRecord], depth: Depth, zone: &TimeZone) -> String {
    let mut out = String::new();
    for event in events {
        let at = match parse_rfc3339(&event.at) {
            Some(at) => format!("{} {}", day(at, zone), time(at, zone)),
            None => one_line(&event.at),
        };
        let turn = event.turn.map_or_else(|| "-".to_owned(), |turn| turn.to_string());
        for Entry { what, text } in at_depth(event, depth) {
            let _ = writeln!(
                out,
                "{} {} {turn:<6} {what:<11} {text}",
                paint(Paint::Dim, &at),
                event.agent
            );
        }
    }
    out
}

/// Returns whether `logs` shows anything of an event.
pub(crate) fn is_shown(event: &EventRecord, depth: Depth) -> bool {
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
        | Event::OnMessage(_) => false,
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
pub(crate) fn describe(event: &EventRecord) -> Vec<Entry> {
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
            let said = match it.decision {
                gangline_api::approval::Decision::Allow => "allowed",
                gangline_api::approval::Decision::Deny => "denied",
            };
            entry(format!("approval {}", it.number), format!("{said} by {}", one_line(&it.by)))
        }
        Event::Phase(it) => {
            entry("phase", format!("{} → {}", one_line(it.from.as_str()), one_line(it.to.as_str())))
        }
        Event::StartStep(it) => {
            let state = match it.state {
                StepState::Done => "done",
                StepState::Absent => "absent",
            };
            entry("start", format!("{}: {state}", one_line(&it.step)))
        }
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
pub(crate) fn ended(outcome: &str, reason: Option<&str>) -> String {
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
pub(crate) fn asked(number: ApprovalNumber, (tool, summary): (&str, &str)) -> String {
    let shown = short(summary);
    let pointer = if view::is_cut(summary) || shown != one_line(summary) {
        format!("; `gangline approvals {number}` shows all of it")
    } else {
        String::new()
    };
    format!("asked: {}: {shown}{pointer}", one_line(tool))
}

/// Returns the beginning of a foreign text on one line.
pub(crate) fn short(text: &str) -> String {
    cut(&one_line(text), TEXT_MAX)
}
