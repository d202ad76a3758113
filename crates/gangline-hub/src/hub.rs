//! One hub: its lock, the IRC server, the processes it keeps, and the way they all end.

use std::{collections::BTreeSet, net::SocketAddr, path::PathBuf, time::Duration};

use gangline_api::ready::ReadyLine;
use gangline_broker::{Broker, OpenError, OpenOptions};
use gangline_core::{AgentName, Tier};
use gangline_os::{
    CancellationToken,
    clock::{SharedClock, UnixMicros},
    doorbell::Doorbell,
    fsio,
    lock::{FileLock, LockError, probe},
    paths::Paths,
    secret::Secret,
    signals::Signals,
};
use tracing::{info, warn};

use crate::{
    credentials::{self, OWNER},
    ircd,
    kept::{Kept, Reconciler, Standing},
};

/// How long daemons get to settle their turns when the hub is asked to end: their own budget is
/// 20 s and a kill ladder.
const DRAIN_BUDGET: Duration = Duration::from_secs(75);

/// What a hub is started with.
pub struct HubOptions {
    /// Where things lie.
    pub paths: Paths,
    /// The time.
    pub clock: SharedClock,
    /// The server's and network's name.
    pub name: String,
    /// Where the embedded IRC server listens; none = there is none.
    pub irc: Option<SocketAddr>,
    /// Where agents find IRC when there is no embedded server.
    pub irc_elsewhere: String,
    /// The agents that shall run.
    pub agents: Vec<AgentName>,
    /// Agents that have an account, running or not; those that shall run have one anyway.
    pub accounts: Vec<AgentName>,
    /// The longest wait before a process that died is started again.
    pub longest_delay: Duration,
    /// Where to write the ready line.
    pub ready_file: Option<PathBuf>,
}

/// Why a hub could not run.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// Another hub has the state folder.
    #[error("a hub runs on {} already: {holder}", state.display())]
    Taken {
        /// The state folder.
        state: PathBuf,
        /// What the other wrote of itself.
        holder: String,
    },
    /// A file or folder of the state could not be made.
    #[error("cannot use {}", path.display())]
    State {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The database could not be opened.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The IRC server could not start.
    #[error("the IRC server cannot run")]
    Irc(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What is known once the IRC server listens, before the agents are up.
#[derive(Debug, Clone)]
pub struct Listening {
    /// The IRC server's address.
    pub irc: String,
    /// The owner's token.
    pub owner: Secret,
}

/// Runs the hub until it is signalled. `kept` makes the processes to keep once the IRC address
/// is known; `told` is called when it listens, and again with `true` when all agents are ready.
///
/// # Errors
/// See [`HubError`]; a hub that has started ends only when asked.
pub async fn run(
    options: HubOptions,
    kept: impl FnOnce(&Listening) -> Vec<Kept>,
    told: impl Fn(&Listening, Progress),
) -> Result<(), HubError> {
    let mut signals =
        Signals::new().map_err(|source| HubError::State { path: "signals".into(), source })?;
    let paths = &options.paths;
    let _lock = take_lock(paths)?;
    let owner_file = credentials::owner_token_file(paths);
    let owner = credentials::load_or_make(&owner_file)
        .map_err(|source| HubError::State { path: owner_file, source })?;
    let clock = options.clock.clone();
    let begun = clock.now();
    let broker = Broker::open(OpenOptions { path: paths.database(), clock: clock.clone() }).await?;
    let stop_irc = CancellationToken::new();
    let mut tasks = gangline_os::task::TaskGroup::new("hub");
    let irc = match options.irc {
        Some(address) => {
            start_ircd(&options, address, &owner, (&mut tasks, stop_irc.clone())).await?
        }
        None => options.irc_elsewhere.clone(),
    };
    let listening = Listening { irc, owner };
    told(&listening, Progress::Listening);
    let mut reconciler = Reconciler::new(clock, options.longest_delay, kept(&listening));
    let watched = (&mut reconciler, &mut tasks, &mut signals);
    let kept = keep(&options, (&broker, begun), &listening, (watched, &told)).await;
    told(&listening, Progress::Draining);
    reconciler.drain(DRAIN_BUDGET).await;
    stop_irc.cancel();
    tasks.stop(Duration::from_secs(5)).await;
    if let Err(error) = broker.close().await {
        warn!(%error, "the store did not close");
    }
    info!("hub ended");
    kept
}

/// How far the hub is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// IRC clients can join.
    Listening,
    /// All agents are in their rooms.
    Ready,
    /// The hub was asked to end.
    Draining,
}

fn take_lock(paths: &Paths) -> Result<FileLock, HubError> {
    let state = paths.state.clone();
    fsio::private_dir(&state).map_err(|source| HubError::State { path: state.clone(), source })?;
    FileLock::try_take(&paths.hub_lock(), "gangline hub").map_err(|error| match error {
        LockError::Held(holder) => HubError::Taken { state, holder: holder.to_string() },
        other => HubError::State { path: paths.hub_lock(), source: std::io::Error::other(other) },
    })
}

async fn start_ircd(
    options: &HubOptions,
    address: SocketAddr,
    owner: &Secret,
    (tasks, stop): (&mut gangline_os::task::TaskGroup, CancellationToken),
) -> Result<String, HubError> {
    let mut accounts = vec![(OWNER.to_owned(), Tier::Owner, credentials::hash(owner))];
    let known: BTreeSet<&AgentName> = options.agents.iter().chain(&options.accounts).collect();
    for agent in known {
        let path = credentials::agent_secret_file(&options.paths, agent);
        let secret =
            credentials::load_or_make(&path).map_err(|source| HubError::State { path, source })?;
        accounts.push((agent.to_string(), Tier::Agent, credentials::hash(&secret)));
    }
    let (bound, listening) = tokio::sync::oneshot::channel();
    let (failed, failure) = tokio::sync::oneshot::channel();
    let irc = ircd::IrcdOptions {
        listen: address,
        name: options.name.clone(),
        state: options.paths.state.clone(),
        accounts,
        clock: options.clock.clone(),
    };
    tasks.spawn("ircd", async move {
        if let Err(error) = ircd::serve(irc, bound, stop).await {
            let _ = failed.send(error);
        }
    });
    match listening.await {
        Ok(address) => Ok(address.to_string()),
        Err(_) => match failure.await {
            Ok(error) => Err(HubError::Irc(Box::new(error))),
            Err(_) => Err(HubError::Irc("it ended at once".into())),
        },
    }
}

/// What the hub watches while it runs.
type Watched<'a> = (&'a mut Reconciler, &'a mut gangline_os::task::TaskGroup, &'a mut Signals);

