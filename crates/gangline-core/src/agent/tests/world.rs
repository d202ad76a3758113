//! What stands around the agent in the property tests: a store, a runtime and people, each of which
//! checks what it is asked for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::*;
use crate::{answer::Settlement, message::MessageState};

mod effort;
mod obey;

#[derive(Debug)]
pub(super) struct Open {
    pub(super) turn: TurnId,
    messages: BTreeSet<MessageId>,
    /// T1 is committed.
    pub(super) recorded: bool,
    last_sign: Now,
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) agent: Agent,
    pub(super) now: Now,
    /// The store's rows: state and counted attempts.
    pub(super) rows: BTreeMap<MessageId, (MessageState, i64)>,
    pub(super) open: Option<Open>,
    asked: BTreeSet<(TurnId, ApprovalRequestId)>,
    /// The generation that runs, and whether it is ready.
    pub(super) alive: Option<(Generation, bool)>,
    /// When the generation got ready, and whether a turn with messages has ended in it.
    proven: (Now, bool),
    lives: i64,
    deaths: VecDeque<Now>,
    /// Messages in each of the deaths that parked it, and those of the park before the last resume:
    /// their further deaths do not count.
    suspects: [Vec<MessageId>; 2],
    /// Why nothing is fed, and until when.
    pub(super) paused: BTreeMap<PauseReason, Option<Now>>,
    pub(super) degraded: bool,
    draining: bool,
    parked: bool,
    pub(super) drained: bool,
    /// What the store will give once it is asked to.
    rescan: bool,
    pub(super) interrupting: bool,
    ended: BTreeSet<TurnId>,
    pub(super) answers: BTreeMap<MessageId, usize>,
    /// Joined a turn, and refused by the store, which has not said so yet.
    refused: BTreeSet<(TurnId, MessageId)>,
    /// The last report of the context stood at the watermark or above.
    pub(super) above: bool,
    /// The notes were asked for since.
    pub(super) noted: bool,
    /// The last turn for notes.
    notes: Option<TurnId>,
    /// How often the watermark had the context compacted since, and whether that failed since the
    /// last time.
    pub(super) orders: (u32, bool),
    between: Between,
    efforts: effort::Efforts,
}

/// What is owed to the session between turns, and what became of a prompt that did not fit.
#[derive(Debug, Default)]
pub(super) struct Between {
    /// A person wants it.
    clear: bool,
    compact: bool,
    model: bool,
    effort: bool,
    /// A turn failed because its prompt did not fit.
    failed: bool,
    /// The open turn's prompt did not fit.
    over: bool,
    /// The context is made shorter for it.
    compacting: bool,
    /// That was done before.
    again: bool,
}

impl Between {
    fn is_owed(&self) -> bool {
        self.clear || self.compact || self.model || self.effort
    }
}

impl World {
    pub(super) fn new(options: AgentOptions) -> Self {
        Self {
            refused: BTreeSet::new(),
            agent: Agent::new(options),
            now: Now::default(),
            rows: BTreeMap::new(),
            open: None,
            asked: BTreeSet::new(),
            alive: None,
            proven: (Now::default(), false),
            lives: 0,
            deaths: VecDeque::new(),
            suspects: [Vec::new(), Vec::new()],
            paused: BTreeMap::new(),
            degraded: false,
            draining: false,
            parked: false,
            drained: false,
            rescan: false,
            interrupting: false,
            ended: BTreeSet::new(),
            answers: BTreeMap::new(),
            above: false,
            noted: false,
            notes: None,
            orders: (0, false),
            between: Between::default(),
            efforts: effort::Efforts::default(),
        }
    }

    pub(super) fn message(&mut self, id: MessageId) {
        // It may wait no more: what the store tells can be late.
        let (_, attempt) = *self.rows.entry(id).or_insert((MessageState::Accepted, 0));
        self.give(Input::Message(Queued { attempt, cause: effort::cause_of(id), ..queued(id.0) }));
    }

