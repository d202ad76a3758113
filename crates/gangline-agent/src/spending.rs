//! The task that knows the agent's budgets: it records what the relay has counted, adds up what was
//! spent today, holds the agent when a budget is spent, and tells the relay where to stop. An agent without
//! budgets still obeys the fleet's hold.
//!
//! It owns what it has told already; sums are rows of the store. Start at [`Spending::run`].

use std::collections::BTreeMap;

use gangline_core::{
    AgentName, TurnId,
    budget::{
        self, Budget, BudgetAction, BudgetScope, CallOutcome, Day, Spent, Standing, UsageSource,
    },
    finding::{Choice, ChoiceWord, FindingKind, Severity},
    pause::PauseReason,
    price::{Prices, Tokens},
    usage::Spender,
};
use gangline_os::{CancellationToken, change_notice, clock::UnixMicros, paths::Paths};
use gangline_relay::{Limits, Report, Stop};
use gangline_store::{AlertWords, NewFinding, NewUsage, RelayedCall, Store, StoreError};
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use crate::{bus::Incoming, identity::Identity, relaying, speech::TurnContext, texts};

/// Of English text and of code; of other languages a token has fewer, so the estimate is low for them.
const BYTES_PER_TOKEN: i64 = 4;
/// So many open calls are read at once.
const SETTLED_AT_ONCE: u32 = 100;

/// Why the task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpendingEnd {
    /// The daemon ends, and what the relay has counted is recorded.
    Closed,
}

/// What the task needs.
pub(crate) struct SpendingDeps {
    pub(crate) me: Identity,
    pub(crate) store: Store,
    pub(crate) agent_loop: mpsc::Sender<Incoming>,
    /// Every budget that bounds the agent.
    pub(crate) budgets: Vec<(BudgetScope, Budget)>,
    /// The agents of the configuration.
    pub(crate) everybody: Vec<AgentName>,
    /// Where they hear of a hold of all.
    pub(crate) paths: Paths,
    /// The open turn.
    pub(crate) context: watch::Receiver<Option<TurnContext>>,
    /// What models cost.
    pub(crate) prices: Prices,
    /// Where the relay stops; there may be none.
    pub(crate) limits: watch::Sender<Limits>,
}

/// What wakes the task.
pub(crate) struct Wakes {
    /// What the relay counted; `None` = there is no relay.
    pub(crate) reports: Option<mpsc::Receiver<Report>>,
    /// The loop has committed something.
    pub(crate) committed: watch::Receiver<u64>,
    pub(crate) ticks: watch::Receiver<u64>,
}

/// See the module.
pub(crate) struct Spending {
    deps: SpendingDeps,
    /// The last open turn.
    turn: Option<TurnId>,
    /// What of the relay's totals is in the store: tokens and money.
    recorded: (u64, u64),
    /// How each budget stood when it was last told, and its limits then.
    told: BTreeMap<BudgetScope, (Standing, Budget)>,
    /// The day for which that holds.
    day: String,
    /// The budgets that hold the agent, its own or a room's, and what people are told about each.
    held: BTreeMap<BudgetScope, String>,
    /// The hold of the fleet that this agent has followed.
    fleet: Option<i64>,
    /// What an earlier daemon told may hold no more.
    first: bool,
}

impl Spending {
    pub(crate) fn new(deps: SpendingDeps) -> Self {
        Self {
            deps,
            turn: None,
            recorded: (0, 0),
            told: BTreeMap::new(),
            day: String::new(),
            held: BTreeMap::new(),
            fleet: None,
            first: true,
        }
    }

    /// Looks whenever something was used, and at each tick, until `closed`. Cancel-safe: no.
    pub(crate) async fn run(mut self, mut wakes: Wakes, closed: CancellationToken) -> SpendingEnd {
        if let Err(error) = self.settle().await {
            warn!(%error, "calls that an earlier daemon has left open are not counted yet");
        }
        loop {
            if let Err(error) = self.look().await {
                warn!(%error, "cannot add up what was spent");
            }
            let report = async {
                match &mut wakes.reports {
                    Some(reports) => reports.recv().await,
                    None => std::future::pending().await,
                }
            };
            let report = tokio::select! {
                biased;
                report = report => report,
                () = closed.cancelled() => break,
                Ok(()) = wakes.committed.changed() => None,
                Ok(()) = wakes.ticks.changed() => None,
            };
            if let Some(report) = report {
                self.record(report).await;
            }
            while let Some(report) = wakes.reports.as_mut().and_then(|it| it.try_recv().ok()) {
                self.record(report).await;
            }
        }
        while let Some(report) = wakes.reports.as_mut().and_then(|it| it.try_recv().ok()) {
            self.record(report).await;
        }
        SpendingEnd::Closed
    }

