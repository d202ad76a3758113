//! The supervisor: watches the agent's steps, and says what is whispered to it and when people are told
//! (R0-23 … R0-28, R1-30, R1-36).
//!
//! A task of its own, which the agent loop only feeds, without waiting ([`feed`]): whatever it does, it
//! delays no turn. Rules look at each step; after some turns a model is asked, in a session of its own
//! ([`evaluator`]). It never acts: it ends nothing, changes no file and sends nothing to the chat (R1-37);
//! what it finds goes to the agent loop. Start at [`Supervisor::run`].

use gangline_api::{
    event::{Event, Notice, Verdict as VerdictGiven},
    status::SupervisorStatus,
};
use gangline_core::{
    TurnId,
    budget::UsageSource,
    finding::FindingKind,
    redact::Redacted,
    time::Now,
    usage::Spender,
    watch::{Act, Detection, Detectors, Due, KEYS, Noticed, Step, Verdict, Watch, parse_verdict},
    whisper::{WhisperKind, WhisperSource},
};
use gangline_os::CancellationToken;
use gangline_runtime::Usage;
use gangline_store::{FindingFilter, NewFinding, NewUsage, PAGE_MAX, Store};
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use crate::{
    bus::{Escalation, Incoming, Whisper},
    identity::{Identity, new_event},
    rooms::Unread,
    showing::Showing,
    texts::supervisor as texts,
};

pub(crate) mod evaluator;
pub(crate) mod feed;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;

use evaluator::{Evaluator, Fault, Told};
use feed::{Fed, Seen};

/// How often a backend may fail in a row: it is started anew twice, then it is off.
pub(crate) const FAILURES_MOST: u32 = 3;
/// How many ticks an escalation may take to be seen in what the agent loop shows.
const UNSEEN_TICKS: u32 = 2;

/// Why the supervisor's task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SupervisorEnd {
    /// It was told to.
    Stopped,
    /// Nobody feeds it any more.
    Deserted,
}

/// The model's part.
pub(crate) struct Model {
    /// The backend's name.
    pub(crate) agent: String,
    pub(crate) evaluator: Evaluator,
}

/// The supervisor's task.
pub(crate) struct Supervisor {
    pub(crate) me: Identity,
    pub(crate) store: Store,
    pub(crate) agent_loop: mpsc::Sender<Incoming>,
    pub(crate) unread: watch::Receiver<Unread>,
    pub(crate) watch: Watch,
    pub(crate) detectors: Detectors,
    /// `None`: rules alone. One that is off stays: its backend's tasks are of the daemon's life.
    pub(crate) model: Option<Model>,
    pub(crate) state: State,
}

/// What the supervisor knows of itself.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// What people are shown.
    status: SupervisorStatus,
    /// The turn that was begun last.
    turn: Option<TurnId>,
    /// The last turn of those that the model judges, or has judged last.
    judged: Option<TurnId>,
    /// Failed evaluations in a row.
    failures: u32,
    escalation: Escalated,
    used: Usage,
}

/// Whether people have been asked to decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Escalated {
    #[default]
    No,
    /// The agent loop has been told, so many ticks ago.
    Told(u32),
    /// It is shown.
    Shown,
}

/// What the supervisor's task takes from.
pub(crate) struct Ends {
    pub(crate) fed: mpsc::Receiver<Fed>,
    pub(crate) showing: watch::Receiver<Showing>,
    pub(crate) ticks: watch::Receiver<u64>,
    pub(crate) stop: CancellationToken,
}

/// Who whispers, and what about.
#[derive(Debug, Clone)]
struct Grounds {
    source: WhisperSource,
    /// The key of a finding.
    finding: Option<String>,
    /// The last turn that was looked at.
    turn: Option<TurnId>,
}

enum Heard {
    Stop,
    Fed(Option<Fed>),
    Told(Told),
    Shown,
    Tick,
}

impl State {
    /// Returns the state at the start; `off` = why the model that was asked for is not used.
    pub(crate) fn new(agent: &str, model: Option<&str>, off: Option<String>) -> Self {
        let status = SupervisorStatus {
            agent: agent.to_owned(),
            model: model.map(str::to_owned),
            off,
            ..SupervisorStatus::default()
        };
        Self { status, ..Self::default() }
    }
}

impl Supervisor {
    /// Watches until it is told to stop. Not cancel-safe: a dropped one leaves its backend to the group
    /// that it runs in.
    pub(crate) async fn run(mut self, mut ends: Ends) -> SupervisorEnd {
        if let Some(why) = self.state.status.off.clone() {
            let text = texts::unusable(&self.state.status.agent, &why);
            self.notice("supervisor_off", text).await;
        }
        self.forget_earlier().await;
        self.shown(&mut ends.showing).await;
        self.show().await;
        let end = loop {
            let told = async {
                match &mut self.model {
                    Some(model) => model.evaluator.next().await,
                    None => std::future::pending().await,
                }
            };
            let heard = tokio::select! {
                () = ends.stop.cancelled() => Heard::Stop,
                fed = ends.fed.recv() => Heard::Fed(fed),
                told = told => Heard::Told(told),
                Ok(()) = ends.showing.changed() => Heard::Shown,
                Ok(()) = ends.ticks.changed() => Heard::Tick,
            };
            match heard {
                Heard::Stop => break SupervisorEnd::Stopped,
                Heard::Fed(None) => break SupervisorEnd::Deserted,
                Heard::Fed(Some(fed)) => self.fed(fed).await,
                Heard::Told(told) => self.told(told).await,
                Heard::Shown => self.shown(&mut ends.showing).await,
                Heard::Tick => self.tick(&ends.showing).await,
            }
        };
        if let Some(model) = &mut self.model {
            model.evaluator.end().await;
        }
        end
    }