    pub(super) fn give(&mut self, input: Input) {
        self.note(&input);
        let before = self.agent.view();
        let deadline = self.agent.next_deadline();
        let effects = self.agent.handle(self.now, input.clone());
        assert!(!self.drained || effects.is_empty(), "{effects:?} after the drain");
        for effect in effects {
            self.obey(effect, deadline);
        }
        self.lowered();
        let view = self.agent.view();
        let held: Vec<_> = view.pauses.iter().map(|held| held.reason).collect();
        assert!(self.drained || held == self.holding(), "{view:?}");
        assert_eq!(view.paused, !held.is_empty());
        if input == Input::Tick {
            let next = self.agent.next_deadline();
            assert!(next.is_none_or(|next| next > self.now), "hot loop: {before:?} {view:?}");
        }
        if view.phase == PhaseName::Parked {
            assert_eq!(view.waiting, 0, "parked holds no message");
        }
        // Deaths that do not park would restart for ever; one more may try a new session.
        let idle = self.open.is_none() && !self.drained && !self.draining;
        assert!(!idle || self.alive.is_some() || self.parked || self.recent_deaths() < 4);
        assert_eq!(view.turn, self.open.as_ref().map(|open| open.turn));
        assert_eq!(view.approvals, self.asked.len());
    }

    /// Returns the reasons for which nothing may be fed now.
    pub(super) fn holding(&self) -> Vec<PauseReason> {
        let holds = |until: &Option<Now>| until.is_none_or(|until| until > self.now);
        self.paused.iter().filter(|(_, until)| holds(until)).map(|(reason, _)| *reason).collect()
    }

    /// Keeps in step with what the outside does by itself.
    fn note(&mut self, input: &Input) {
        self.note_one(input);
        if !self.noted {
            self.orders = (0, false);
        }
    }

    fn note_one(&mut self, input: &Input) {
        match input {
            Input::Pause { reason, until } => self.pauses(*reason, *until),
            Input::Unpause { reason } => {
                self.paused.remove(reason);
            }
            Input::Operator(Operator::Resume) => {
                self.paused.retain(|reason, _| !reason.ends_with_resume());
                if self.parked {
                    self.deaths = [self.now; 2].into();
                    let [found, _] = std::mem::take(&mut self.suspects);
                    self.suspects[1] = found;
                }
                self.parked = false;
            }
            Input::StoreDegraded => self.degraded = true,
            Input::StoreOk => self.degraded = false,
            Input::Drain(_) => self.draining = true,
            Input::TakeFailed { turn, gone } if self.is_taking(*turn) => {
                self.degraded |= gone.is_empty();
                self.noted &= self.notes != Some(*turn);
                self.open = None;
            }
            Input::Taken { turn } if self.is_taking(*turn) => {
                let Some(open) = &mut self.open else { return };
                open.recorded = true;
                open.last_sign = self.now;
                for id in open.messages.clone() {
                    self.move_row(id, MessageState::Accepted, MessageState::InTurn);
                }
            }
            Input::Decision { turn, request, .. } => {
                if self.asked.contains(&(*turn, request.clone())) {
                    self.sign();
                }
            }
            Input::Runtime(report) => self.note_report(report),
            Input::JoinFailed { turn, messages } => {
                if let Some(open) = self.open.as_mut().filter(|open| open.turn == *turn) {
                    open.messages.retain(|id| !messages.contains(id));
                }
            }
            Input::Change(ContextChange::Clear) => {
                (self.above, self.noted) = (false, false);
                (self.between.clear, self.between.compact) = (true, false);
            }
            Input::Change(ContextChange::Compact) => self.between.compact |= !self.between.clear,
            Input::ModelChosen(_) => self.between.model = self.alive.is_some(),
            Input::EffortChosen => self.between.effort = self.alive.is_some(),
            Input::Message(_)
            | Input::ThinkDeeper { .. }
            | Input::Cancelled { .. }
            | Input::TakeFailed { .. }
            | Input::Taken { .. }
            | Input::Joined { .. }
            | Input::Read { .. }
            | Input::Sent { .. }
            | Input::NoReply { .. }
            | Input::Operator(Operator::Interrupt(_))
            | Input::Tick => {}
        }
    }

