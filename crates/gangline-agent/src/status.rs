//! An agent's status (R0-52, C28), made only here: in the daemon from its live state, in commands
//! from the daemon's row. Start at [`Known::status`].

use std::collections::BTreeMap;

use gangline_api::{
    budget::Counted,
    status::{AgentStatus, RunningTool, Seen, Situation, State, StatusNote, Task, WaitingFor},
};
use gangline_core::{
    AgentName, Epoch, agent::AgentPhase, budget, name::ChannelName, question::text, word::Stored,
};
use gangline_mcp::table::Tool;
use gangline_os::clock::{UnixMicros, rfc3339};
use gangline_store::{
    ApprovalRow, ChangeKind, ChangeRow, Held, QuestionFilter, QuestionRow, SpentRow, Store,
    StoreError,
};
use jiff::{Timestamp, Zoned, tz::TimeZone};

/// What is known of an agent at one moment.
#[derive(Debug)]
pub struct Known {
    /// The agent.
    pub nick: AgentName,
    /// Whether its daemon runs.
    pub runs: bool,
    /// The phase, as it is shown.
    pub phase: Stored<AgentPhase>,
    /// What the words for its state follow from.
    pub seen: Seen,
    /// What its daemon said of itself, as far as that still holds.
    pub note: StatusNote,
    /// What the open turn is about, where the daemon has not said it.
    pub works_on: Option<Task>,
    /// The tool that runs.
    pub tool: Option<RunningTool>,
    /// The generation of its daemon.
    pub epoch: Option<Epoch>,
    /// The process id of its daemon.
    pub pid: Option<u32>,
    /// The backend's own session id.
    pub session: Option<String>,
    /// Why no daemon of it can start.
    pub trouble: Option<String>,
    /// What the store and the chat know of it.
    pub around: Around,
}

/// What the store and the chat know of an agent.
#[derive(Debug, Clone, Default)]
pub struct Around {
    /// The open approvals.
    pub approvals: Vec<ApprovalRow>,
    /// The changes that it asked for and nobody has decided.
    pub changes: Vec<ChangeRow>,
    /// The open questions that it asked people.
    pub questions: Vec<QuestionRow>,
    /// Messages accepted and not yet in a turn.
    pub pending: u64,
    /// What is held, by cause.
    pub held: Vec<Held>,
    /// See [`AgentStatus::spent`].
    pub spent: Vec<Counted>,
    /// See [`AgentStatus::unread`].
    pub unread: BTreeMap<String, u64>,
    /// See [`AgentStatus::channels`].
    pub channels: Vec<ChannelName>,
}

impl Around {
    /// Asks the store for everything that it knows.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn read(
        store: &Store,
        agent: &AgentName,
        now: UnixMicros,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            spent: spent(store, agent, now).await?,
            approvals: store.approvals(Some(agent), true).await?,
            changes: store.changes(Some(agent), true).await?,
            questions: questions(store, agent).await?,
            pending: store.waiting(agent).await?,
            held: store.held(agent).await?,
            ..Self::default()
        })
    }
}

/// Returns what an agent has spent on the day of `now`, by the clock on the wall here.
///
/// # Errors
/// The database cannot be read.
pub(crate) async fn spent(
    store: &Store,
    agent: &AgentName,
    now: UnixMicros,
) -> Result<Vec<Counted>, StoreError> {
    let stamp = Timestamp::from_microsecond(now.0).unwrap_or_default();
    let day = budget::day(&Zoned::new(stamp, TimeZone::system()));
    let since = day.map_or(now, |day| UnixMicros(day.begins));
    let rows = store.spent_by_agent(Some(agent), since).await?;
    let counted = |row: SpentRow| Counted::of(row.source, &row.spent, row.cache_read);
    Ok(rows.into_iter().map(counted).collect())
}

