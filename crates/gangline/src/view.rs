//! From the store's rows to the wire's types. Pure.

use gangline_api::{
    approval::{Approval, ApprovalState, Decision},
    event::{EVENT_VERSION, EventRecord, TurnStarted},
    status::{Activity, AgentStatus, WaitingFor},
    trace::{Trace, TracedMessage, TracedSend, TracedTurn},
};
use gangline_broker as broker;
use gangline_broker::{AgentRow, ApprovalRow, MessageRow, OutboxRow};
use gangline_core::{AgentName, Epoch, MessageId, TurnId};
use gangline_os::{clock::rfc3339, lock::Holder};
use serde_json::Value;

#[cfg(test)]
pub(crate) mod tests;

/// Everything about one agent that a status is made of.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) nick: AgentName,
    pub(crate) row: Option<AgentRow>,
    /// Who holds the agent's lock: its daemon, if it runs.
    pub(crate) holder: Option<Holder>,
    pub(crate) waiting: Vec<MessageId>,
    pub(crate) working: Vec<MessageId>,
    /// The open ones.
    pub(crate) approvals: Vec<ApprovalRow>,
}

/// Returns the agent's status (R0-52).
pub(crate) fn status(facts: &Facts) -> AgentStatus {
    let row = facts.row.as_ref();
    let told = row.and_then(|row| row.status_json.as_deref());
    let told: Value = told.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let phase = phase(facts);
    let paused = row.is_some_and(|row| row.paused);
    AgentStatus {
        nick: facts.nick.clone(),
        running: facts.holder.is_some() && phase != "parked",
        paused,
        circuit_open: phase == "parked",
        turn_count: told["turn_count"].as_u64().unwrap_or(0),
        last_activation: told["last_activation"].as_f64(),
        activity: activity(&phase, paused),
        description: describe(facts, &phase, paused),
        epoch: row.map(|row| row.epoch).filter(|epoch| *epoch != Epoch(0)),
        pid: facts.holder.as_ref().and_then(|holder| holder.pid),
        session: row.and_then(|row| row.session.clone()),
        pending: facts.waiting.len() as u64,
        waiting_for: facts.approvals.iter().map(waiting_for).collect(),
        phase,
    }
}

/// A daemon that is gone cannot say that it is down; what it said last counts for nothing then,
/// but a breaker stays open.
fn phase(facts: &Facts) -> String {
    let said = facts.row.as_ref().and_then(|row| row.phase.as_deref());
    match (said, &facts.holder) {
        (Some("parked"), _) => "parked",
        (_, None) => "down",
        (Some(said), Some(_)) => said,
        (None, Some(_)) => "starting",
    }
    .to_owned()
}

fn activity(phase: &str, paused: bool) -> Activity {
    match phase {
        "prompting" | "working" | "interrupting" => Activity::Working,
        _ if paused => Activity::Paused,
        _ => Activity::Idle,
    }
}

fn waiting_for(row: &ApprovalRow) -> WaitingFor {
    WaitingFor::Approval {
        number: row.number,
        tool: row.tool.clone(),
        summary: row.summary.to_string(),
        asked_at: rfc3339(row.opened_at),
    }
}

fn describe(facts: &Facts, phase: &str, paused: bool) -> String {
    let mut parts = Vec::new();
    match (facts.approvals.first(), phase) {
        (Some(row), "working") => parts.push(format!("waits for approval {}", row.number)),
        (_, "down") => parts.push("its daemon is not running".to_owned()),
        (_, "parked") => parts.push("its backend died too often".to_owned()),
        (_, "prompting" | "working") => match facts.working.first() {
            Some(message) => parts.push(format!("works on {message}")),
            None => parts.push("works".to_owned()),
        },
        (_, "interrupting") => parts.push("ends a turn".to_owned()),
        (_, "starting") => parts.push("its backend starts".to_owned()),
        (_, _) if paused => {}
        (_, _) => parts.push("waits to be asked".to_owned()),
    }
    if paused {
        parts.push("paused".to_owned());
    }
    match facts.waiting.len() {
        0 => {}
        1 => parts.push("1 message waits".to_owned()),
        many => parts.push(format!("{many} messages wait")),
    }
    parts.join(", ")
}

/// Returns an approval as every surface shows it.
pub(crate) fn approval(row: &ApprovalRow) -> Approval {
    Approval {
        number: row.number,
        agent: row.agent.clone(),
        turn: row.turn,
        message: row.message,
        tool: row.tool.clone(),
        summary: row.summary.to_string(),
        detail: row.detail.to_string(),
        state: match row.state {
            broker::ApprovalState::Open => ApprovalState::Open,
            broker::ApprovalState::Allowed => ApprovalState::Allowed,
            broker::ApprovalState::Denied => ApprovalState::Denied,
            broker::ApprovalState::Void => ApprovalState::Void,
            broker::ApprovalState::Withdrawn => ApprovalState::Withdrawn,
        },
        asked_at: rfc3339(row.opened_at),
        decided_at: row.closed_at.map(rfc3339),
        decided_by: row.decided_by.as_ref().map(|by| by.account.clone()),
        note: row.note.as_ref().map(ToString::to_string),
    }
}