    fn pauses(&mut self, reason: PauseReason, until: Option<Until>) {
        self.paused.insert(reason, until.map(|until| self.now.plus(until.wait)));
    }

    #[allow(clippy::too_many_lines, reason = "a line or a few for each report")]
    fn note_report(&mut self, report: &RuntimeInput) {
        match report {
            RuntimeInput::Ready { generation } => {
                if let Some((alive, ready)) = &mut self.alive
                    && alive == generation
                {
                    if !*ready {
                        self.proven = (self.now, false);
                    }
                    *ready = true;
                }
            }
            RuntimeInput::Ended { generation } => {
                if let Some((alive, ready)) = self.alive
                    && alive == *generation
                {
                    self.alive = None;
                    let lived = self.now.since(self.proven.0) >= Duration::from_secs(60);
                    let well = ready && self.open.is_none() && (lived || self.proven.1);
                    if !well && !self.interrupting {
                        self.died();
                    }
                }
            }
            RuntimeInput::Exited { generation, by } => {
                if self.alive.is_some_and(|(alive, _)| alive == *generation) {
                    self.alive = None;
                    if *by == EndedBy::Itself && !self.interrupting {
                        self.died();
                    }
                }
            }
            RuntimeInput::Accepted { turn }
            | RuntimeInput::Output { turn }
            | RuntimeInput::Steered { turn, .. }
            | RuntimeInput::Text { turn, .. }
            | RuntimeInput::ToolResult { turn, .. }
            | RuntimeInput::ApprovalAsked { turn, .. }
            | RuntimeInput::ApprovalWithdrawn { turn, .. } => {
                if self.open.as_ref().is_some_and(|open| open.turn == *turn) {
                    self.sign();
                }
            }
            RuntimeInput::Holds { tokens, .. } => {
                self.above = *tokens >= 100;
                self.noted &= self.above;
            }
            RuntimeInput::Compacted { generation } if self.is_alive(*generation) => {
                (self.above, self.noted) = (false, false);
                // No matter for whom: it is shorter than when a person asked for that.
                self.between.compact = false;
            }
            RuntimeInput::NotCompacted { generation } if self.is_alive(*generation) => {
                self.orders.1 = true;
            }
            RuntimeInput::Finished { turn, how: Finish::Overflow } => {
                self.between.over |= self.is_recorded(*turn);
            }
            RuntimeInput::Can { generation, abilities } => self.can_think(*generation, *abilities),
            RuntimeInput::Began { .. }
            | RuntimeInput::Primes { .. }
            | RuntimeInput::Compacted { .. }
            | RuntimeInput::NotCompacted { .. }
            | RuntimeInput::Unusable { .. }
            | RuntimeInput::Finished { .. }
            | RuntimeInput::NeedsLogin { .. }
            | RuntimeInput::LoggedIn { .. } => {}
        }
    }

    fn sign(&mut self) {
        if let Some(open) = &mut self.open {
            open.last_sign = self.now;
        }
    }

    /// Those of the open turn that the store has in it.
    pub(super) fn joined(&self) -> Option<(TurnId, Vec<MessageId>)> {
        let turn = self.agent.view().turn?;
        let messages = self.agent.view().messages.into_iter();
        Some((turn, messages.filter(|id| !self.refused.contains(&(turn, *id))).collect()))
    }

    pub(super) fn is_taking(&self, turn: TurnId) -> bool {
        self.open.as_ref().is_some_and(|open| open.turn == turn && !open.recorded)
    }

    fn move_row(&mut self, id: MessageId, from: MessageState, to: MessageState) {
        let Some((state, _)) = self.rows.get_mut(&id) else { panic!("no row {id}") };
        assert_eq!(*state, from, "{id}");
        *state = to;
    }

    fn died(&mut self) {
        let view = self.agent.view();
        let given = matches!(view.phase, PhaseName::Prompting | PhaseName::Working);
        let [_, known] = &self.suspects;
        if !given || !view.messages.iter().any(|id| known.contains(id)) {
            self.deaths.push_back(self.now);
        }
    }

