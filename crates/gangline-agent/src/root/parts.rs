//! The daemon's parts and their wiring.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use gangline_api::config::{AgentConfig, OnCrash, Permissions, ReplyMode};
use gangline_broker::{Broker, EpochStart};
use gangline_core::{
    Epoch,
    agent::{self, Agent, AgentOptions, StartMode, View},
    answer::{self, Rules},
    name::ChannelName,
    redact::Redactor,
    trust,
};
use gangline_irc::client::{Link, LinkCommand, LinkConfig, TrustTags};
use gangline_os::{CancellationToken, doorbell::Doorbell, mark::RunMark, task::TaskGroup};
use gangline_runtime::{Mode, PermissionMode, StartOptions};
use tokio::sync::{Notify, mpsc, watch};

use crate::{
    brain::{Brain, Doors, Identity},
    bus::{
        BRAIN_QUEUE, Fatal, Incoming, KEEPER_QUEUE, LINK_QUEUE, Record, SESSION_QUEUE,
        SessionCommand, Word,
    },
    courier::{Courier, Office},
    inbox::Inbox,
    keeper::Keeper,
    prompt,
    session::{Session, resume_from},
    settings::Settings,
    tools::{SpeakingTools, TurnContext},
};

/// The unit of the reconnect wait (1, 2, 4 … 60 of it) on the installation's own server.
const OWN_BACKOFF_UNIT: Duration = Duration::from_millis(80);

/// Everything the root holds on to.
pub(super) struct Parts {
    pub(super) broker: Broker,
    pub(super) epoch: Epoch,
    pub(super) agent: gangline_core::AgentName,
    pub(super) home: HashSet<ChannelName>,
    pub(super) tasks: TaskGroup,
    pub(super) brain: mpsc::Sender<Incoming>,
    pub(super) link: mpsc::Sender<LinkCommand>,
    pub(super) fatal: mpsc::Receiver<Fatal>,
    pub(super) joined: watch::Receiver<HashSet<ChannelName>>,
    pub(super) view: watch::Receiver<View>,
    pub(super) ticks: watch::Receiver<u64>,
    pub(super) beat: Arc<AtomicU64>,
    pub(super) drained: CancellationToken,
    /// Nothing is taken in any more.
    pub(super) intake: CancellationToken,
    /// The outbox is no longer carried.
    pub(super) flush: CancellationToken,
    /// A signal came before everything was up.
    pub(super) asked: bool,
    /// Tasks whose end was seen.
    pub(super) seen: HashSet<String>,
}

/// The ends of the queues that tasks take from.
struct Ends {
    brain: mpsc::Receiver<Incoming>,
    keeper: mpsc::Receiver<Record>,
    session: mpsc::Receiver<SessionCommand>,
}

/// The beginnings of the queues and the signals that tasks share.
struct Shared {
    broker: Broker,
    epoch: Epoch,
    brain: mpsc::Sender<Incoming>,
    keeper: mpsc::Sender<Record>,
    session: mpsc::Sender<SessionCommand>,
    link: mpsc::Sender<LinkCommand>,
    fatal: mpsc::Sender<Fatal>,
    outbox: Arc<Notify>,
    rescan: Arc<Notify>,
    redactor: Arc<Redactor>,
    context: watch::Receiver<Option<TurnContext>>,
    view: watch::Receiver<View>,
}