/// Returns the store's word for what was said.
pub(crate) fn decision(decision: Decision) -> broker::Decision {
    match decision {
        Decision::Allow => broker::Decision::Allow,
        Decision::Deny => broker::Decision::Deny,
    }
}

/// Returns an event as clients get it. A payload that is no JSON becomes a string.
pub(crate) fn event(row: &broker::Event) -> EventRecord {
    EventRecord {
        v: u32::try_from(row.v).unwrap_or(EVENT_VERSION),
        seq: row.cursor().to_string(),
        agent: row.agent.clone(),
        turn: row.turn,
        kind: row.kind.clone(),
        at: rfc3339(row.at),
        payload: payload(row),
    }
}

/// Returns a message as a trace has it.
pub(crate) fn message(row: &MessageRow) -> TracedMessage {
    TracedMessage {
        id: row.id,
        agent: row.agent.clone(),
        origin: row.origin,
        principal: row.principal.clone(),
        sender: row.sender.clone(),
        target: row.target.parse().ok(),
        body: row.body.to_string(),
        state: row.state,
        reason: row.reason.clone(),
        answer: row.answer.as_ref().map(ToString::to_string),
        attempt: u32::try_from(row.attempt).unwrap_or(0),
        cause_root: row.cause_root,
        hops: u32::try_from(row.hops).unwrap_or(0),
        accepted_at: rfc3339(row.accepted_at),
        settled_at: row.settled_at.map(rfc3339),
    }
}

/// Returns the whole life of a message.
pub(crate) fn trace(trace: &broker::Trace) -> Trace {
    let id = trace.message.id;
    Trace {
        message: message(&trace.message),
        turns: trace
            .turns
            .iter()
            .map(|turn| TracedTurn {
                turn: turn.turn,
                how: how_taken(&trace.events, turn.turn, id)
                    .map_or_else(|| "woke".to_owned(), |taken| taken.how),
                started_at: rfc3339(turn.started_at),
                ended_at: turn.ended_at.map(rfc3339),
                outcome: turn.outcome.clone(),
            })
            .collect(),
        sends: trace.outbox.iter().filter_map(send).collect(),
        approvals: trace.approvals.iter().map(approval).collect(),
        events: trace.events.iter().map(event).collect(),
    }
}

/// A line to a place whose name cannot be read as one is left out of the JSON; people see it.
fn send(row: &OutboxRow) -> Option<TracedSend> {
    let count = |number: i64| u32::try_from(number).unwrap_or(0);
    Some(TracedSend {
        to: row.target.parse().ok()?,
        text: row.body.to_string(),
        state: row.state.to_string(),
        part: (count(row.part + 1), count(row.parts)),
        msgid: row.msgid.clone(),
        may_be_doubled: row.may_be_doubled,
        reason: row.why.clone(),
    })
}

/// How a message came into a turn, as the store recorded the take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HowTaken {
    /// `woke`, `steered` or `read`.
    pub(crate) how: String,
    /// From 1.
    pub(crate) attempt: u32,
}

/// Returns how a message came into a turn, if that was recorded.
pub(crate) fn how_taken(
    events: &[broker::Event],
    turn: TurnId,
    message: MessageId,
) -> Option<HowTaken> {
    let of_turn = events.iter().filter(|event| event.turn == Some(turn));
    of_turn.filter_map(take_record).find_map(|record| {
        let taken = record.messages.iter().find(|taken| taken.id == message)?;
        Some(HowTaken { how: record.how.clone(), attempt: taken.attempt })
    })
}

/// The store's own record of a take, which tells more than the wire's.
#[derive(Debug, serde::Deserialize)]
struct TakeRecord {
    how: String,
    messages: Vec<TakenMessage>,
}

#[derive(Debug, serde::Deserialize)]
struct TakenMessage {
    id: MessageId,
    attempt: u32,
}

fn take_record(event: &broker::Event) -> Option<TakeRecord> {
    if !["turn_started", "turn_steered"].contains(&event.kind.as_str()) {
        return None;
    }
    serde_json::from_str(event.payload.as_str()).ok()
}

/// Returns the payload in the wire's form.
fn payload(row: &broker::Event) -> Value {
    if let (Some(record), Some(turn), "turn_started") = (take_record(row), row.turn, &*row.kind) {
        let attempt = record.messages.iter().map(|taken| taken.attempt).max().unwrap_or(1);
        let messages = record.messages.iter().map(|taken| taken.id).collect();
        return serde_json::to_value(TurnStarted { turn, messages, attempt }).unwrap_or_default();
    }
    let text = row.payload.as_str();
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}
