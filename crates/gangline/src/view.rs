//! From the store's rows to the wire's types. Pure.

use std::collections::BTreeMap;

use gangline_api::{
    approval::Approval,
    event::{EVENT_VERSION, EventRecord, TakeRecord, stored_payload},
    status::{AgentStatus, Seen, Situation, State, StatusNote, Task, WaitingFor},
    trace::{Trace, TracedCause, TracedMessage, TracedSend, TracedTurn},
};
use gangline_core::{
    AgentName, Epoch, MessageId, TurnId, agent::AgentPhase, answer::How, word::Stored,
};
use gangline_os::{clock::rfc3339, lock::Holder};
use gangline_store as store;
use gangline_store::{AgentRow, ApprovalRow, CauseRow, Held, MessageRow, OutboxRow};

#[cfg(test)]
pub(crate) mod tests;

/// Everything about one agent that a status is made of.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) nick: AgentName,
    pub(crate) row: Option<AgentRow>,
    /// Who holds the agent's lock: its daemon, if it runs.
    pub(crate) holder: Option<Holder>,
    /// How many messages wait for a turn.
    pub(crate) waiting: u64,
    /// What is held, by cause.
    pub(crate) held: Vec<Held>,
    pub(crate) working: Vec<MessageId>,
    /// The open ones.
    pub(crate) approvals: Vec<ApprovalRow>,
    /// Why the configuration cannot be used: no daemon starts by it.
    pub(crate) trouble: Option<String>,
}

/// Returns the agent's status (R0-52), as far as it can be told from outside its daemon.
pub(crate) fn status(facts: &Facts) -> AgentStatus {
    let row = facts.row.as_ref();
    let runs = facts.holder.is_some();
    let note = note(row).unwrap_or_default();
    let phase = phase(facts);
    let paused = row.is_some_and(|row| row.paused);
    // What a daemon said of its own troubles ends with it; what it counted does not.
    let login = note.needs_login.filter(|_| runs);
    let (degraded, compacting) = (runs && note.degraded, runs && note.compacting);
    let rate_limited = runs && note.rate_limited;
    // A breaker stays open, whoever is gone.
    let is_parked = phase == AgentPhase::Parked;
    let parked = note.parked.filter(|_| is_parked);
    let irc = note.irc.filter(|_| runs);
    let needs_login = login.is_some();
    let seen = Seen { phase: phase.known(), paused, needs_login, compacting, ..Seen::default() };
    let state = State::of(seen);
    let approval = facts.approvals.first().map(|row| (row.number, row.tool.as_str()));
    let worked = working(facts);
    let situation = Situation {
        state,
        task: note.task.as_ref().or(worked.as_ref()),
        tool: None,
        approval,
        login: login.as_deref(),
        parked: parked.as_deref(),
        waiting: facts.waiting,
        rate_limited,
        paused,
        degraded,
    };
    let description = match (&facts.trouble, state) {
        (Some(trouble), State::Down) => format!("{}; {trouble}", situation.describe()),
        (Some(_), _) | (None, _) => situation.describe(),
    };
    let approvals = facts.approvals.iter().map(waiting_for);
    AgentStatus {
        nick: facts.nick.clone(),
        running: runs && !is_parked,
        paused,
        circuit_open: is_parked,
        turn_count: note.turn_count,
        last_activation: note.last_activation,
        activity: state.activity(),
        description,
        epoch: row.map(|row| row.epoch).filter(|epoch| *epoch != Epoch(0)),
        pid: facts.holder.as_ref().and_then(|holder| holder.pid),
        session: row.and_then(|row| row.session.clone()),
        tool: None,
        task: note.task,
        pending: facts.waiting,
        waiting_for: approvals
            .chain(login.map(|hint| WaitingFor::Login { hint }))
            .chain(parked.map(|why| WaitingFor::Resume { why }))
            .chain(facts.held.iter().cloned().map(release))
            .chain(irc.map(|trouble| WaitingFor::Irc { trouble }))
            .collect(),
        needs_login,
        rate_limited,
        degraded,
        compacting,
        context_tokens: note.context_tokens,
        context_window: note.context_window,
        unread: BTreeMap::new(),
        channels: Vec::new(),
        version: note.version,
        model: note.model,
        runtime: note.runtime,
        configured_runtime: note.configured_runtime,
        permissions: note.permissions,
        unasked: note.unasked,
        phase,
    }
}

