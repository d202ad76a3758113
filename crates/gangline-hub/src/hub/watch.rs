//! The hub while it runs: looks at locks and orders, hears requests, says how it stands.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use gangline_core::{AgentName, ApprovalNumber};
use gangline_http::Standing as HttpStanding;
use gangline_irc::server::store::HistoryStore;
use gangline_os::{
    change_notice::ChangeNotice,
    clock::{UnixMicros, rfc3339},
    lock::probe,
    notify::{self, Word},
    signals::{Request, Requests, ShutdownSignal},
    task::TaskGroup,
};
use gangline_store::{AgentRow, Order, Store};
use tokio::sync::watch;
use tracing::{info, warn};

use super::{
    HubError, HubOptions, Listening, OnTerm, Plan, Progress, Refused,
    alerts::Telling,
    allow, http, publish, register,
    removed::Removed,
    roll::{Roll, needs_login},
    vigil::Vigil,
    write_ready,
};
use crate::{
    about::{About, KeptProcess},
    ircd::AccessSetter,
    kept::{Known, Reconciler, Stamp, Standing, whole},
};

/// How long a hub that has work to do waits between two looks at the store.
const LOOK_SOON: Duration = Duration::from_millis(250);

/// Why watching ends.
#[derive(Debug)]
pub(super) enum Ends {
    /// Drain the daemons.
    Drain,
    /// Leave the daemons running.
    Leave,
    /// The hub cannot continue.
    Failed(HubError),
}

/// The running hub.
pub(super) struct Watch<'a> {
    pub(super) options: &'a HubOptions,
    pub(super) store: Store,
    begun: UnixMicros,
    pub(super) listening: Listening,
    pub(super) reconciler: Reconciler,
    changes: ChangeNotice,
    history: Option<Arc<dyn HistoryStore>>,
    access: Option<AccessSetter>,
    pub(super) telling: Telling,
    http: watch::Receiver<HttpStanding>,
    roll: Roll,
    vigil: Vigil,
    removed: Removed,
    /// The last orders that could be read.
    orders: Vec<Order>,
    /// Whether the store could not be read at the last look.
    unreadable: bool,
    /// Whether the orders were read since this hub began.
    read: bool,
    ready: bool,
    loads: u64,
    refused: Option<String>,
    unapplied: Vec<&'static str>,
    told: Option<About>,
    pub(super) draining: bool,
    /// Agents whose daemon runs and is not kept, as they were warned about.
    strays: BTreeSet<String>,
    alive: Pulse,
    /// Whether a change is under way.
    changing: bool,
    /// Since when a change's new daemon has had its chance.
    pub(super) trial: Option<(ApprovalNumber, UnixMicros)>,
}