async fn keep(
    options: &HubOptions,
    store: (&Broker, UnixMicros),
    listening: &Listening,
    ((reconciler, tasks, signals), told): (Watched<'_>, &impl Fn(&Listening, Progress)),
) -> Result<(), HubError> {
    let bell_path = options.paths.doorbell("hub");
    let bell =
        Doorbell::bind(&bell_path).map_err(|source| HubError::State { path: bell_path, source })?;
    let mut ready = false;
    loop {
        reconciler.look();
        if !ready && all_ready(options, store, reconciler).await {
            ready = true;
            write_ready(options, listening)?;
            told(listening, Progress::Ready);
        }
        let patience = reconciler.patience();
        tokio::select! {
            () = reconciler.child_ended() => {}
            () = bell.rung() => {}
            () = tokio::time::sleep(patience) => {}
            _ = signals.next() => return Ok(()),
            Some(end) = tasks.next_end() => {
                let what = format!("{} ended: {:?}", end.name, end.how);
                return Err(HubError::Irc(what.into()));
            }
        }
    }
}

/// Every process holds its lock, and every agent said under its present epoch that it is ready:
/// with an IRC server of ours, since that server began, for an adopted daemon has to come back.
async fn all_ready(
    options: &HubOptions,
    (broker, begun): (&Broker, UnixMicros),
    reconciler: &Reconciler,
) -> bool {
    let since = if options.irc.is_some() { begun } else { UnixMicros(0) };
    let all_up =
        reconciler.standings().values().all(|standing| matches!(standing, Standing::Up { .. }));
    if !all_up {
        return false;
    }
    for agent in &options.agents {
        let holder = probe(&options.paths.agent_lock(agent.as_str())).ok().flatten();
        let pid = holder.and_then(|holder| holder.pid).map(i64::from);
        match broker.agent(agent).await {
            Ok(Some(row)) if row.ready_at.is_some_and(|at| at >= since) && pid == Some(row.pid) => {
            }
            _ => return false,
        }
    }
    true
}

fn write_ready(options: &HubOptions, listening: &Listening) -> Result<(), HubError> {
    let Some(path) = &options.ready_file else { return Ok(()) };
    let line = ReadyLine {
        pid: std::process::id(),
        irc: listening.irc.clone(),
        http: None,
        token: listening.owner.expose().to_owned(),
        state: options.paths.state.clone(),
    };
    let text = serde_json::to_string(&line)
        .map_err(|error| HubError::State { path: path.clone(), source: error.into() })?;
    fsio::write_private(path, format!("{text}\n").as_bytes())
        .map_err(|source| HubError::State { path: path.clone(), source })
}
