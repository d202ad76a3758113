//! The root: starts the daemon's tasks in order, watches them, and stops them in order.
//!
//! Order of the start (R0-35, C6): what an earlier daemon left, buffer, IRC, webhook client,
//! socket, supervisor, runner; parts that this build does not have are recorded as `absent`.
//! Order of the end (R0-37): intake, the open turn, the runner, the supervisor, the socket, the outbox,
//! IRC, the store, the PID file.

mod closed;
mod parts;
mod pid_file;
mod read;
mod restart_note;
mod stop;
mod sweep;
mod tasks;

use std::{fmt, path::Path, sync::Arc, time::Duration};

use gangline_api::{
    event::{Event, Notice, StartStep, StepState},
    status::StatusNote,
};
use gangline_core::{AgentName, KnownSecret, agent::PhaseName, hook::WebhookEvent};
use gangline_os::{
    change_notice::ChangeNotice,
    clock::{SharedClock, UnixMicros},
    fsio,
    lock::{FileLock, LockError},
    notify::{self, Word},
    paths::Paths,
    process,
    signals::Signals,
    sweep::record::Record,
    task::TaskGroup,
};
use gangline_store::{
    Applied, EpochStart, OpenError, OpenOptions, Store, StoreError, Syncs, Whose,
};
use tokio::sync::oneshot;
use tracing::{error, info};

use crate::{
    alerts,
    bus::{Fatal, Incoming},
    control::{self, requests::Requests, socket::Socket},
    environment, folder,
    identity::{Identity, new_event},
    journal, model, recover,
    relaying::Prepared,
    rules,
    settings::{Ended, Settings},
    texts,
};

use parts::{CONTROL, OPEN_CONTROL, Parts};
use pid_file::PidFile;

/// How long the start waits for IRC before the runner is started without it.
const JOIN_BUDGET: Duration = Duration::from_secs(10);
/// The period of everything in an idle daemon, this watch over the agent loop included.
const TICK: Duration = Duration::from_secs(30);
/// How many ticks in a row may find the agent loop's queue full.
const UNHEARD_MAX: u32 = 2;

/// What a daemon has before it knows its settings: nobody else runs the agent, and what was ordered
/// of it can be read.
pub struct Opened {
    lock: FileLock,
    store: Store,
}

impl Opened {
    /// Takes the agent's lock and opens the store.
    ///
    /// # Errors
    /// How the daemon ends instead.
    pub async fn new(paths: &Paths, agent: &AgentName, clock: &SharedClock) -> Result<Self, Ended> {
        let folder = paths.agent_dir(agent.as_str());
        fsio::private_dir(&folder)
            .map_err(|error| crashed("cannot make the agent's folder", &error))?;
        let lock = take_lock(paths, agent)?;
        let store = open_store(paths, clock).await?;
        Ok(Self { lock, store })
    }

    /// Returns the count of the daemon's syncs, for measurements.
    #[must_use]
    pub fn syncs(&self) -> Syncs {
        self.store.syncs()
    }

    /// Returns the backend that somebody ordered in place of the configured one (R3-17).
    ///
    /// # Errors
    /// How the daemon ends instead.
    pub async fn runtime(&self, agent: &AgentName) -> Result<Option<String>, Ended> {
        let orders = self.store.orders().await;
        let orders = orders.map_err(|error| unusable("cannot read what was ordered", &error))?;
        Ok(orders.into_iter().find(|order| order.agent == *agent).and_then(|order| order.runtime))
    }
}

/// Runs the daemon until it is asked to end or cannot continue. Not cancel-safe.
pub async fn run(opened: Opened, settings: Settings) -> Ended {
    let Opened { lock, store } = opened;
    let pid_file = PidFile::write(&settings.paths, &settings.agent.nick);
    let ended = match start((&lock, store), settings).await {
        Ok(ended) | Err(ended) => ended,
    };
    // Removed while the lock is held, so that a successor's file is never removed.
    pid_file.remove();
    ended
}

fn hopeless(what: &str, error: &dyn std::error::Error) -> Ended {
    Ended { code: Ended::HOPELESS, why: format!("{what}: {error}") }
}

fn crashed(what: &str, error: &dyn std::error::Error) -> Ended {
    Ended { code: Ended::CRASHED, why: format!("{what}: {error}") }
}

/// How a daemon ends whose store failed: no restart repairs a damaged one.
fn unusable(what: &str, error: &StoreError) -> Ended {
    match error {
        StoreError::Corrupt { .. } => hopeless(what, error),
        StoreError::Fenced { .. }
        | StoreError::TurnNotOpen { .. }
        | StoreError::UnknownMessage(_)
        | StoreError::Invalid(_)
        | StoreError::Busy { .. }
        | StoreError::Degraded { .. }
        | StoreError::Engine { .. }
        | StoreError::Closed => crashed(what, error),
    }
}