enum Event {
    /// Something may have changed: look again.
    Look,
    Request(Request),
    Failed(HubError),
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        options: &'a HubOptions,
        (store, begun): (Store, UnixMicros),
        (listening, configured): (Listening, Vec<AgentName>),
        (reconciler, changes, telling): (Reconciler, ChangeNotice, Telling),
        (history, access, http): (
            Option<Arc<dyn HistoryStore>>,
            Option<AccessSetter>,
            watch::Receiver<HttpStanding>,
        ),
    ) -> Self {
        Self {
            options,
            store,
            begun,
            listening,
            reconciler,
            changes,
            history,
            access,
            telling,
            http,
            roll: Roll::default(),
            vigil: Vigil::default(),
            removed: Removed::from(configured),
            orders: Vec::new(),
            unreadable: false,
            read: false,
            ready: false,
            loads: 0,
            refused: None,
            unapplied: Vec::new(),
            told: None,
            draining: false,
            strays: BTreeSet::new(),
            alive: Pulse::new(),
            changing: false,
            trial: None,
        }
    }

    /// Watches until the hub has to end.
    pub(super) async fn watch(
        &mut self,
        (requests, tasks): (&mut Requests, &mut TaskGroup),
        (plan, told): (
            &mut impl FnMut(&Listening) -> Result<Plan, Refused>,
            &impl Fn(&Listening, &Progress),
        ),
    ) -> Ends {
        loop {
            let rows = self.look().await;
            self.warn_of_strays(&rows);
            self.changing = self.change(plan, &rows).await;
            if !self.ready && self.all_ready(&rows) && self.http_has_tried() {
                self.ready = true;
                let standing = self.http.borrow().clone();
                self.listening.http = http::address(&standing);
                if let Err(error) = write_ready(self.options, &self.listening, &standing) {
                    return Ends::Failed(error);
                }
                told(&self.listening, &self.progress(&rows));
            }
            self.publish();
            self.alive.beat(self.options.clock.monotonic());
            match self.next(requests, tasks).await {
                Event::Look => {}
                Event::Request(request) => {
                    if let Some(ends) = self.asked(request, plan).await {
                        return ends;
                    }
                }
                Event::Failed(error) => return Ends::Failed(error),
            }
        }
    }

    async fn next(&mut self, requests: &mut Requests, tasks: &mut TaskGroup) -> Event {
        let mut patience = self.reconciler.patience().min(self.alive.patience());
        if !self.ready || self.changing || self.roll.is_busy() {
            patience = patience.min(LOOK_SOON);
        }
        tokio::select! {
            () = self.reconciler.child_ended() => Event::Look,
            () = self.changes.notified() => Event::Look,
            // An interface that is off never changes.
            Ok(()) = self.http.changed() => Event::Look,
            () = tokio::time::sleep(patience) => Event::Look,
            request = requests.next() => Event::Request(request),
            Some(end) = tasks.next_end() => {
                let what = format!("{} ended: {:?}", end.name, end.how);
                Event::Failed(HubError::Irc(what.into()))
            }
        }
    }

    /// Takes the orders, looks at every lock, and rolls those that are to restart. If the store
    /// cannot be read, the earlier orders stay in force.
    async fn look(&mut self) -> Vec<AgentRow> {
        match self.changes.renew() {
            Ok(true) => warn!("the socket of change notices was gone; it was made again"),
            Ok(false) => {}
            Err(error) => warn!(%error, "the socket of change notices is gone"),
        }
        let orders = self.store.orders().await;
        let rows = self.store.agents().await;
        let trouble = orders.as_ref().err().or(rows.as_ref().err());
        if let (Some(error), false) = (trouble, self.unreadable) {
            warn!(%error, "cannot read orders and agents");
        }
        self.unreadable = trouble.is_some();
        match orders {
            Ok(orders) => {
                self.orders = orders;
                self.read = true;
            }
            // What was ordered before this hub is not known yet: nothing is started on a guess.
            Err(_) if !self.read => return Vec::new(),
            Err(_) => {}
        }
        self.reconciler.configured(Stamp::of(&self.options.paths.config_file));
        self.reconciler.order(&self.orders);
        self.reconciler.look();
        let Ok(rows) = rows else { return Vec::new() };
        let now = self.options.clock.now();
        self.roll.on(now, (&self.store, &self.orders, &rows), &mut self.reconciler).await;
        let monotonic = self.options.clock.monotonic();
        let place = (&self.store, &self.options.paths);
        self.vigil.on(monotonic, place, self.reconciler.known()).await;
        self.removed.on(place, &rows).await;
        rows
    }

    async fn asked(
        &mut self,
        request: Request,
        plan: &mut impl FnMut(&Listening) -> Result<Plan, Refused>,
    ) -> Option<Ends> {
        match request {
            Request::Stop(ShutdownSignal::Int) => return Some(Ends::Drain),
            Request::Stop(ShutdownSignal::Term) => {
                return Some(match self.options.on_term {
                    OnTerm::Drain => Ends::Drain,
                    OnTerm::Leave => Ends::Leave,
                });
            }
            Request::Leave => return Some(Ends::Leave),
            Request::HungUp => {
                info!("the terminal is gone");
                return Some(Ends::Leave);
            }
            Request::Reload => {}
        }
        self.loads += 1;
        match self.taken(plan).await {
            Ok(agents) => {
                info!(agents, "the configuration was read again");
                self.refused = None;
            }
            Err(Refused(why)) => {
                warn!(why = why.trim_end(), "the new configuration is refused; the old one stays");
                self.refused = Some(why);
            }
        }
        None
    }

    /// Makes a plan and goes over to it, as a whole; returns how many processes it keeps.
    pub(super) async fn taken(
        &mut self,
        plan: &mut impl FnMut(&Listening) -> Result<Plan, Refused>,
    ) -> Result<usize, Refused> {
        let plan = plan(&self.listening)?;
        let registered =
            register(&self.options.paths, self.history.as_deref(), &plan.accounts).await;
        registered.map_err(|error| Refused(whole(&error)))?;
        allow(self.access.as_ref(), plan.access);
        self.telling.change(plan.alerts);
        self.removed = Removed::from(plan.configured);
        self.unapplied = plan.unapplied;
        let agents = plan.kept.len();
        self.reconciler.replace(plan.kept);
        self.strays.clear();
        Ok(agents)
    }

    /// Returns which agents are ready, which cannot be, and which are stopped.
    fn progress(&self, rows: &[AgentRow]) -> Progress {
        let names = |chosen: &dyn Fn(&Known<'_>) -> bool| -> Vec<String> {
            let agents = self.reconciler.known().filter(|known| known.agent.is_some());
            agents.filter(chosen).map(|known| known.name.to_owned()).collect()
        };
        Progress::Ready {
            agents: names(&|known| known.wanted && !waits(known, rows)),
            failed: names(&|known| known.wanted && waits(known, rows)),
            stopped: names(&|known| !known.wanted),
        }
    }

    /// Returns whether every process that should run holds its lock, and every agent among them
    /// reported ready under its present epoch: with our own IRC server, after that server's start,
    /// since an adopted daemon must reconnect. One that waits for a human does not hold up the
    /// others.
    fn all_ready(&self, rows: &[AgentRow]) -> bool {
        let since = if self.options.irc.is_some() { self.begun } else { UnixMicros(0) };
        let wanted = self.reconciler.known().filter(|known| known.wanted);
        wanted.filter(|known| !waits(known, rows)).all(|known| {
            let Standing::Up { pid } = known.standing else { return false };
            let Some(agent) = known.agent else { return true };
            rows.iter().any(|row| {
                row.agent == *agent
                    && row.ready_at.is_some_and(|at| at >= since)
                    && pid.map(i64::from) == Some(row.pid)
            })
        })
    }

    /// Returns whether it is known where the HTTP interface listens, or that it cannot now.
    fn http_has_tried(&self) -> bool {
        self.options.http.is_none() || *self.http.borrow() != HttpStanding::Off
    }

    /// Tells once of daemons that run and are not kept: nobody but an operator should end them.
    fn warn_of_strays(&mut self, rows: &[AgentRow]) {
        if !self.options.keeps_agents {
            return;
        }
        for row in rows {
            let kept = self.reconciler.known().any(|known| known.agent == Some(&row.agent));
            let lock = self.options.paths.agent_lock(row.agent.folded());
            let runs = || matches!(probe(&lock), Ok(Some(_)));
            if !kept && !self.strays.contains(row.agent.folded()) && runs() {
                warn!(agent = %row.agent, "runs, but is not among the configured agents");
                self.strays.insert(row.agent.folded().to_owned());
            }
        }
    }

    pub(super) fn publish(&mut self) {
        let options = self.options;
        let kept = self.reconciler.known();
        let standing = self.http.borrow_and_update().clone();
        let about = About {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: options.program.clone(),
            config: options.paths.config_file.clone(),
            irc: self.listening.irc.clone(),
            http: http::address(&standing),
            http_trouble: match &standing {
                HttpStanding::Waiting(..) => Some(standing.to_string()),
                HttpStanding::Off | HttpStanding::Listening(_) => None,
            },
            socket: options.irc.map(|_| options.paths.irc_socket()),
            since: rfc3339(self.begun),
            keeps_agents: options.keeps_agents,
            leaves_agents: options.on_term == OnTerm::Leave,
            supervised: notify::is_supervised(),
            draining: self.draining,
            ready: self.ready,
            loads: self.loads,
            refused: self.refused.clone(),
            unapplied: self.unapplied.iter().map(|&section| section.to_owned()).collect(),
            options: options.options.clone(),
            kept: kept.map(|known| (known.name.to_owned(), KeptProcess::from(known))).collect(),
        };
        if self.told.as_ref() != Some(&about) {
            publish(&options.paths, &about);
            notify::tell(&[Word::Status(&status(&self.reconciler))]);
            self.told = Some(about);
        }
    }

    /// Says which daemons run on.
    pub(super) fn leave(&self, told: &impl Fn(&Listening, &Progress)) {
        let left: Vec<String> = self.reconciler.left().map(|known| known.name.to_owned()).collect();
        if !left.is_empty() {
            told(&self.listening, &Progress::Leaving(left));
        }
    }

    /// Says that the hub lives, when that is due.
    pub(super) fn beat(&mut self) {
        self.alive.beat(self.options.clock.monotonic());
    }
}