/// Returns the status with what only the daemon knows, so that every surface says the same: what it
/// does, with which tool, for whom.
pub(crate) fn asked(status: AgentStatus, daemon: Option<AgentStatus>) -> AgentStatus {
    match daemon {
        Some(daemon) if daemon.nick == status.nick => AgentStatus {
            description: daemon.description,
            activity: daemon.activity,
            tool: daemon.tool,
            task: daemon.task,
            channels: daemon.channels,
            ..status
        },
        Some(_) | None => status,
    }
}

fn note(row: Option<&AgentRow>) -> Option<StatusNote> {
    serde_json::from_str(row?.status_json.as_deref()?).ok()
}

/// Returns what the turn is about, where the daemon has not said it.
fn working(facts: &Facts) -> Option<Task> {
    let message = facts.working.first().copied()?;
    Some(Task {
        message: Some(message),
        sender: String::new(),
        place: String::new(),
        since: String::new(),
        text: String::new(),
    })
}

/// A daemon that is gone cannot say that it is down; what it said last counts for nothing then,
/// but a breaker stays open.
fn phase(facts: &Facts) -> Stored<AgentPhase> {
    let said = facts.row.as_ref().and_then(|row| row.phase.clone());
    match (said, &facts.holder) {
        (Some(Stored::Known(AgentPhase::Parked)), _) => AgentPhase::Parked.into(),
        (_, None) => AgentPhase::Down.into(),
        // A daemon that says so of its backend runs itself.
        (Some(Stored::Known(AgentPhase::Down)) | None, Some(_)) => AgentPhase::Starting.into(),
        (Some(said), Some(_)) => said,
    }
}

fn release(held: Held) -> WaitingFor {
    WaitingFor::Release { cause: held.root, messages: held.messages, why: held.why }
}

fn waiting_for(row: &ApprovalRow) -> WaitingFor {
    WaitingFor::Approval {
        number: row.number,
        tool: row.tool.clone(),
        summary: row.summary.to_string(),
        asked_at: rfc3339(row.opened_at),
    }
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
        state: row.state,
        asked_at: rfc3339(row.opened_at),
        decided_at: row.closed_at.map(rfc3339),
        decided_by: row.decided_by.as_ref().map(|by| by.account.clone()),
        decided_as: row.decided_as.clone(),
        folder: row.folder.as_ref().map(ToString::to_string),
        said_before: row.said_before.as_ref().map(ToString::to_string),
        note: row.note.as_ref().map(ToString::to_string),
    }
}

/// Returns an event as clients get it. A payload that is no JSON becomes a string.
pub(crate) fn event(row: &store::Event) -> EventRecord {
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

fn cause(row: &CauseRow) -> TracedCause {
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    TracedCause {
        root: row.root,
        turns: count(row.used.turns),
        agents: count(row.used.agents),
        tokens: count(row.used.tokens),
        held: count(row.held),
        held_at: row.held_at.map(rfc3339),
        ended_by: row.ended_by.clone(),
    }
}

/// Returns the whole life of a message.
pub(crate) fn trace(trace: &store::Trace) -> Trace {
    let id = trace.message.id;
    Trace {
        message: message(&trace.message),
        cause: trace.cause.as_ref().map(cause),
        turns: trace
            .turns
            .iter()
            .map(|turn| TracedTurn {
                turn: turn.turn,
                how: how_taken(&trace.events, turn.turn, id)
                    .map_or_else(|| How::Woke.into(), |taken| taken.how),
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
    pub(crate) how: Stored<How>,
    /// From 1.
    pub(crate) attempt: u32,
}

/// Returns how a message came into a turn, if that was recorded.
pub(crate) fn how_taken(
    events: &[store::Event],
    turn: TurnId,
    message: MessageId,
) -> Option<HowTaken> {
    let of_turn = events.iter().filter(|event| event.turn == Some(turn));
    let takes = of_turn.filter_map(|row| TakeRecord::read(&row.kind, row.payload.as_str()));
    takes.into_iter().find_map(|record| {
        let taken = record.messages.iter().find(|taken| taken.id == message)?;
        Some(HowTaken { how: record.how.clone(), attempt: taken.attempt })
    })
}