async fn start((lock, store): (&FileLock, Store), mut settings: Settings) -> Result<Ended, Ended> {
    let name = settings.agent.nick.clone();
    let began = settings.clock.now();
    let mut signals =
        Signals::new().map_err(|error| crashed("cannot listen for signals", &error))?;
    let (owner, configured) = (settings.backend.owner(), settings.configured_owner());
    let whose = Whose { runtime: &owner, configured: &configured };
    let unasked = kept_unasked(&settings, &store).await;
    let mut epoch = store
        .begin_epoch(&name, (std::process::id(), "gangline daemon"), whose)
        .await
        .map_err(|error| unusable("cannot begin", &error))?;
    info!(agent = %name, epoch = %epoch.epoch, "daemon started");
    let sweeper = sweep::Sweeper::new(&settings, &store, epoch.epoch);
    let swept = sweeper.left_by_a_predecessor().await;
    let me = read::identity(&settings, epoch.epoch);
    if swept && let Some(error) = empty_tmp(&settings, began).await {
        tracing::warn!(error, "the temporary folder was not emptied");
        notice(&store, &me, "tmp", error).await;
    }
    let mark = settings.mark.clone();
    let applied = Applied { agent: name.clone(), epoch: epoch.epoch, mark };
    store
        .record_applied(applied)
        .await
        .map_err(|error| unusable("cannot record its configuration", &error))?;
    let rules = read::rules(&settings.agent);
    let recovered = recover::recover(&me, &store, rules)
        .await
        .map_err(|error| unusable("cannot recover", &error))?;
    if recovered.turns > 0 {
        info!(recovered = recovered.turns, "lost turns settled");
    }
    crate::escalation::show(&me, &store, &mut epoch.pauses)
        .await
        .map_err(|error| unusable("cannot look at the escalation", &error))?;
    let ordered = store.open_turn_orders(&name).await;
    let ordered = ordered.map_err(|error| unusable("cannot read orders", &error))?;
    journal::notify_all(&settings.paths, &recovered.notify);
    notices(&settings, &store, (&me, &epoch)).await;
    void_rules(&store, &me).await;
    model::adopt(&settings.paths, &name, &configured);
    let notice_path = settings.paths.change_notice(name.as_str());
    let changes = ChangeNotice::bind(&notice_path)
        .map_err(|error| crashed("cannot bind the socket of change notices", &error))?;
    let note = restart_note::leave(&settings, &store, (&epoch, recovered.turns)).await;
    settings.trusted = folder::at_start(&settings, &store).await;
    let relay = prepare_relay(&mut settings).await?;
    let mut parts =
        Parts::start(&settings, store, (epoch, unasked, note), (changes, relay, ordered));
    parts.begin(&settings, &me, &mut signals).await;
    // A service manager need not wait for a chat server that is away.
    notify::tell(&[Word::Ready]);
    // The first input lets the state machine start the backend.
    let _ = parts.agent_loop.send(Incoming::Begin).await;
    let why = parts.watch(&mut signals, lock, sweeper.record()).await;
    let ended = parts.stop(why, &mut signals).await;
    // Its tasks have ended, and their programs: who runs still was left behind by one of these.
    sweeper.left_at_the_end().await;
    info!(agent = %name, code = ended.code, why = ended.why, "daemon ends");
    Ok(ended)
}

/// Prepares the relay, if there is to be one; its token is one of the daemon's secrets.
async fn prepare_relay(settings: &mut Settings) -> Result<Option<Prepared>, Ended> {
    let relay = Prepared::new(settings).await?;
    if let Some(relay) = &relay {
        settings.secrets.push(KnownSecret::new("token of the relay", relay.token().expose()));
    }
    Ok(relay)
}

/// Returns the tool that the same backend ran unasked in an earlier generation, under the same
/// permissions: that is told once, and shown on.
async fn kept_unasked(settings: &Settings, store: &Store) -> Option<String> {
    let row = store.agent(&settings.agent.nick).await.ok().flatten()?;
    let note: StatusNote = serde_json::from_str(row.status_json.as_deref()?).ok()?;
    let same = note.runtime.as_ref() == Some(&settings.backend.name)
        && note.permissions.as_deref() == Some(settings.agent.permissions.as_str());
    note.unasked.filter(|_| same)
}

fn take_lock(paths: &Paths, agent: &AgentName) -> Result<FileLock, Ended> {
    let path = paths.agent_lock(agent.as_str());
    FileLock::take(&path, "gangline daemon").map_err(|error| match error {
        LockError::Held(holder) => {
            Ended { code: Ended::TAKEN, why: format!("another daemon runs for {agent}: {holder}") }
        }
        other @ LockError::Io { .. } => crashed("cannot take the agent's lock", &other),
    })
}