impl Parts {
    /// Wires and starts every task but the backend, which the state machine starts.
    pub(super) fn start(
        settings: &Settings,
        broker: Broker,
        started: EpochStart,
        bell: Doorbell,
    ) -> Self {
        let (brain, brain_end) = mpsc::channel(BRAIN_QUEUE);
        let (keeper, keeper_end) = mpsc::channel(KEEPER_QUEUE);
        let (session, session_end) = mpsc::channel(SESSION_QUEUE);
        let (link, link_end) = mpsc::channel(LINK_QUEUE);
        let (link_events, events) = mpsc::channel(LINK_QUEUE);
        let (fatal, fatal_end) = mpsc::channel(4);
        let core = Agent::new(agent_options(&settings.agent, started.epoch));
        let (view_sender, view) = watch::channel(core.view());
        let (context_sender, context) = watch::channel(None);
        let (joined_sender, joined) = watch::channel(HashSet::new());
        let (tick_sender, ticks) = watch::channel(0);
        let drained = CancellationToken::new();
        let intake = CancellationToken::new();
        let flush = CancellationToken::new();
        let beat = Arc::new(AtomicU64::new(0));
        let shared = Shared {
            broker: broker.clone(),
            epoch: started.epoch,
            brain: brain.clone(),
            keeper,
            session,
            link: link.clone(),
            fatal,
            outbox: Arc::new(Notify::new()),
            rescan: Arc::new(Notify::new()),
            redactor: Arc::new(redactor(settings)),
            context,
            view: view.clone(),
        };
        let doors = Doors {
            session: shared.session.clone(),
            keeper: shared.keeper.clone(),
            link: link.clone(),
            context: context_sender,
            view: view_sender,
            rescan: Arc::clone(&shared.rescan),
            drained: drained.clone(),
            beat: Arc::clone(&beat),
        };
        let brain_task = Brain::new(identity(settings, started.epoch), core, doors);
        let mut tasks = TaskGroup::new("daemon");
        let ends = Ends { brain: brain_end, keeper: keeper_end, session: session_end };
        spawn_inner(&mut tasks, settings, (&shared, &started), (brain_task, ends));
        let config = link_config(settings);
        let stop_link = flush.clone();
        let opened = CancellationToken::new();
        let may_connect = opened.clone();
        tasks.spawn("link", async move {
            tokio::select! {
                () = may_connect.cancelled() => {}
                () = stop_link.cancelled() => return,
            }
            let end = Link::run(config, link_end, link_events, stop_link).await;
            tracing::debug!(?end, "link ended");
        });
        let courier =
            Courier::new(office(settings, &shared, (joined_sender, intake.clone(), opened)));
        let carried = flush.clone();
        let courier_ticks = ticks.clone();
        tasks.spawn("courier", async move { courier.run(events, courier_ticks, carried).await });
        let inbox = Inbox {
            agent: settings.agent.nick.clone(),
            epoch: started.epoch,
            broker: broker.clone(),
            clock: settings.clock.clone(),
            brain: brain.clone(),
            rescan: Arc::clone(&shared.rescan),
            outbox: Arc::clone(&shared.outbox),
            bell,
            ticks: tick_sender,
        };
        let closed = intake.clone();
        tasks.spawn("inbox", async move { inbox.run(closed).await });
        if started.paused {
            let _ = brain.try_send(Incoming::Operator(Word::Pause));
        }
        Self {
            broker,
            epoch: started.epoch,
            agent: settings.agent.nick.clone(),
            home: settings.agent.channels.iter().cloned().collect(),
            tasks,
            brain,
            link,
            fatal: fatal_end,
            joined,
            view,
            ticks,
            beat,
            drained,
            intake,
            flush,
            asked: false,
            seen: HashSet::new(),
        }
    }
}

fn spawn_inner(
    tasks: &mut TaskGroup,
    settings: &Settings,
    (shared, started): (&Shared, &EpochStart),
    (brain, ends): (Brain, Ends),
) {
    let keeper = Keeper {
        agent: settings.agent.nick.clone(),
        epoch: shared.epoch,
        broker: shared.broker.clone(),
        paths: settings.paths.clone(),
        brain: shared.brain.clone(),
        outbox: Arc::clone(&shared.outbox),
        rescan: Arc::clone(&shared.rescan),
        fatal: shared.fatal.clone(),
    };
    let session = Session {
        make: Arc::clone(&settings.make_runtime),
        options: start_options(settings, shared, started),
        brain: shared.brain.clone(),
    };
    tasks.spawn("brain", async move { brain.run(ends.brain).await });
    tasks.spawn("keeper", async move { keeper.run(ends.keeper).await });
    tasks.spawn("session", async move { session.run(ends.session).await });
}

fn office(
    settings: &Settings,
    shared: &Shared,
    (joined, closed, opened): (
        watch::Sender<HashSet<ChannelName>>,
        CancellationToken,
        CancellationToken,
    ),
) -> Office {
    let own = settings.irc.own;
    let network_id =
        if own { shared.broker.installation_id().to_owned() } else { settings.irc.address.clone() };
    Office {
        agent: settings.agent.nick.clone(),
        broker: shared.broker.clone(),
        clock: settings.clock.clone(),
        redactor: Arc::clone(&shared.redactor),
        network_id,
        own,
        trust_nicks: settings.irc.trust_nicks,
        home: settings.agent.channels.iter().cloned().collect(),
        everybody: settings.everybody.clone(),
        closed,
        opened,
        policy: trust::Policy::default(),
        brain: shared.brain.clone(),
        link: shared.link.clone(),
        outbox: Arc::clone(&shared.outbox),
        rescan: Arc::clone(&shared.rescan),
        view: shared.view.clone(),
        joined,
    }
}