fn status(reconciler: &Reconciler) -> String {
    let up = reconciler.known().filter(|it| matches!(it.standing, Standing::Up { .. })).count();
    let wanted = reconciler.known().filter(|known| known.wanted).count();
    format!("{up} of {wanted} daemons run")
}

/// The sign of life for a service manager that watches us.
struct Pulse {
    every: Option<Duration>,
    next: Duration,
}

impl Pulse {
    fn new() -> Self {
        Self { every: notify::watchdog(), next: Duration::ZERO }
    }

    fn beat(&mut self, now: Duration) {
        let Some(every) = self.every else { return };
        if now >= self.next {
            notify::tell(&[Word::Alive]);
            self.next = now.saturating_add(every / 2);
        }
    }

    /// How long the hub may wait without missing a beat.
    fn patience(&self) -> Duration {
        self.every.map_or(Duration::MAX, |every| every / 2)
    }
}

/// Returns whether an agent cannot answer until somebody does something: its daemon is not started
/// again, or its backend is parked or has no login.
fn waits(known: &Known<'_>, rows: &[AgentRow]) -> bool {
    let Some(agent) = known.agent else { return false };
    match known.standing {
        Standing::GivenUp { .. } => true,
        Standing::Up { pid } => rows.iter().any(|row| {
            row.agent == *agent
                && pid.map(i64::from) == Some(row.pid)
                && (row.is_parked() || needs_login(row))
        }),
        Standing::Starting | Standing::Waiting | Standing::Stopping | Standing::Stopped => false,
    }
}