    fn is_alive(&self, generation: Generation) -> bool {
        self.alive.is_some_and(|(alive, _)| alive == generation)
    }

    /// What people asked of a session in which no turn is open is done.
    pub(super) fn owes_nothing_between_turns(&self) {
        let idle = self.alive.is_some_and(|(_, ready)| ready) && self.open.is_none();
        assert!(!idle || !self.between.is_owed(), "{:?}", self.between);
    }

    fn recent_deaths(&self) -> usize {
        let window = Duration::from_secs(300);
        self.deaths.iter().filter(|death| self.now.since(**death) < window).count()
    }

    fn is_recorded(&self, turn: TurnId) -> bool {
        self.open.as_ref().is_some_and(|open| open.turn == turn && open.recorded)
    }

    fn missed(&mut self, which: Deadline, turn: Option<TurnId>, deadline: Option<Now>) {
        assert!(deadline.is_some_and(|deadline| deadline <= self.now), "fired early");
        assert!(self.asked.is_empty(), "a deadline fired while an approval was open");
        match which {
            Deadline::Start => {
                assert!(turn.is_none());
                self.deaths.push_back(self.now);
            }
            Deadline::TurnOutput => {
                let Some(open) = &self.open else { panic!("no turn") };
                assert!(self.now.since(open.last_sign) >= Duration::from_secs(600));
            }
            Deadline::InterruptGrace => assert!(self.interrupting),
        }
    }

    fn end(&mut self, turn: TurnId, outcome: &Outcome, settle: &[Settlement]) {
        let Some(open) = self.open.take() else { panic!("{turn} ended, but none is open") };
        self.interrupting = false;
        self.thought(&open, settle);
        assert!(open.turn == turn && open.recorded, "{turn} never started");
        assert!(self.ended.insert(turn), "{turn} ended twice");
        assert!(self.asked.is_empty(), "approvals leak: {:?}", self.asked);
        let settled: Vec<MessageId> = settle.iter().map(|one| one.message).collect();
        let distinct: BTreeSet<MessageId> = settled.iter().copied().collect();
        assert_eq!(distinct.len(), settled.len(), "settled twice");
        assert_eq!(distinct, open.messages, "each message of the turn once ({outcome})");
        for one in settle {
            // The store passes over what is not in the turn.
            if self.refused.contains(&(turn, one.message)) {
                continue;
            }
            self.move_row(one.message, MessageState::InTurn, one.state);
            let Some((_, attempts)) = self.rows.get_mut(&one.message) else { continue };
            *attempts += i64::from(one.counts_attempt);
            assert!(*attempts <= 5, "attempts are limited");
            if one.relay.is_some() {
                *self.answers.entry(one.message).or_default() += 1;
            }
        }
    }

    /// Does what the store owes: answers T1, and gives what waits if it was asked to.
    pub(super) fn serve(&mut self, writes: bool) {
        if let Some(open) = self.open.as_ref().filter(|open| !open.recorded) {
            let turn = open.turn;
            let taken = |id: &&MessageId| {
                self.rows.get(id).is_none_or(|(state, _)| *state != MessageState::Accepted)
            };
            let gone: Vec<MessageId> = open.messages.iter().filter(taken).copied().collect();
            if !writes {
                self.give(Input::TakeFailed { turn, gone: Vec::new() });
            } else if gone.is_empty() {
                self.give(Input::Taken { turn });
            } else {
                self.give(Input::TakeFailed { turn, gone });
            }
        }
        for (turn, id) in std::mem::take(&mut self.refused) {
            self.give(Input::JoinFailed { turn, messages: vec![id] });
            self.rescan = true;
        }
        if std::mem::take(&mut self.rescan) {
            self.scan();
        }
    }

    pub(super) fn scan(&mut self) {
        let waits: Vec<MessageId> = self
            .rows
            .iter()
            .filter(|(_, (state, _))| *state == MessageState::Accepted)
            .map(|(id, _)| *id)
            .collect();
        for id in waits {
            self.message(id);
        }
    }
}