impl Known {
    /// Returns the status.
    #[must_use]
    pub fn status(self) -> AgentStatus {
        let description = self.describe();
        let Self { nick, runs, phase, seen, note, tool, epoch, pid, session, around, .. } = self;
        let parked = phase == AgentPhase::Parked;
        let login = note.needs_login.filter(|_| seen.needs_login);
        let waiting_for = around.approvals.iter().map(approval);
        AgentStatus {
            nick,
            running: runs && !parked,
            paused: seen.paused,
            pauses: note.pauses,
            escalated: note.escalated.is_some(),
            circuit_open: parked,
            turn_count: note.turn_count,
            last_activation: note.last_activation,
            activity: State::of(seen).activity(),
            description,
            phase,
            epoch,
            pid,
            session,
            tool,
            task: note.task,
            pending: around.pending,
            waiting_for: waiting_for
                .chain(around.changes.iter().map(change))
                .chain(around.questions.iter().map(question))
                .chain(login.map(|hint| WaitingFor::Login { hint }))
                .chain(note.escalated.map(|why| WaitingFor::Guidance { why }))
                .chain(note.parked.map(|why| WaitingFor::Resume { why }))
                .chain(around.held.into_iter().map(release))
                .chain(note.irc.map(|trouble| WaitingFor::Irc { trouble }))
                .collect(),
            needs_login: seen.needs_login,
            rate_limited: note.rate_limited,
            degraded: note.degraded,
            compacting: note.compacting,
            context_tokens: note.context_tokens,
            context_window: note.context_window,
            unread: around.unread,
            channels: around.channels,
            version: note.version,
            model: note.model,
            effort: note.effort,
            whispers: note.whispers,
            runtime: note.runtime,
            configured_runtime: note.configured_runtime,
            permissions: note.permissions,
            unasked: note.unasked,
            spent: around.spent,
            supervisor: note.supervisor,
        }
    }

    /// Returns a sentence for people.
    fn describe(&self) -> String {
        let state = State::of(self.seen);
        let note = &self.note;
        let situation = Situation {
            state,
            task: note.task.as_ref().or(self.works_on.as_ref()),
            tool: self.tool.as_ref(),
            approval: self.around.approvals.first().map(|row| (row.number, row.tool.as_str())),
            question: self.around.questions.first().map(|row| row.number),
            login: note.needs_login.as_deref(),
            parked: note.parked.as_deref(),
            last_failure: note.last_failure.as_deref(),
            start_notice: note.start_notice.as_deref(),
            waiting: self.around.pending,
            rate_limited: note.rate_limited,
            effort: note.effort.as_deref(),
            paused: self.seen.paused,
            pauses: &note.pauses,
            degraded: note.degraded,
            zone: &TimeZone::system(),
        };
        match (&self.trouble, state) {
            (Some(trouble), State::Down) => format!("{}; {trouble}", situation.describe()),
            (Some(_), _) | (None, _) => situation.describe(),
        }
    }
}

fn approval(row: &ApprovalRow) -> WaitingFor {
    WaitingFor::Approval {
        number: row.number,
        tool: row.tool.clone(),
        summary: row.summary.to_string(),
        asked_at: rfc3339(row.opened_at),
    }
}

fn change(row: &ChangeRow) -> WaitingFor {
    WaitingFor::Approval {
        number: row.number,
        tool: tool_of(row.kind).to_owned(),
        summary: row.summary.to_string(),
        asked_at: rfc3339(row.asked_at),
    }
}

/// Returns the tool by which a manager asks for such a change.
#[must_use]
pub fn tool_of(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Spawn => Tool::RequestSpawn.name(),
        ChangeKind::Config => Tool::RequestApplyCommit.name(),
    }
}

/// Returns the open questions that an agent asked people, the oldest first.
///
/// # Errors
/// The database cannot be read.
pub(crate) async fn questions(
    store: &Store,
    agent: &AgentName,
) -> Result<Vec<QuestionRow>, StoreError> {
    let asker = Some(agent.clone());
    let mut rows =
        store.questions(QuestionFilter { asker, ..QuestionFilter::default() }, 0).await?;
    rows.retain(|row| row.asked.agents().is_empty());
    rows.reverse();
    Ok(rows)
}

fn question(row: &QuestionRow) -> WaitingFor {
    WaitingFor::Question {
        number: row.number,
        question: text::one_line(row.body.as_str()),
        asked_at: rfc3339(row.asked_at),
    }
}

fn release(held: Held) -> WaitingFor {
    WaitingFor::Release { cause: held.root, messages: held.messages, why: held.why }
}