    /// Resolves what the rules found in an earlier life of the daemon, which may have been killed: what
    /// still holds is found again.
    async fn forget_earlier(&self) {
        let filter = FindingFilter { agent: Some(self.me.agent.clone()), resolved: false };
        match self.store.findings(filter, PAGE_MAX).await {
            Ok(open) => {
                for row in open.into_iter().filter(|row| row.key.starts_with(KEYS)) {
                    self.tell(Incoming::FindingResolved { key: row.key }).await;
                }
            }
            Err(error) => warn!(%error, "cannot read earlier findings"),
        }
    }

    async fn fed(&mut self, fed: Fed) {
        if fed.skipped > 0 {
            self.notice("supervisor_skipped", texts::skipped(fed.skipped)).await;
        }
        if let Seen::TurnStarted { turn, .. } = &fed.seen {
            self.state.turn = Some(*turn);
        }
        let step = fed.step(&self.me.redactor);
        if self.state.escalation == Escalated::No {
            let noticed = self.detectors.observe(&step);
            self.noticed(noticed).await;
        }
        self.observed(&step).await;
    }

    async fn observed(&mut self, step: &Step) {
        let Some(due) = self.watch.observe(step) else { return };
        let on = self.state.status.off.is_none();
        match (self.model.as_mut().filter(|_| on), self.state.escalation) {
            (_, Escalated::Told(_) | Escalated::Shown) => self.watch.not_judged(due.number),
            (None, Escalated::No) => self.watch.judged_by_rules(due.number),
            (Some(model), Escalated::No) => {
                let Due { number, prompt } = due;
                self.state.judged = self.state.turn;
                model.evaluator.ask(number, prompt.into_string());
            }
        }
    }

    async fn tick(&mut self, showing: &watch::Receiver<Showing>) {
        match self.state.escalation {
            Escalated::No => {
                let waits = showing.borrow().view.waiting > 0 || !self.unread.borrow().is_empty();
                let now = Now(self.me.clock.monotonic());
                let noticed = self.detectors.tick(now, waits);
                self.noticed(noticed).await;
            }
            // Somebody resumed the agent before the escalation could be seen.
            Escalated::Told(ticks) if ticks >= UNSEEN_TICKS => self.rearm().await,
            Escalated::Told(ticks) => self.state.escalation = Escalated::Told(ticks + 1),
            Escalated::Shown => {}
        }
    }

    /// Looks whether people have decided: then everything begins anew (R1-35, C1).
    async fn shown(&mut self, showing: &mut watch::Receiver<Showing>) {
        let escalated = showing.borrow_and_update().note.escalated.is_some();
        match (escalated, self.state.escalation) {
            (true, Escalated::Shown) | (false, Escalated::No | Escalated::Told(_)) => {}
            (true, Escalated::No | Escalated::Told(_)) => {
                self.state.escalation = Escalated::Shown;
                self.pause().await;
            }
            (false, Escalated::Shown) => self.rearm().await,
        }
    }

    /// Nothing is evaluated while people decide.
    async fn pause(&mut self) {
        if let Some(model) = &mut self.model {
            model.evaluator.forget();
        }
        if !std::mem::replace(&mut self.state.status.paused, true) {
            self.show().await;
        }
    }

    async fn rearm(&mut self) {
        info!("the supervisor watches again");
        self.state.escalation = Escalated::No;
        self.watch.rearm();
        let noticed = self.detectors.rearm();
        self.noticed(noticed).await;
        self.state.status.paused = false;
        self.show().await;
    }

    async fn noticed(&mut self, noticed: Vec<Noticed>) {
        for one in noticed {
            match one {
                Noticed::Cleared { key } => self.tell(Incoming::FindingResolved { key }).await,
                Noticed::Raised(detection) => self.raised(detection).await,
            }
        }
    }

    async fn raised(&mut self, detection: Detection) {
        info!(kind = detection.kind.as_str(), nth = detection.nth, "a rule has found something");
        // The watchdog of silent turns has a finding of its own, for people.
        let about = match detection.kind {
            FindingKind::SilentTurn => detection.kind.as_str().to_owned(),
            _ => detection.key.clone(),
        };
        if detection.kind != FindingKind::SilentTurn {
            let finding = NewFinding {
                key: detection.key.clone(),
                evidence: detection.evidence.clone(),
                ..NewFinding::new(self.me.agent.clone(), detection.kind, detection.text.clone())
            };
            self.tell(Incoming::Finding(Box::new(finding))).await;
        }
        let act = self.watch.detected(&detection);
        let (source, turn) = (WhisperSource::Rules, self.state.turn);
        self.act(act, &Grounds { source, finding: Some(about), turn }).await;
    }