fn link_config(settings: &Settings) -> LinkConfig {
    let mut config = LinkConfig::new(
        settings.irc.address.clone(),
        settings.agent.nick.nick(),
        settings.clock.clone(),
    );
    config.realname = format!("gangline agent ({})", settings.agent.agent);
    config.sasl.clone_from(&settings.irc.login);
    config.channels.clone_from(&settings.agent.channels);
    if settings.irc.own {
        // The installation's own server is back soon after its hub: 0.08 … 5 s instead of 1 … 60.
        config.timing.backoff_unit = OWN_BACKOFF_UNIT;
    }
    config.trusted_tags = if settings.irc.own { TrustTags::Believe } else { TrustTags::Ignore };
    config
}

fn start_options(settings: &Settings, shared: &Shared, started: &EpochStart) -> StartOptions {
    let agent = &settings.agent;
    let folder = settings.paths.agent_dir(agent.nick.as_str());
    let mark = RunMark {
        installation: shared.broker.installation_id().to_owned(),
        agent: agent.nick.to_string(),
        epoch: shared.epoch.0,
    };
    let mut env = settings.child_env.clone();
    env.insert(gangline_os::mark::RUN_MARK.to_owned(), mark.to_string());
    env.insert("CULTURE_NICK".to_owned(), agent.nick.to_string());
    env.insert("GANGLINE_NICK".to_owned(), agent.nick.to_string());
    env.insert("GANGLINE_STATE_DIR".to_owned(), folder.display().to_string());
    StartOptions {
        workdir: agent.directory.clone(),
        session_dir: folder.join("sessions"),
        tmp_dir: folder.join("tmp"),
        account_dir: agent.account_dir.clone(),
        env: env.into_iter().collect(),
        mode: Mode::Resident,
        model: agent.model.clone(),
        thinking: Some(agent.thinking.clone()),
        system_prompt: prompt::system(agent),
        mcp_servers: Vec::new(),
        permissions: match agent.permissions {
            Permissions::Ask => PermissionMode::Ask,
            Permissions::Allowlist => PermissionMode::Allowlist,
            Permissions::Bypass => PermissionMode::Bypass,
        },
        allowed_tools: agent.allowed_tools.clone(),
        resume: resume_from(started.session.clone()),
        base_url: agent.base_url.clone(),
        api_key: settings.api_key.clone(),
        extra: agent.extra.clone(),
        tools: Arc::new(SpeakingTools {
            agent: agent.nick.clone(),
            broker: shared.broker.clone(),
            paths: settings.paths.clone(),
            redactor: Arc::clone(&shared.redactor),
            brain: shared.brain.clone(),
            outbox: Arc::clone(&shared.outbox),
            turn: shared.context.clone(),
            max_hops: trust::Policy::default().max_hops,
        }),
    }
}

fn redactor(settings: &Settings) -> Redactor {
    Redactor::new(settings.secrets.iter().map(|secret| secret.expose().to_owned()))
}

/// Returns who the daemon works for.
pub(super) fn identity(settings: &Settings, epoch: Epoch) -> Identity {
    Identity {
        agent: settings.agent.nick.clone(),
        epoch,
        clock: settings.clock.clone(),
        redactor: Arc::new(redactor(settings)),
    }
}

/// Returns the settings of the answer rule.
pub(super) fn rules(agent: &AgentConfig) -> Rules {
    Rules {
        reply: match agent.reply {
            ReplyMode::RelayIfSilent => answer::ReplyMode::RelayIfSilent,
            ReplyMode::Relay => answer::ReplyMode::Relay,
            ReplyMode::Tools => answer::ReplyMode::Tools,
        },
        max_attempts: i64::from(agent.max_attempts),
    }
}

fn agent_options(config: &AgentConfig, epoch: Epoch) -> AgentOptions {
    AgentOptions {
        epoch,
        rules: rules(config),
        start: StartMode::Eager,
        on_crash: match config.on_crash {
            OnCrash::Resume => agent::OnCrash::Resume,
            OnCrash::Fresh => agent::OnCrash::Fresh,
        },
        turn_output: Duration::from_secs(config.turn_timeout_seconds),
        ..AgentOptions::default()
    }
}
