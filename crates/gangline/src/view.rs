//! From the store's rows to the wire's types. Pure.

use gangline_agent::{
    attention, log,
    status::{Around, Known, tool_of},
};
use gangline_api::{
    approval::{AllowedBefore, Approval, ApprovalState, Decision},
    event::TakeRecord,
    status::{AgentStatus, Seen, StatusNote, Task},
    trace::{Trace, TracedCause, TracedMessage, TracedRepeat, TracedSend, TracedTurn},
};
use gangline_core::{
    AgentName, Epoch, MessageId, TurnId, agent::AgentPhase, answer::How, word::Stored,
};
use gangline_os::{
    clock::{self, rfc3339},
    lock::Holder,
};
use gangline_store as store;
use gangline_store::{
    ActAgain, AgentRow, ApprovalRow, CauseRow, ChangeRow, ChangeState, MessageRow, OutboxRow,
};

#[cfg(test)]
pub(crate) mod tests;

/// Everything about one agent that a status is made of.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) nick: AgentName,
    pub(crate) row: Option<AgentRow>,
    /// Who holds the agent's lock: its daemon, if it runs.
    pub(crate) holder: Option<Holder>,
    pub(crate) working: Vec<MessageId>,
    /// What waits, and for whom.
    pub(crate) around: Around,
    /// Why the configuration cannot be used: no daemon starts by it.
    pub(crate) trouble: Option<String>,
}

impl Facts {
    /// Returns what is seen of an agent before the store is asked for what waits.
    pub(crate) fn new(nick: AgentName, row: Option<AgentRow>, holder: Option<Holder>) -> Self {
        Self { nick, row, holder, working: Vec::new(), around: Around::default(), trouble: None }
    }
}

/// Returns the agent's status (R0-52), as far as it can be told from outside its daemon.
pub(crate) fn status(facts: &Facts) -> AgentStatus {
    let row = facts.row.as_ref();
    let phase = phase(facts);
    let note = holding(note(row).unwrap_or_default(), facts, &phase);
    let seen = Seen {
        phase: phase.known(),
        paused: !note.pauses.is_empty(),
        needs_login: note.needs_login.is_some(),
        compacting: note.compacting,
        ..Seen::default()
    };
    Known {
        nick: facts.nick.clone(),
        runs: facts.holder.is_some(),
        phase,
        seen,
        note,
        works_on: working(facts),
        tool: None,
        epoch: row.map(|row| row.epoch).filter(|epoch| *epoch != Epoch(0)),
        pid: facts.holder.as_ref().and_then(|holder| holder.pid),
        session: row.and_then(|row| row.session.clone()),
        trouble: facts.trouble.clone(),
        around: facts.around.clone(),
    }
    .status()
}

/// Returns what still holds of what a daemon said last: its troubles ended with it, what it counted did
/// not, and a breaker stays open, whoever is gone.
fn holding(note: StatusNote, facts: &Facts, phase: &Stored<AgentPhase>) -> StatusNote {
    let parked = note.parked.clone().filter(|_| *phase == AgentPhase::Parked);
    let row = facts.row.as_ref();
    let now = clock::system().now();
    let pauses = row.map_or_else(Vec::new, |row| row.holding(now).map(attention::shown).collect());
    let escalated = row
        .and_then(AgentRow::escalated)
        .map(|row| row.note.as_ref().map_or_else(String::new, ToString::to_string));
    let note = StatusNote { pauses, escalated, ..note };
    match facts.holder {
        Some(_) => StatusNote { parked, ..note },
        None => StatusNote {
            parked,
            needs_login: None,
            irc: None,
            degraded: false,
            compacting: false,
            rate_limited: false,
            effort: None,
            whispers: 0,
            ..note
        },
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
        allowed_before: row
            .before
            .as_ref()
            .map(|before| AllowedBefore { by: before.by.clone(), at: rfc3339(before.at) }),
        state: row.state,
        asked_at: rfc3339(row.opened_at),
        decided_at: row.closed_at.map(rfc3339),
        decided_by: row.decided_by.as_ref().map(|by| by.account.clone()),
        decided_as: row.decided_as.clone(),
        folder: row.folder.as_ref().map(ToString::to_string),
        said_before: row.said_before.as_ref().map(ToString::to_string),
        note: row.note.as_ref().map(ToString::to_string),
        progress: None,
        outcome: None,
    }
}

/// Returns what a manager has asked for as an approval.
pub(crate) fn change(row: &ChangeRow) -> Approval {
    let state = match (row.state, row.decision) {
        (ChangeState::Requested, _) | (_, None) => ApprovalState::Open,
        (_, Some(Decision::Allow)) => ApprovalState::Allowed,
        (_, Some(Decision::Deny)) => ApprovalState::Denied,
    };
    Approval {
        number: row.number,
        agent: row.agent.clone(),
        turn: row.turn,
        message: row.message,
        tool: tool_of(row.kind).to_owned(),
        summary: row.summary.to_string(),
        detail: row.detail.to_string(),
        allowed_before: None,
        state,
        asked_at: rfc3339(row.asked_at),
        decided_at: row.decided_at.map(rfc3339),
        decided_by: row.decided_by.as_ref().map(|by| by.account.clone()),
        decided_as: row.decided_as.clone(),
        folder: None,
        said_before: Some(row.reason.to_string()).filter(|reason| !reason.is_empty()),
        note: row.note.as_ref().map(ToString::to_string),
        progress: Some(row.state.as_str().to_owned()),
        outcome: row.outcome.as_ref().map(ToString::to_string),
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
        repeats: trace.again.iter().map(repeat).collect(),
        approvals: trace.approvals.iter().map(approval).collect(),
        events: trace.events.iter().map(log::record).collect(),
    }
}

fn repeat(again: &ActAgain) -> TracedRepeat {
    TracedRepeat {
        turn: again.turn,
        at: rfc3339(again.at),
        kind: again.act.kind.into(),
        number: Some(again.act.number).filter(|number| *number != 0),
        message: again.act.message,
        done_by: again.act.turn,
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