    async fn told(&mut self, told: Told) {
        match told {
            Told::Used(usage) => self.used(&usage).await,
            Told::Replied { number, text } => match parse_verdict(&text) {
                Ok((verdict, message)) => self.judged(number, verdict, &message).await,
                Err(why) => {
                    self.state.failures = 0;
                    self.watch.not_judged(number);
                    let text = texts::unreadable(&self.state.status.agent, &why);
                    self.notice("supervisor_unreadable", text).await;
                }
            },
            Told::Failed { number, why, fault } => self.failed(number, &why, fault).await,
        }
    }

    async fn judged(&mut self, number: u64, verdict: Verdict, message: &str) {
        self.state.failures = 0;
        let message = self.me.redactor.redact(message);
        let given = VerdictGiven {
            verdict: verdict.into(),
            message: message.to_string(),
            evaluation: number,
            by: self.state.status.agent.clone(),
        };
        self.record(given).await;
        self.state.status.evaluations += 1;
        self.state.status.verdict = Some(verdict.into());
        self.show().await;
        let act = self.watch.judged(number, verdict, &message);
        // Other turns may have begun since the model was asked.
        let (source, turn) = (WhisperSource::Supervisor, self.state.judged);
        self.act(act, &Grounds { source, finding: None, turn }).await;
    }

    async fn failed(&mut self, number: u64, why: &str, fault: Fault) {
        self.watch.not_judged(number);
        let agent = self.state.status.agent.clone();
        if fault == Fault::Backend {
            self.state.failures += 1;
        }
        if self.state.failures < FAILURES_MOST {
            return self.notice("supervisor_failed", texts::failed(&agent, why)).await;
        }
        let why = self.me.redactor.redact(why).into_string();
        self.notice("supervisor_off", texts::given_up(&agent, self.state.failures, &why)).await;
        self.state.status.off = Some(why);
        self.show().await;
    }

    /// Does what follows.
    async fn act(&mut self, act: Act, from: &Grounds) {
        match act {
            Act::None => {}
            Act::Whisper { kind, text, firmer: _ } => self.whisper(kind, from, text).await,
            Act::Escalate { kind, task, text, cause, evidence, retries } => {
                self.state.escalation = Escalated::Told(0);
                self.pause().await;
                self.whisper(WhisperKind::Escalation, from, text).await;
                let (cause, evidence) = (cause.into_string(), evidence.into_string());
                let escalation = Escalation { kind, task, cause, evidence, retries };
                self.tell(Incoming::Escalate(Box::new(escalation))).await;
            }
        }
    }

    async fn whisper(&mut self, kind: WhisperKind, from: &Grounds, text: Redacted) {
        let Grounds { source, finding, turn } = from.clone();
        let text = text.into_string();
        self.tell(Incoming::Whisper(Whisper { kind, source, text, finding, turn })).await;
    }

    /// Hands over to the agent loop, which is the only writer; one that has ended needs nothing.
    async fn tell(&self, incoming: Incoming) {
        let _ = self.agent_loop.send(incoming).await;
    }

    /// Counts what was spent, apart from what the agent spends.
    async fn used(&mut self, usage: &Usage) {
        let usage = &usage.bounded();
        feed::add(&mut self.state.used, usage);
        let status = &mut self.state.status;
        status.input_tokens = self.state.used.input_tokens;
        status.output_tokens = self.state.used.output_tokens;
        status.cost_micros = self.state.used.cost_micros;
        let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        let row = NewUsage {
            agent: self.me.agent.clone(),
            turn: None,
            by: Spender::Supervisor,
            source: UsageSource::Backend,
            model: usage.model.clone(),
            input: count(usage.input_tokens),
            output: count(usage.output_tokens),
            cache_read: count(usage.cache_read_tokens),
            cache_write: count(usage.cache_write_tokens),
            cost_micros: usage.cost_micros.map(count),
        };
        if let Err(error) = self.store.add_usage(row).await {
            warn!(%error, "cannot record what the supervisor used");
        }
        self.show().await;
    }

    async fn show(&self) {
        let status = Box::new(self.state.status.clone());
        self.tell(Incoming::Watched(status)).await;
    }

    async fn notice(&self, code: &str, text: String) {
        let text = self.me.redactor.redact(&text).into_string();
        warn!(code, text, "supervisor");
        self.record(Notice { code: code.to_owned(), text }).await;
    }

    async fn record(&self, event: impl Into<Event>) {
        let events = new_event(&self.me, self.state.turn, &event.into()).into_iter().collect();
        if let Err(error) = self.store.append(events).await {
            warn!(%error, "cannot record what the supervisor did");
        }
    }
}