async fn open_store(paths: &Paths, clock: &SharedClock) -> Result<Store, Ended> {
    let options = OpenOptions { path: paths.database(), clock: clock.clone() };
    Store::open(options).await.map_err(|error| match error {
        OpenError::NewerSchema { .. }
        | OpenError::Corrupt { .. }
        | OpenError::NotADatabase { .. }
        | OpenError::TooOldSqlite { .. } => hopeless("cannot use the database", &error),
        OpenError::Busy { .. } | OpenError::Io { .. } => crashed("cannot open the store", &error),
    })
}

/// Records what is unusual about this start.
async fn notices(settings: &Settings, store: &Store, (me, started): (&Identity, &EpochStart)) {
    if let Some(configured) = &settings.instead_of {
        let text = texts::stands_in(&settings.backend.name, configured);
        notice(store, me, "runtime", text).await;
    }
    if let Some(left) = &started.left {
        let text = texts::left_session(&left.runtime, started.session.is_some());
        notice(store, me, "session", text).await;
    }
    if settings.backend.is_in_terminal() {
        let whose = texts::has_the_shell(settings.owners_only.contains(&settings.agent.nick));
        notice(store, me, "terminal", whose.to_owned()).await;
    }
    if let Some(container) = settings.container.as_ref().filter(|it| it.mounted().is_none()) {
        let text = texts::no_container_state(&container.state, &settings.agent.directory);
        notice(store, me, "no_state", text).await;
    }
}

/// Voids the rules that would not be made today, before anything is asked, and says so once.
async fn void_rules(store: &Store, me: &Identity) {
    let told = async {
        let rows = store.rules(Some(&me.agent)).await?;
        let found = rows.iter().filter(|row| row.void.is_none());
        let found =
            found.filter_map(|row| Some((row.rule.number, rules::no_longer_holds(&row.rule)?)));
        let void = store.void_rules(&me.agent, found.collect()).await?;
        if void.is_empty() {
            return Ok(());
        }
        for row in &void {
            notice(store, me, "rule", texts::void_rule(row)).await;
        }
        let numbers: Vec<i64> = void.iter().map(|row| row.rule.number).collect();
        let text = texts::void_rules(&me.agent, &numbers);
        let alert = alerts::alert(me, WebhookEvent::AgentError, &text).group("rules");
        store.tell_void_rules(numbers, alert).await
    };
    if let Err(error) = told.await {
        tracing::warn!(%error, "cannot look at the rules");
    }
}

/// Records what the operator should know of the start.
async fn notice(store: &Store, me: &Identity, code: &str, text: String) {
    info!(code, text, "notice");
    let event = Event::from(Notice { code: code.to_owned(), text });
    let events = new_event(me, None, &event).into_iter().collect();
    if let Err(error) = store.append(events).await {
        tracing::warn!(%error, code, "cannot record a notice");
    }
}

/// Removes what earlier backends left in the agent's own temporary folder: nothing of the agent
/// runs now. Returns what is in the way; it holds nobody up.
async fn empty_tmp(settings: &Settings, began: UnixMicros) -> Option<String> {
    let folder = settings.paths.agent_dir(settings.agent.nick.as_str()).join(environment::TMP);
    let mut tasks = TaskGroup::new("tmp");
    let (tell, told) = oneshot::channel();
    tasks.spawn_blocking("tmp", move || {
        let emptied = fsio::empty_dir(&folder, began);
        let _ = tell.send(emptied.err().map(|error| texts::whole(&error)));
    });
    told.await.ok().flatten()
}

/// Runs a part of the daemon, and logs why it ended.
async fn logged<E: fmt::Debug>(part: &'static str, run: impl Future<Output = E>) {
    let end = run.await;
    info!(part, ?end, "a part of the daemon ended");
}

/// Why the daemon ends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Why {
    Asked,
    Fatal(Fatal),
}

impl Parts {
    /// Starts what is not up yet, in the order of S0 (R0-35, C6), and records each step.
    async fn begin(&mut self, settings: &Settings, me: &Identity, signals: &mut Signals) {
        self.step(me, "buffer", StepState::Done).await;
        self.joined_or(JOIN_BUDGET, signals).await;
        self.step(me, "irc", StepState::Done).await;
        let alerts = self.start_alerts();
        self.step(me, "webhook", alerts).await;
        let socket = self.open_socket(settings, me).await;
        self.step(me, "socket", socket).await;
        let supervisor = self.start_supervisor();
        self.step(me, "supervisor", supervisor).await;
        self.step(me, "runner", StepState::Done).await;
    }

    /// Records a step of the start; a store that cannot write yet does not hold it up.
    async fn step(&self, me: &Identity, step: &str, state: StepState) {
        let event = Event::from(StartStep { step: step.to_owned(), state });
        let events = new_event(me, None, &event).into_iter().collect();
        if let Err(error) = self.store.append(events).await {
            tracing::warn!(%error, step, "cannot record a step of the start");
        }
    }

