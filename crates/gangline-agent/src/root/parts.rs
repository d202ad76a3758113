//! The daemon's parts and their wiring.

mod alerting;
mod inputs;
mod options;
mod outer;
mod requests;
mod spending;
mod watcher;

use std::{
    collections::HashSet,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use gangline_alerts::Sender;
use gangline_api::event::StepState;
use gangline_config::Progress;
use gangline_core::{
    Epoch,
    agent::{Agent, View},
    effort::EffortLevel,
    model::ModelName,
    name::ChannelName,
    redact::Redactor,
};
use gangline_irc::client::LinkCommand;
use gangline_os::{
    CancellationToken, change_notice::ChangeNotice, clock::SharedClock, secret::Secret,
    task::TaskGroup,
};
use gangline_store::{EpochStart, OpenTurnOrder, Store};
use tokio::sync::{Notify, mpsc, watch};

use self::{
    inputs::{alarms, calls, change_notices, looks, updates},
    options::start_options,
    requests::requests,
};
use super::{logged, read, tasks::Tasks};
use crate::{
    agent_loop::{AgentLoop, LoopEnd, Ports, StartTold},
    alerts::Raised,
    bus::{Fatal, Incoming, LINK_QUEUE, LOOP_QUEUE},
    calls::{CALLS_QUEUE, Call as HeldCall},
    chat::{Counts, inquiries::Inquiry},
    checkpoint::{CheckpointDeps, Reading},
    control::requests::Requests,
    environment,
    hooks::{Call, HookSender, Hooks, Program},
    journal::{Journal, JournalDeps},
    notes::Notes,
    nursery::{Nursery, Spawner},
    relaying::Prepared,
    rooms::{ROOMS_QUEUE, Rooms, RoomsCommand, Unread},
    session::{Generations, SessionOptions, port::BackendPort},
    settings::Settings,
    showing::Showing,
    speech::TurnContext,
    supervisor::feed::Feed,
    tokens::Proof,
    watching::Watcher,
    whereabouts::Whereabouts,
};

/// Room for questions that wait for the chat task.
const INQUIRY_QUEUE: usize = 64;
/// The task that owns the state machine.
pub(super) const AGENT_LOOP: &str = "agent loop";
/// The connection to the chat.
pub(super) const LINK: &str = "link";
/// The task behind the socket.
pub(super) const CONTROL: &str = "control";
/// The task behind the container's socket.
pub(super) const OPEN_CONTROL: &str = "container's control";
/// The task that runs hooks.
pub(super) const HOOKS: &str = "hooks";
/// The task that looks at the time.
const ALARMS: &str = "alarms";
/// The task that sends alerts where no hub does.
const ALERTS: &str = "alerts";
const UPDATES: &str = "updates";
/// The task behind calls that are held open.
const CALLS: &str = "calls";
/// The task that knows the budgets.
const SPENDING: &str = "spending";
/// The relay between the backend and its model.
const RELAY: &str = "relay";
/// The task that watches the agent's steps.
pub(super) const SUPERVISOR: &str = "supervisor";
/// The task that has the tasks of the supervisor's backend.
pub(super) const JUDGE: &str = "supervisor's backend";
/// The task that has the backend's tasks.
pub(super) const BACKEND: &str = "backend";
/// Generations of the backend that may wait to be begun; the next one begins after the last one.
const BACKEND_TASKS: usize = 2;

/// Everything the root holds on to.
pub(super) struct Parts {
    pub(super) store: Store,
    pub(super) agent: gangline_core::AgentName,
    pub(super) clock: SharedClock,
    pub(super) home: HashSet<ChannelName>,
    pub(super) tasks: Tasks,
    pub(super) agent_loop: mpsc::Sender<Incoming>,
    pub(super) link: mpsc::Sender<LinkCommand>,
    pub(super) fatal: mpsc::Receiver<Fatal>,
    pub(super) joined: watch::Receiver<HashSet<ChannelName>>,
    pub(super) wanted: watch::Receiver<HashSet<ChannelName>>,
    pub(super) view: watch::Receiver<View>,
    pub(super) ticks: watch::Sender<u64>,
    pub(super) beat: Arc<AtomicU64>,
    pub(super) drained: CancellationToken,
    /// No backend may run any more.
    pub(super) halt: CancellationToken,
    /// Nothing is taken in any more.
    pub(super) intake: CancellationToken,
    /// The outbox is no longer carried.
    pub(super) flush: CancellationToken,
    /// The socket is no longer served.
    pub(super) shut: CancellationToken,
    /// Somebody asked by the socket that the daemon end.
    pub(super) asked_to_end: CancellationToken,
    /// What the socket's requests need.
    pub(super) requests: Arc<Requests>,
    /// The same for the container's socket, if the agent is in one.
    pub(super) open_requests: Option<Arc<Requests>>,
    /// A signal came before everything was up.
    pub(super) asked: bool,
    /// There is a task that runs hooks.
    pub(super) has_hooks: bool,
    /// The sender of alerts, until it is started, if there is a place to tell them.
    alerts: Option<Sender>,
    /// The supervisor, until it is started.
    supervisor: Option<watcher::Waiting>,
    /// The supervisor is to stop, and its backend.
    pub(super) unwatched: CancellationToken,
}

/// The ends of the queues that tasks take from.
struct Ends {
    agent_loop: mpsc::Receiver<Incoming>,
    rooms: mpsc::Receiver<RoomsCommand>,
    nursery: Nursery,
    /// Set once nothing is taken in any more.
    closed: CancellationToken,
    unread: watch::Sender<Unread>,
    hooks: Option<mpsc::Receiver<Call>>,
    calls: mpsc::Receiver<HeldCall>,
}

/// The beginnings of the queues and the signals that tasks share.
struct Shared {
    store: Store,
    epoch: Epoch,
    agent_loop: mpsc::Sender<Incoming>,
    link: mpsc::Sender<LinkCommand>,
    fatal: mpsc::Sender<Fatal>,
    outbox: Arc<Notify>,
    alerts: Raised,
    rescan: Arc<Notify>,
    /// Something with a time was made.
    alarm: Arc<Notify>,
    redactor: Arc<Redactor>,
    context: watch::Receiver<Option<TurnContext>>,
    showing: watch::Receiver<Showing>,
    unread: watch::Receiver<Unread>,
    joined: watch::Receiver<HashSet<ChannelName>>,
    wanted: watch::Receiver<HashSet<ChannelName>>,
    kept_out: watch::Receiver<HashSet<ChannelName>>,
    members: watch::Sender<Counts>,
    ticks: watch::Receiver<u64>,
    committed: watch::Sender<u64>,
    rooms: mpsc::Sender<RoomsCommand>,
    inquiries: mpsc::Sender<Inquiry>,
    calls: mpsc::Sender<HeldCall>,
    token: watch::Receiver<Option<Secret>>,
    whispers: watch::Receiver<usize>,
    flush: CancellationToken,
    halt: CancellationToken,
    /// The tool that ran unasked in an earlier generation of the daemon.
    unasked: Option<String>,
    /// The model that somebody had chosen when the daemon started.
    model: Option<ModelName>,
    /// The effort that somebody chose.
    effort: Option<EffortLevel>,
}

impl Parts {
    /// Wires and starts every task but the backend, which the state machine starts.
    #[allow(clippy::too_many_lines, reason = "all queues are made and handed out in one place")]
    pub(super) fn start(
        settings: &Settings,
        store: Store,
        (started, unasked, note): (EpochStart, Option<String>, StartTold),
        (changes, relay, ordered): (ChangeNotice, Option<Prepared>, Vec<OpenTurnOrder>),
    ) -> Self {
        let (agent_loop, loop_end) = mpsc::channel(LOOP_QUEUE);
        let (link, link_end) = mpsc::channel(LINK_QUEUE);
        let (link_events, events) = mpsc::channel(LINK_QUEUE);
        let (fatal, fatal_end) = mpsc::channel(4);
        let (rooms, rooms_end) = mpsc::channel(ROOMS_QUEUE);
        let (inquiries, asked) = mpsc::channel(INQUIRY_QUEUE);
        let (calls, calls_end) = mpsc::channel(CALLS_QUEUE);
        let can = read::can(settings);
        let core = Agent::new(read::agent_options(&settings.agent, started.epoch, can));
        let (view_sender, view) = watch::channel(core.view());
        let (context_sender, context) = watch::channel(None);
        let (joined_sender, joined) = watch::channel(HashSet::new());
        let (showing_sender, showing) = watch::channel(Showing::new(core.view()));
        let (token_sender, token) = watch::channel(None);
        let (unread_sender, unread) = watch::channel(Unread::new());
        let (whispers_sender, whispers) = watch::channel(0);
        let home: HashSet<ChannelName> = settings.agent.channels.iter().cloned().collect();
        let (wanted_sender, wanted) = watch::channel(home.clone());
        let (kept_out_sender, kept_out) = watch::channel(HashSet::new());
        let ticks = watch::Sender::new(0);
        let drained = CancellationToken::new();
        let intake = CancellationToken::new();
        let (flush, halt) = (CancellationToken::new(), CancellationToken::new());
        let beat = Arc::new(AtomicU64::new(0));
        let shared = Shared {
            store: store.clone(),
            epoch: started.epoch,
            agent_loop: agent_loop.clone(),
            link: link.clone(),
            fatal,
            outbox: Arc::new(Notify::new()),
            alerts: Raised {
                own: Arc::new(Notify::new()),
                hub: settings.paths.change_notice(gangline_alerts::NOTICE),
            },
            rescan: Arc::new(Notify::new()),
            alarm: Arc::new(Notify::new()),
            redactor: Arc::new(read::redactor(settings)),
            context,
            showing,
            unread,
            joined: joined.clone(),
            wanted: wanted.clone(),
            kept_out,
            members: watch::Sender::new(Counts::new()),
            ticks: ticks.subscribe(),
            committed: watch::Sender::new(0),
            rooms,
            inquiries,
            calls,
            token,
            whispers,
            flush: flush.clone(),
            halt: halt.clone(),
            unasked,
            model: inputs::chosen_model(settings),
            effort: inputs::chosen_effort(settings),
        };
        let (feed, fed) = Feed::new();
        let (feed, fed) = match settings.watching.by {
            Watcher::Off => (Feed::default(), None),
            Watcher::Rules | Watcher::Unusable { .. } | Watcher::Model(_) => (feed, Some(fed)),
        };
        let unwatched = CancellationToken::new();
        let (to_hooks, hook_calls) =
            HookSender::new((&settings.agent, &settings.backend.name), settings.hooks.as_ref());
        let (backends, nursery) = Nursery::new(BACKEND, BACKEND_TASKS);
        let totals = relay.as_ref().map(|relay| relay.totals.clone());
        let ports = Ports {
            generations: generations(
                settings,
                &shared,
                (&started, token_sender, backends),
                relay.as_ref(),
            ),
            journal: journal(settings, &shared),
            looks: looks(settings, &shared),
            change_notices: change_notices(settings, &shared, (changes, intake.clone())),
            link: link.clone(),
            rooms: shared.rooms.clone(),
            context: context_sender,
            view: view_sender,
            showing: showing_sender,
            unread: shared.unread.clone(),
            drained: drained.clone(),
            beat: Arc::clone(&beat),
            hooks: to_hooks,
            notes: Notes::new(read::notes(settings)),
            checkpoint: Reading::new(CheckpointDeps {
                agent: settings.agent.nick.clone(),
                store: shared.store.clone(),
            }),
            whispers: whispers_sender,
        };
        let left = || started.left.as_ref().map(|left| left.session.clone());
        let loop_task = AgentLoop::new(read::identity(settings, started.epoch), core, ports)
            .bare(can.bare)
            .feeds(feed)
            .talks(settings.agent.progress == Progress::Talk)
            .rests(settings.sleep, settings.on_escalation)
            .pins(settings.agent.pinned.clone())
            .after(
                (
                    started.session.clone().or_else(left),
                    settings.agent.directory.display().to_string(),
                ),
                note,
            )
            .works_in(
                settings.agent.directory.display().to_string(),
                settings.child_env.get("HOME").cloned(),
            )
            .with_backend(
                settings.backend.name.clone(),
                settings.instead_of.as_ref().map(|it| it.name.clone()),
            )
            .permitted(settings.agent.permissions, shared.unasked.clone())
            .counts(settings.spending.prices.clone(), totals)
            .spends_from(settings.spending.account.clone())
            .with_watchdogs(settings.watchdogs)
            .begins_paused(&started.pauses)
            .ordered(ordered);
        let mut tasks = TaskGroup::new("daemon");
        let ends = Ends {
            agent_loop: loop_end,
            rooms: rooms_end,
            nursery,
            closed: intake.clone(),
            unread: unread_sender,
            hooks: hook_calls,
            calls: calls_end,
        };
        spending::spawn(&mut tasks, settings, &shared, relay);
        spawn_inner(&mut tasks, settings, &shared, (loop_task, ends));
        let outer = outer::Outer {
            link: link_end,
            events: (link_events, events),
            asked,
            said: (joined_sender, wanted_sender, kept_out_sender),
            intake: intake.clone(),
        };
        outer::spawn(&mut tasks, settings, &shared, outer);
        let supervisor = fed.map(|fed| watcher::waiting(settings, &shared, (fed, &unwatched)));
        let asked_to_end = CancellationToken::new();
        let requests =
            |proof| Arc::new(requests(settings, &shared, (can, asked_to_end.clone()), proof));
        let open_requests = settings.container.is_some().then(|| requests(Proof::Connection));
        let requests = requests(Proof::Token);
        Self {
            store,
            agent: settings.agent.nick.clone(),
            clock: settings.clock.clone(),
            home,
            tasks: Tasks::new(tasks, settings.clock.clone()),
            agent_loop,
            link,
            fatal: fatal_end,
            joined,
            wanted,
            view,
            ticks,
            beat,
            drained,
            intake,
            flush,
            halt,
            shut: CancellationToken::new(),
            asked_to_end,
            requests,
            open_requests,
            asked: false,
            has_hooks: settings.hooks.is_some(),
            alerts: alerting::sender(settings, &shared),
            supervisor,
            unwatched,
        }
    }

    /// Starts the supervisor, if the agent is watched.
    pub(super) fn start_supervisor(&mut self) -> StepState {
        let Some(waiting) = self.supervisor.take() else {
            self.tasks.has_none(SUPERVISOR);
            self.tasks.has_none(JUDGE);
            return StepState::Absent;
        };
        match waiting.nursery {
            Some(nursery) => {
                let run = nursery.run(self.unwatched.clone());
                self.tasks.spawn(JUDGE, logged(JUDGE, run));
            }
            None => self.tasks.has_none(JUDGE),
        }
        let run = waiting.supervisor.run(waiting.ends);
        self.tasks.spawn(SUPERVISOR, logged(SUPERVISOR, run));
        StepState::Done
    }
}

fn spawn_inner(
    tasks: &mut TaskGroup,
    settings: &Settings,
    shared: &Shared,
    (agent_loop, ends): (AgentLoop, Ends),
) {
    let rooms = Rooms {
        agent: settings.agent.nick.clone(),
        network_id: read::network_id(settings, shared.store.installation_id()),
        store: shared.store.clone(),
        redactor: Arc::clone(&shared.redactor),
        lines: settings.buffer_size,
        unread: ends.unread,
    };
    let (ticks, carried) = (shared.ticks.clone(), shared.flush.clone());
    tasks.spawn("rooms", logged("rooms", rooms.run(ends.rooms, ticks, carried)));
    let fatal = shared.fatal.clone();
    tasks.spawn(AGENT_LOOP, async move {
        let end = agent_loop.run(ends.agent_loop).await;
        tracing::info!(?end, "agent loop ended");
        if let LoopEnd::Fatal(why) = end {
            let _ = fatal.send(why).await;
        }
    });
    let (alarms, closed) = (alarms(settings, shared), ends.closed);
    tasks.spawn(ALARMS, logged(ALARMS, alarms.run(shared.ticks.clone(), closed.clone())));
    if let Some(updates) = updates(settings, shared) {
        tasks.spawn(UPDATES, logged(UPDATES, updates.run(shared.ticks.clone(), closed.clone())));
    }
    tasks.spawn(CALLS, logged(CALLS, calls(settings, shared).run(ends.calls, closed)));
    tasks.spawn(BACKEND, logged(BACKEND, ends.nursery.run(shared.halt.clone())));
    if let (Some(configured), Some(calls)) = (&settings.hooks, ends.hooks) {
        let hooks = hooks(settings, shared, configured);
        tasks.spawn(HOOKS, logged(HOOKS, hooks.run(calls)));
    }
}

fn generations(
    settings: &Settings,
    shared: &Shared,
    (started, token, backends): (&EpochStart, watch::Sender<Option<Secret>>, Spawner),
    relay: Option<&Prepared>,
) -> Generations {
    let mut options = start_options(settings, shared, started);
    if let Some(relay) = relay {
        relay.apply(&mut options);
    }
    let make = Arc::clone(&settings.make_runtime);
    Generations::new(
        BackendPort::new(make, backends, shared.halt.clone()),
        SessionOptions {
            options,
            known_as: started.known_as.clone(),
            first: settings.agent.initial_prompt.clone(),
            configured: settings.agent.model.clone(),
            thinking: Some(options::thinking(&settings.agent)),
            token,
        },
    )
}

fn journal(settings: &Settings, shared: &Shared) -> Journal {
    Journal::new(JournalDeps {
        agent: settings.agent.nick.clone(),
        epoch: shared.epoch,
        store: shared.store.clone(),
        paths: settings.paths.clone(),
        outbox: Arc::clone(&shared.outbox),
        alerts: shared.alerts.clone(),
        committed: shared.committed.clone(),
        turns_per_cause: settings.causes.limit,
    })
}

fn hooks(settings: &Settings, shared: &Shared, configured: &gangline_config::Hooks) -> Hooks {
    let run_id = read::run_id(settings, shared.store.installation_id(), shared.epoch).of_hooks();
    Hooks {
        me: read::identity(settings, shared.epoch),
        store: shared.store.clone(),
        program: Program {
            command: configured.command.clone(),
            folder: settings.agent.directory.clone(),
            env: environment::whole(settings, &run_id),
            limit: Duration::from_secs(configured.timeout_seconds),
            clock: SharedClock::clone(&settings.clock),
        },
    }
}

fn whereabouts(shared: &Shared) -> Whereabouts {
    Whereabouts {
        joined: shared.joined.clone(),
        wanted: shared.wanted.clone(),
        kept_out: shared.kept_out.clone(),
        inquiries: shared.inquiries.clone(),
    }
}
