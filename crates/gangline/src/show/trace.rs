//! The life of one message on one screen, in the order of time.

use std::fmt::Write as _;

use gangline_agent::log::{self as events, Entry};
use gangline_core::{MessageId, MessageState, Origin, act::ActKind, outcome::OutcomeWord};
use gangline_os::clock::UnixMicros;
use gangline_store::{
    ActAgain, ApprovalRow, Made, MessageRow, OutboxRow, OutboxState, Trace, TurnRow,
};
use jiff::tz::TimeZone;

use super::text::{Paint, day, lines, one_line, paint, time};

use crate::view;

#[cfg(test)]
mod tests;

/// Events of these kinds are told by rows that know more.
const TOLD_BY_ROWS: [&str; 7] = [
    "message_accepted",
    "turn_started",
    "turn_steered",
    "turn_ended",
    "sent",
    "approval_asked",
    "approval_decided",
];

struct Step {
    at: UnixMicros,
    paint: Paint,
    told: Entry,
}

/// Returns the screen.
pub(crate) fn screen(trace: &Trace, zone: &TimeZone) -> String {
    let mut out = heading(trace);
    let mut steps = steps(trace);
    // Steps of the same moment keep the order in which they were found.
    steps.sort_by_key(|step| step.at);
    let mut today = String::new();
    for Step { at, paint: colour, told } in steps {
        let its_day = day(at, zone);
        if its_day != today {
            let _ = writeln!(out, "\n{}", paint(Paint::Dim, &its_day));
            today = its_day;
        }
        let at = paint(Paint::Dim, &time(at, zone));
        let what = paint(colour, &format!("{:<12}", told.what));
        let _ = writeln!(out, "{at}  {what} {}", told.text);
    }
    out.push_str(&ending(trace));
    out
}

fn heading(trace: &Trace) -> String {
    let message = &trace.message;
    format!(
        "{}  to {}  {}\n{}, from {}\n> {}\n",
        paint(Paint::Bold, &message.id.to_string()),
        message.agent,
        paint(state_paint(message.state), message.state.as_str()),
        way(message),
        author(message),
        events::short(message.body.as_str()),
    )
}

/// Returns how the message came, and where.
fn way(message: &MessageRow) -> String {
    let place = message.target.starts_with('#').then(|| one_line(&message.target));
    let place = place.map_or_else(String::new, |room| format!(" in {room}"));
    let way = match message.origin {
        Origin::Mention => "a mention",
        Origin::Direct => "a private message",
        Origin::Cli => "the command line",
        Origin::Http => "the HTTP interface",
        Origin::Agent => "a tool of an agent",
        Origin::Reminder => "a reminder",
        Origin::Answer => "an answer to its question",
        Origin::Wake => "a wake by a program",
        Origin::System => "a note of Gangline itself",
    };
    format!("{way}{place}")
}

/// Returns who wrote the message: the name that was seen, the account if it has another name, and
/// what the account may do if neither says so.
fn author(message: &MessageRow) -> String {
    let (who, tier) = (&message.principal, message.principal.tier.as_str());
    let mut known = vec![message.sender.as_str()];
    let mut text = one_line(&message.sender);
    if message.origin == Origin::Wake {
        // A program has no account: whoever let it in gave it these rights.
        return format!("{text}, with {tier} rights");
    }
    match who.account.strip_prefix('~') {
        Some(_) => text.push_str(", not logged in"),
        None if who.account == message.sender || who.account == tier => {}
        None => {
            text.push_str(&format!(", logged in as {}", one_line(&who.account)));
            known.push(&who.account);
        }
    }
    match known.contains(&tier) {
        true => text,
        false => format!("{text} ({tier})"),
    }
}

fn state_paint(state: MessageState) -> Paint {
    match state {
        MessageState::Answered | MessageState::NoReply => Paint::Green,
        MessageState::Accepted | MessageState::InTurn | MessageState::Held => Paint::Yellow,
        MessageState::Failed
        | MessageState::Expired
        | MessageState::Refused
        | MessageState::Cancelled
        | MessageState::DeadLetter => Paint::Red,
    }
}

fn steps(trace: &Trace) -> Vec<Step> {
    let mut steps = vec![step(trace.message.accepted_at, "accepted", String::new())];
    if let Some(root) = trace.message.cause_root {
        let hops = trace.message.hops;
        steps.push(step(trace.message.accepted_at, "caused by", format!("{root}, hop {hops}")));
    }
    steps.extend(trace.turns.iter().map(|turn| started(trace, turn)));
    for event in &trace.events {
        if !TOLD_BY_ROWS.contains(&event.kind.as_str()) {
            let told = events::describe(&events::record(event));
            steps.extend(told.into_iter().map(|told| Step {
                at: event.at,
                paint: Paint::Plain,
                told,
            }));
        }
    }
    steps.extend(trace.approvals.iter().flat_map(approval));
    steps.extend(trace.made.iter().map(made));
    steps.extend(trace.again.iter().map(|again| repeated(trace, again)));
    steps.extend(trace.outbox.iter().flat_map(|row| line(row, trace.message.id)));
    steps.extend(trace.turns.iter().filter_map(|turn| ended(trace, turn)));
    steps.extend(settled(trace));
    steps
}

fn step(at: UnixMicros, what: impl Into<String>, text: impl Into<String>) -> Step {
    Step { at, paint: Paint::Plain, told: Entry { what: what.into(), text: text.into() } }
}

fn started(trace: &Trace, turn: &TurnRow) -> Step {
    let taken = view::how_taken(&trace.events, turn.turn, trace.message.id);
    let text = taken.map_or_else(String::new, |it| format!("{}, attempt {}", it.how, it.attempt));
    step(turn.started_at, format!("turn {}", turn.turn), text)
}