    async fn joined_or(&mut self, budget: Duration, signals: &mut Signals) {
        let home = self.home.clone();
        let all = self.joined.wait_for(|joined| home.is_subset(joined));
        tokio::select! {
            _ = tokio::time::timeout(budget, all) => {}
            _ = signals.next() => self.asked = true,
        }
    }

    /// Watches the tasks until the daemon has to end.
    async fn watch(&mut self, signals: &mut Signals, lock: &FileLock, mut record: Record) -> Why {
        if self.asked {
            return Why::Asked;
        }
        let mut ready = false;
        let (mut beats, mut unheard) = (0_u64, 0);
        // The first tick comes at once.
        let mut tick = self.clock.sleep_until(Duration::ZERO);
        loop {
            if !ready && self.is_ready() {
                // By the agent loop: what people see of the agent is then written before.
                ready = self.agent_loop.try_send(Incoming::Ready).is_ok();
            }
            tokio::select! {
                biased;
                _ = signals.next() => return Why::Asked,
                () = self.asked_to_end.cancelled() => return Why::Asked,
                Some(fatal) = self.fatal.recv() => return Why::Fatal(fatal),
                Some(end) = self.tasks.next_end() => {
                    let end = format!("{}: {:?}", end.name, end.how);
                    error!(end, "a task ended unexpectedly");
                    return Why::Fatal(Fatal::TaskEnded(end));
                }
                () = &mut tick => {
                    tick = self.clock.sleep_until(self.clock.monotonic().saturating_add(TICK));
                    self.ticks.send_modify(|count| *count += 1);
                    notify::tell(&[Word::Alive]);
                    if let Err(error) = lock.show_life(self.clock.now()) {
                        tracing::warn!(%error, "cannot show a sign of life");
                    }
                    process::reap_adopted();
                    if let Err(error) = record.renew() {
                        tracing::warn!(%error, "cannot record which programs run");
                    }
                    if self.beat.load(std::sync::atomic::Ordering::SeqCst) < beats {
                        return Why::Fatal(Fatal::Stuck);
                    }
                    // A full queue is not a stuck agent loop, until it stays full.
                    if self.agent_loop.try_send(Incoming::Tick(beats + 1)).is_ok() {
                        (beats, unheard) = (beats + 1, 0);
                    } else {
                        unheard += 1;
                    }
                    if unheard > UNHEARD_MAX {
                        return Why::Fatal(Fatal::Stuck);
                    }
                }
                // Back in the rooms after a while away is ready anew: a hub may wait for it.
                Ok(()) = self.joined.changed() => ready &= self.is_home(),
                Ok(()) = self.view.changed(), if !ready => {}
            }
        }
    }

    fn is_ready(&self) -> bool {
        let view = self.view.borrow();
        let down = matches!(view.phase, PhaseName::Down | PhaseName::Starting | PhaseName::Parked);
        // A paused agent starts no backend, and that is as ready as it gets.
        let up = view.paused || !down;
        up && self.is_home()
    }

    /// Returns whether it is in all its rooms.
    fn is_home(&self) -> bool {
        let (joined, wanted) = (self.joined.borrow(), self.wanted.borrow());
        self.home.intersection(&wanted).all(|channel| joined.contains(channel))
    }

    /// Opens the socket. Without one the daemon still answers on IRC, so it continues.
    async fn open_socket(&mut self, settings: &Settings, me: &Identity) -> StepState {
        let nick = settings.agent.nick.as_str();
        let path = settings.paths.control_socket(nick);
        let link = settings.paths.culture_link(nick);
        let requests = Arc::clone(&self.requests);
        let state = self.listen((CONTROL, requests), (&path, Some(&link)), me).await;
        match (&settings.container, self.open_requests.take()) {
            (Some(container), Some(requests)) => {
                self.listen((OPEN_CONTROL, requests), (&container.socket, None), me).await;
            }
            (Some(_), None) | (None, _) => self.tasks.has_none(OPEN_CONTROL),
        }
        state
    }

    async fn listen(
        &mut self,
        (task, requests): (&'static str, Arc<Requests>),
        (path, link): (&Path, Option<&Path>),
        me: &Identity,
    ) -> StepState {
        match Socket::bind(path, link) {
            Ok(socket) => {
                let (shut, ticks) = (self.shut.clone(), self.ticks.subscribe());
                self.tasks.spawn(task, async move {
                    let end = control::run(socket, requests, ticks, shut).await;
                    info!(?end, "socket closed");
                });
                StepState::Done
            }
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "no control socket");
                let text = format!("no control socket at {}: {error}", path.display());
                notice(&self.store, me, "no_socket", text).await;
                self.tasks.has_none(task);
                StepState::Absent
            }
        }
    }
}