    fn today(&self) -> Option<(Day, UnixMicros)> {
        let now = self.deps.me.clock.now();
        Some((relaying::today(now)?, now))
    }

    /// Counts the calls that an earlier daemon was killed in. Nobody knows what they used: the length of the
    /// request tells about as much, so that a daemon that dies in each call still spends its budget.
    async fn settle(&mut self) -> Result<(), StoreError> {
        let (agent, epoch) = (self.deps.me.agent.clone(), self.deps.me.epoch);
        loop {
            let open = self.deps.store.unsettled(&agent, epoch, SETTLED_AT_ONCE).await?;
            if open.is_empty() {
                return Ok(());
            }
            info!(
                calls = open.len(),
                "calls of the model that an earlier daemon has left open are counted"
            );
            for row in open {
                let input = row
                    .bytes
                    .map(|bytes| bytes.saturating_add(BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN);
                let input = input.filter(|input| *input > 0);
                let usage = input.map(|input| self.estimated(&row.model, input));
                let call = RelayedCall {
                    noted: Some(row.id),
                    agent: agent.clone(),
                    usage,
                    day: row.day,
                    outcome: CallOutcome::Unsettled,
                    first_byte_micros: 0,
                    lasted_micros: 0,
                };
                self.deps.store.relayed(call).await?;
            }
        }
    }

    /// Returns what a call is taken to have used of which only the length of the prompt is known.
    fn estimated(&self, model: &str, input: i64) -> NewUsage {
        let tokens = Tokens { input: u64::try_from(input).unwrap_or(0), ..Tokens::default() };
        let cost = self.deps.prices.cost(model, &tokens);
        NewUsage {
            agent: self.deps.me.agent.clone(),
            turn: None,
            by: Spender::Agent,
            model: model.to_owned(),
            input,
            output: 0,
            cache_read: 0,
            cache_write: 0,
            cost_micros: cost.map(|micros| i64::try_from(micros).unwrap_or(i64::MAX)),
            source: UsageSource::Relay,
        }
    }

    /// Records a call of the relay.
    async fn record(&mut self, report: Report) {
        let open = self.deps.context.borrow().as_ref().map(|context| context.turn);
        self.turn = open.or(self.turn);
        let column = |many: u64| i64::try_from(many).unwrap_or(i64::MAX);
        let micros =
            |time: std::time::Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let agent = self.deps.me.agent.clone();
        let usage = report.tokens.map(|tokens| NewUsage {
            agent: agent.clone(),
            turn: self.turn,
            by: Spender::Agent,
            model: report.model.clone(),
            input: column(tokens.input),
            output: column(tokens.output),
            cache_read: column(tokens.cache_read),
            cache_write: column(tokens.cache_write.saturating_add(tokens.cache_write_hour)),
            cost_micros: report.cost_micros.map(column),
            source: UsageSource::Relay,
        });
        let Some((day, _)) = self.today() else { return };
        let call = RelayedCall {
            noted: report.noted,
            agent,
            usage,
            day: day.name,
            outcome: report.outcome,
            first_byte_micros: micros(report.first_byte),
            lasted_micros: micros(report.lasted),
        };
        match self.deps.store.relayed(call).await {
            Ok(()) => {
                let tokens = report.tokens.map_or(0, |tokens| tokens.counted());
                self.recorded.0 = self.recorded.0.saturating_add(tokens);
                self.recorded.1 =
                    self.recorded.1.saturating_add(report.cost_micros.unwrap_or_default());
            }
            // What is not recorded stays in the relay's totals, so a budget still stops.
            Err(error) => warn!(%error, "a call of the model is not recorded"),
        }
    }

    /// Adds up, and does what follows.
    async fn look(&mut self) -> Result<(), StoreError> {
        let Some((day, now)) = self.today() else { return Ok(()) };
        if self.deps.budgets.is_empty() {
            self.follow(now).await?;
            self.first = false;
            return Ok(());
        }
        if day.name != self.day {
            self.new_day(&day).await;
        }
        let mut stops = Vec::new();
        let mut holds = false;
        for (scope, configured) in self.deps.budgets.clone() {
            let spent = self.deps.store.spent(scope.clone(), UnixMicros(day.begins)).await?;
            let raised = self.deps.store.raised(scope.clone(), &day.name).await?;
            let budget = configured.raised(&raised);
            if budget.action == BudgetAction::Stop {
                stops.push(self.stop((&scope, &budget), &spent, &day));
            }
            holds |= self.tell((&scope, &budget), &spent, &day).await?;
        }
        self.deps.limits.send_if_modified(|now| {
            let differs = now.0 != stops;
            if differs {
                now.0 = stops;
            }
            differs
        });
        if self.first && !holds {
            self.send(Incoming::Unpause(PauseReason::Budget)).await;
        }
        self.break_fleet(now).await?;
        self.follow(now).await?;
        self.first = false;
        Ok(())
    }

    async fn new_day(&mut self, day: &Day) {
        self.day.clone_from(&day.name);
        let told = std::mem::take(&mut self.told);
        for (scope, _) in told.into_iter().filter(|(_, (how, _))| *how != Standing::Fine) {
            self.send(Incoming::FindingResolved { key: key(&scope) }).await;
        }
        if !std::mem::take(&mut self.held).is_empty() {
            self.send(Incoming::Unpause(PauseReason::Budget)).await;
        }
    }

    /// Returns where the relay has to stop for a budget.
    fn stop(&self, (scope, budget): (&BudgetScope, &Budget), spent: &Spent, day: &Day) -> Stop {
        let (tokens, micros) = budget.left(spent);
        Stop {
            tokens: tokens.map(|left| left.saturating_add(self.recorded.0)),
            micros: micros.map(|left| left.saturating_add(self.recorded.1)),
            until: UnixMicros(day.ends),
            why: texts::budget_refused(scope),
        }
    }

    /// Reports each change of a budget once. Returns whether it holds the agent now. The hold comes first,
    /// so that the agent is held when somebody reads the report.
    async fn tell(
        &mut self,
        (scope, budget): (&BudgetScope, &Budget),
        spent: &Spent,
        day: &Day,
    ) -> Result<bool, StoreError> {
        let now = (budget.standing(spent), *budget);
        let before = self.told.insert(scope.clone(), now);
        if before == Some(now) {
            return Ok(false);
        }
        let was = before.map_or(Standing::Fine, |(standing, _)| standing);
        let cause = texts::budget_stands(scope, budget, spent);
        let stops = now.0 == Standing::Spent && budget.action != BudgetAction::Warn;
        info!(%scope, standing = ?now.0, cause, "a budget stands differently");
        if *scope == BudgetScope::Day && stops {
            // Who opens the hold tells of it: once for the whole installation.
            let until = Some(UnixMicros(day.ends));
            self.hold_fleet(&cause, until).await?;
            return Ok(false);
        }
        let until = Some(UnixMicros(day.ends));
        if stops {
            self.held.insert(scope.clone(), texts::budget_holds(scope, budget, spent));
            self.hold(until).await;
        }
        match now.0 {
            Standing::Fine => {
                if was != Standing::Fine || before.is_none() {
                    self.send(Incoming::FindingResolved { key: key(scope) }).await;
                }
            }
            Standing::Nearly | Standing::Spent if self.tells(scope) => {
                // People are alerted anew when it holds or stops the agent.
                let severity = if stops { Severity::Error } else { Severity::Warning };
                self.find(scope, &cause, severity).await
            }
            Standing::Nearly | Standing::Spent => {}
        }
        if !stops && self.held.remove(scope).is_some() {
            match self.held.is_empty() {
                true => self.send(Incoming::Unpause(PauseReason::Budget)).await,
                false => self.hold(until).await,
            }
        }
        Ok(stops)
    }

    /// Pauses the agent once for all budgets that hold it.
    async fn hold(&self, until: Option<UnixMicros>) {
        let why = self.held.values().map(String::as_str).collect::<Vec<_>>().join("; ");
        let (reason, note) = (PauseReason::Budget, Some(self.deps.me.redactor.redact(&why)));
        self.send(Incoming::Pause { reason, until, note }).await;
    }

    /// Returns whether this agent tells of a budget that several have: the first one of the file does.
    fn tells(&self, scope: &BudgetScope) -> bool {
        *scope != BudgetScope::Day || self.deps.everybody.first() == Some(&self.deps.me.agent)
    }

    async fn find(&self, scope: &BudgetScope, cause: &str, severity: Severity) {
        let agent = &self.deps.me.agent;
        let redact = |text: &str| self.deps.me.redactor.redact(text);
        let affects = match scope {
            BudgetScope::Agent(_) => String::new(),
            BudgetScope::Room(room) => format!("the agents in {room}"),
            BudgetScope::Day => "every agent of this installation".to_owned(),
        };
        // A fleet that parked is let go by a command that its cause names.
        let help = match cause == texts::FLEET_PARKED {
            true => String::new(),
            false => texts::budget_raise(scope),
        };
        let alert = redact(texts::budget_alert(agent, cause, &help).trim_end());
        let new = NewFinding {
            key: key(scope),
            severity,
            evidence: redact(&help),
            choices: vec![Choice::new(ChoiceWord::Dismiss, "it stays as it is until tomorrow")],
            affects: redact(&affects),
            alert: Some(AlertWords { text: alert, room_text: None }),
            ..NewFinding::new(agent.clone(), FindingKind::Budget, redact(cause))
        };
        self.send(Incoming::Finding(Box::new(new))).await;
    }

    /// Opens a hold of the fleet, unless one is open; then everybody hears of it at once.
    async fn hold_fleet(&self, why: &str, until: Option<UnixMicros>) -> Result<(), StoreError> {
        if self.deps.store.hold_fleet(why, until).await? {
            self.find(&BudgetScope::Day, why, Severity::Error).await;
            for agent in &self.deps.everybody {
                change_notice::notify(&self.deps.paths.change_notice(agent.folded()));
            }
        }
        Ok(())
    }

    /// Opens a hold of the fleet when half of the agents parked.
    async fn break_fleet(&mut self, now: UnixMicros) -> Result<(), StoreError> {
        let store = self.deps.store.clone();
        let rows = store.agents().await?;
        let released = store.fleet_released_at().await?.unwrap_or(UnixMicros(i64::MIN));
        let parked = rows.iter().filter(|row| row.is_parked() && row.updated_at > released);
        let parked: Vec<i64> = parked.map(|row| row.updated_at.0).collect();
        if budget::fleet_breaks(self.deps.everybody.len(), &parked, now.0) {
            self.hold_fleet(texts::FLEET_PARKED, None).await?;
        }
        Ok(())
    }

    /// Follows the hold of the fleet.
    async fn follow(&mut self, now: UnixMicros) -> Result<(), StoreError> {
        let store = self.deps.store.clone();
        let hold = store.fleet_hold().await?;
        let over = |until: Option<UnixMicros>| until.is_some_and(|until| until <= now);
        match hold {
            Some(hold) if over(hold.until) => {
                store.release_fleet("the next day").await?;
                self.let_fleet_go().await?;
            }
            Some(hold) if self.fleet != Some(hold.id) => {
                self.fleet = Some(hold.id);
                let (reason, until) = (PauseReason::Fleet, hold.until);
                let note = Some(self.deps.me.redactor.redact(&hold.why));
                self.send(Incoming::Pause { reason, until, note }).await;
            }
            Some(_) => {}
            None => self.let_fleet_go().await?,
        }
        Ok(())
    }

    /// The hold is over; it may have ended while this agent's daemon was down.
    async fn let_fleet_go(&mut self) -> Result<(), StoreError> {
        let kept = self.first && {
            let row = self.deps.store.agent(&self.deps.me.agent).await?;
            row.is_some_and(|row| row.pauses.iter().any(|it| it.reason == PauseReason::Fleet))
        };
        if self.fleet.take().is_some() || kept {
            self.send(Incoming::Unpause(PauseReason::Fleet)).await;
        }
        Ok(())
    }

    async fn send(&self, incoming: Incoming) {
        // A loop that has ended holds nothing.
        let _ = self.deps.agent_loop.send(incoming).await;
    }
}

fn key(scope: &BudgetScope) -> String {
    format!("budget/{scope}")
}