fn ended(trace: &Trace, turn: &TurnRow) -> Option<Step> {
    let reason = trace
        .events
        .iter()
        .filter(|event| event.turn == Some(turn.turn) && event.kind == "turn_ended")
        .find_map(|event| events::record(event).payload["reason"].as_str().map(str::to_owned));
    let outcome = turn.outcome.as_ref();
    let completed = outcome.is_some_and(|it| it.word == OutcomeWord::Completed);
    let paint = if completed { Paint::Green } else { Paint::Red };
    let outcome = outcome.map_or_else(|| "?".to_owned(), ToString::to_string);
    let told = Entry {
        what: format!("turn {}", turn.turn),
        text: events::ended(&outcome, reason.as_deref()),
    };
    Some(Step { at: turn.ended_at?, paint, told })
}

fn approval(row: &ApprovalRow) -> Vec<Step> {
    let name = format!("approval {}", row.number);
    let asked = events::asked(row.number, (&row.tool, row.summary.as_str()));
    let mut steps = vec![Step {
        at: row.opened_at,
        paint: Paint::Yellow,
        told: Entry { what: name.clone(), text: asked },
    }];
    if let Some(at) = row.closed_at {
        let account = || row.decided_by.as_ref().map(|by| by.account.clone());
        let by = row.decided_as.clone().or_else(account);
        let by = by.map(|by| format!(" by {}", one_line(&by)));
        let note = row.note.as_ref().map(|note| format!(" ({})", events::short(note.as_str())));
        let (by, note) = (by.unwrap_or_default(), note.unwrap_or_default());
        steps.push(step(at, name, format!("{}{by}{note}", row.state)));
    }
    steps
}

fn made(row: &Made) -> Step {
    let to = if row.to.is_empty() { String::new() } else { format!("to {}: ", row.to) };
    step(row.at, row.what.as_str(), format!("{to}{}", events::short(row.body.as_str())))
}

/// A call that was answered with what an earlier attempt had done.
fn repeated(trace: &Trace, again: &ActAgain) -> Step {
    let act = &again.act;
    let number = act.number;
    let named = match act.kind {
        ActKind::Send => act.message.map_or_else(|| format!("o{number}"), |it| it.to_string()),
        ActKind::Letter => format!("letter {number}"),
        ActKind::Question => format!("question {number}"),
        ActKind::Reminder => format!("reminder {number}"),
        ActKind::Change => format!("approval {number}"),
        ActKind::Order => "the order".to_owned(),
    };
    let line = trace.outbox.iter().find(|row| act.kind == ActKind::Send && row.id.0 == number);
    let body = line.map(|row| (row.target.clone(), row.body.as_str()));
    let made = trace.made.iter().find(|row| row.what == named);
    let body = body.or_else(|| made.map(|row| (row.to.clone(), row.body.as_str())));
    let body = body.map_or_else(String::new, |(to, body)| {
        let to = if to.is_empty() { to } else { format!(" to {}", one_line(&to)) };
        format!("{to}: {}", events::short(body))
    });
    step(again.at, "not repeated", format!("{named} of turn {}{body}", act.turn))
}

/// One line that was sent: when it was committed, and its delivery.
fn line(row: &OutboxRow, message: MessageId) -> Vec<Step> {
    let part =
        if row.parts > 1 { format!(" {}/{}", row.part + 1, row.parts) } else { String::new() };
    let answer = if row.in_reply_to == Some(message) { " (answer)" } else { "" };
    let said =
        format!("to {}{answer}: {}", one_line(&row.target), events::short(row.body.as_str()));
    let what = format!("line{part}");
    let mut steps = vec![step(row.created_at, what.clone(), said)];
    let tries =
        if row.attempts > 1 { format!(" after {} tries", row.attempts) } else { String::new() };
    let doubled = if row.may_be_doubled { "; may be doubled" } else { "" };
    let (at, paint, text) = match row.state {
        OutboxState::Queued => (None, Paint::Yellow, String::new()),
        OutboxState::Sent => (row.sent_at, Paint::Yellow, format!("sent, not confirmed{doubled}")),
        OutboxState::Confirmed => {
            (row.settled_at, Paint::Green, format!("confirmed{tries}{doubled}"))
        }
        OutboxState::Undeliverable => {
            let why = events::short(row.why.as_deref().unwrap_or("no reason is known"));
            (row.settled_at, Paint::Red, format!("undeliverable: {why}"))
        }
    };
    if let Some(at) = at {
        steps.push(Step { at, paint, told: Entry { what, text } });
    }
    steps
}

fn settled(trace: &Trace) -> Option<Step> {
    let message = &trace.message;
    let reason = message.reason.as_deref().map(events::short).unwrap_or_default();
    let told = Entry { what: message.state.to_string(), text: reason };
    Some(Step { at: message.settled_at?, paint: state_paint(message.state), told })
}

/// The whole answer, or what the message waits for.
fn ending(trace: &Trace) -> String {
    let message = &trace.message;
    if let Some(answer) = &message.answer {
        return format!("\n{}\n{}\n", paint(Paint::Bold, "answer"), lines(answer.as_str()));
    }
    if let (MessageState::Held, Some(cause)) = (message.state, &trace.cause) {
        let (root, why) = (cause.root, message.reason.as_deref().map(events::short));
        return format!(
            "\nheld: {}\n{root} has used {}\n`gangline release {root}` lets it continue, `gangline \
             interrupt --cause {root}` ends it\n",
            why.unwrap_or_default(),
            cause.used.in_words()
        );
    }
    match (message.state.is_terminal(), &message.reason) {
        (false, Some(reason)) => format!("\nnot settled yet: {}\n", events::short(reason)),
        (false, None) => "\nnot settled yet\n".to_owned(),
        (true, _) => String::new(),
    }
}
