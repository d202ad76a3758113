//! One hub: its lock, the IRC server, the processes it keeps, and the way they all end.
//!
//! Start at [`run`]. What it does while it runs is in `hub/watch.rs`, how a fleet is restarted in
//! `hub/roll.rs`, how it ends in `hub/drain.rs`.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use gangline_api::ready::ReadyLine;
use gangline_core::{AgentName, Tier};
use gangline_http::Standing;
use gangline_irc::server::{access::Access, store::HistoryStore};
use gangline_os::{
    CancellationToken,
    change_notice::ChangeNotice,
    clock::SharedClock,
    failpoint, fsio,
    lock::{FileLock, LockError},
    notify::{self, Word},
    paths::Paths,
    secret::Secret,
    signals::Requests,
    task::TaskGroup,
};
use gangline_store::{OpenError, OpenOptions, Store};
use tracing::{info, warn};

use crate::{
    about,
    credentials::{self, OWNER},
    ircd::{self, AccessSetter, Ircd, IrcdError, IrcdOptions},
    kept::{Kept, Reconciler},
};

mod alerts;
mod changes;
mod drain;
mod http;
mod removed;
mod roll;
mod vigil;
mod watch;

use alerts::Telling;
pub use http::HttpOptions;
pub use roll::is_idle;
use watch::{Ends, Watch};

/// What becomes of the daemons when the hub is asked to end by SIGTERM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnTerm {
    /// They are drained, as by SIGINT.
    Drain,
    /// They run on; the next hub adopts them.
    Leave,
}

/// What a hub is started with.
pub struct HubOptions {
    /// Where things lie.
    pub paths: Paths,
    /// The time.
    pub clock: SharedClock,
    /// The server's and network's name.
    pub name: String,
    /// Where the embedded IRC server listens; none = there is no embedded server.
    pub irc: Option<SocketAddr>,
    /// Where agents find IRC when there is no embedded server.
    pub irc_elsewhere: String,
    /// The account and password of the hub's own client there; `None` = it does not log in.
    pub login_elsewhere: Option<(String, Secret)>,
    /// Whether it starts and ends daemons at all.
    pub keeps_agents: bool,
    /// What SIGTERM does.
    pub on_term: OnTerm,
    /// The longest wait before a process that died is started again.
    pub longest_delay: Duration,
    /// How long an agent may take to come up after a change, before the change is undone.
    pub up_within: Duration,
    /// Where to write the ready line.
    pub ready_file: Option<PathBuf>,
    /// Whether the owner's token is in the ready line. Its file is named there in any case.
    pub shows_token: bool,
    /// The program that daemons are started with.
    pub program: PathBuf,
    /// The HTTP interface; none = there is none.
    pub http: Option<HttpOptions>,
    /// The options of the command line, for a hub that takes this one's place.
    pub options: Vec<String>,
}

/// The processes that a hub should keep running, by the present configuration.
pub struct Plan {
    /// The processes, in the order of their start.
    pub kept: Vec<Kept>,
    /// Every agent of the configuration, including those that should not run.
    pub configured: Vec<AgentName>,
    /// Agents that have an account on the embedded server, running or not.
    pub accounts: Vec<AgentName>,
    /// Who may be on the embedded server.
    pub access: Access,
    /// Where alerts go.
    pub alerts: gangline_alerts::Plan,
    /// The sections whose changes take effect only in a hub that starts anew.
    pub unapplied: Vec<&'static str>,
}

/// Why a configuration cannot be used: a text for people, of one line or several.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Why a hub could not run.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// Another hub has the state folder.
    #[error("a hub already runs on {}: {holder}", state.display())]
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
    /// The IRC server can never start as things are: its history is damaged or of a newer program.
    #[error("the IRC server cannot run")]
    History(#[source] Box<IrcdError>),
    /// What to keep could not be told.
    #[error(transparent)]
    Plan(#[from] Refused),
}

impl From<IrcdError> for HubError {
    fn from(error: IrcdError) -> Self {
        match error.is_for_good() {
            true => Self::History(Box::new(error)),
            false => Self::Irc(Box::new(error)),
        }
    }
}

/// What is known once the IRC server listens, before the agents are up.
#[derive(Debug, Clone)]
pub struct Listening {
    /// The IRC server's address.
    pub irc: String,
    /// The owner's token.
    pub owner: Secret,
    /// The address of the HTTP interface, once the hub is ready and if it listens.
    pub http: Option<String>,
}

/// How far the hub is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// IRC clients can join.
    Listening,
    /// All agents that should run are in their rooms, except those that wait for a human.
    Ready {
        /// They.
        agents: Vec<String>,
        /// Those that cannot answer until somebody does something.
        failed: Vec<String>,
        /// Those that an operator has stopped.
        stopped: Vec<String>,
    },
    /// The hub was asked to end and waits for these, by name; told again when that changes.
    Draining(Vec<Left>),
    /// The hub ends, and these daemons run on.
    Leaving(Vec<String>),
}

/// A process that was asked to end and still runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Its name.
    pub name: String,
    /// Whether its agent is in a turn, which may settle.
    pub in_turn: bool,
}

/// Runs the hub until it is signalled. `plan` says what to keep running, once the IRC address is
/// known and again after each reload of the configuration; `told` gets the hub's progress.
///
/// # Errors
/// See [`HubError`]; a hub that has started ends only when asked.
pub async fn run(
    options: HubOptions,
    mut plan: impl FnMut(&Listening) -> Result<Plan, Refused>,
    told: impl Fn(&Listening, &Progress),
) -> Result<(), HubError> {
    let mut requests =
        Requests::new().map_err(|source| HubError::State { path: "signals".into(), source })?;
    let paths = options.paths.clone();
    let _lock = take_lock(&paths)?;
    failpoint::hit("hub.begins");
    let owner = owner(&paths)?;
    let clock = options.clock.clone();
    let begun = clock.now();
    let store = Store::open(OpenOptions { path: paths.database(), clock: clock.clone() }).await?;
    let ircd = match options.irc {
        Some(address) => {
            Some(open_ircd(&options, (address, store.installation_id()), &owner).await?)
        }
        None => None,
    };
    let listening = Listening { irc: irc_address(&options, ircd.as_ref()), owner, http: None };
    let planned = first_plan(&mut plan, &listening, (&store, &paths)).await?;
    let Plan { kept, configured, accounts, access, alerts: plan_of_alerts, .. } = planned;
    let changes = hear_changes(&paths)?;
    let history = ircd.as_ref().map(Ircd::store);
    let setter = ircd.as_ref().map(Ircd::access);
    register(&paths, history.as_deref(), &accounts).await?;
    let service = alerts::account(&paths, history.as_deref()).await?;
    allow(setter.as_ref(), access);
    let stop_irc = CancellationToken::new();
    let mut tasks = TaskGroup::new("hub");
    if let Some(ircd) = ircd {
        tasks.spawn("ircd", serve(ircd, stop_irc.clone()));
    }
    let (http, _http_tasks) = http::serve(&options, (&store, &listening.owner), &stop_irc);
    let telling = Telling::begin(&options, &store, plan_of_alerts, service);
    let reconciler = Reconciler::new(clock, options.longest_delay, (store.installation_id(), kept));
    let mut watch = Watch::new(
        &options,
        (store.clone(), begun),
        (listening, configured),
        (reconciler, changes, telling),
        (history, setter, http),
    );
    told(&watch.listening, &Progress::Listening);
    notify::tell(&[Word::Ready]);
    let ended = watch.watch((&mut requests, &mut tasks), (&mut plan, &told)).await;
    notify::tell(&[Word::Stopping]);
    let why = format!("{ended:?}");
    let ended = match ended {
        Ends::Drain => watch.drain(&mut requests, &told).await,
        Ends::Leave => Ok(()),
        Ends::Failed(error) => watch.drain(&mut requests, &told).await.and(Err(error)),
    };
    watch.leave(&told);
    // Its client says goodbye before the server goes.
    watch.telling.end().await;
    stop_irc.cancel();
    tasks.stop(Duration::from_secs(5)).await;
    if let Err(error) = store.close().await {
        warn!(%error, "the store did not close");
    }
    info!(why, "hub ended");
    ended
}

/// Returns the first plan. Where a change of the configuration was under way that cannot be used, it is undone.
async fn first_plan(
    plan: &mut impl FnMut(&Listening) -> Result<Plan, Refused>,
    listening: &Listening,
    (store, paths): (&Store, &Paths),
) -> Result<Plan, Refused> {
    match plan(listening) {
        Err(refused) if changes::undo_refused(store, paths, &refused).await => plan(listening),
        planned => planned,
    }
}

/// Returns where the chat is: our own server, or the one that was named.
fn irc_address(options: &HubOptions, ircd: Option<&Ircd>) -> String {
    ircd.map_or_else(|| options.irc_elsewhere.clone(), |ircd| ircd.address().to_string())
}

/// Runs the chat server, and logs why it ended.
async fn serve(ircd: Ircd, stop: CancellationToken) {
    let end = ircd.run(stop).await;
    info!(?end, "chat server ended");
}

fn take_lock(paths: &Paths) -> Result<FileLock, HubError> {
    let state = paths.state.clone();
    fsio::private_dir(&state).map_err(|source| HubError::State { path: state.clone(), source })?;
    FileLock::take(&paths.hub_lock(), "gangline hub").map_err(|error| match error {
        LockError::Held(holder) => HubError::Taken { state, holder: holder.to_string() },
        other => HubError::State { path: paths.hub_lock(), source: std::io::Error::other(other) },
    })
}

fn hear_changes(paths: &Paths) -> Result<ChangeNotice, HubError> {
    let path = paths.change_notice("hub");
    ChangeNotice::bind(&path).map_err(|source| HubError::State { path, source })
}

fn owner(paths: &Paths) -> Result<Secret, HubError> {
    let path = credentials::owner_token_file(paths);
    credentials::load_or_make_owner(&path).map_err(|source| HubError::State { path, source })
}

/// Binds the server; nobody is let in before it is run.
async fn open_ircd(
    options: &HubOptions,
    (address, installation): (SocketAddr, &str),
    owner: &Secret,
) -> Result<Ircd, IrcdError> {
    let irc = IrcdOptions {
        listen: address,
        name: options.name.clone(),
        state: options.paths.state.clone(),
        accounts: vec![(OWNER.to_owned(), Tier::Owner, credentials::hash(owner))],
        clock: options.clock.clone(),
    };
    let installation = Some(installation.to_owned());
    Ircd::open(irc, ircd::Tuning { installation, ..ircd::Tuning::default() }).await
}

/// Tells the server who may be there.
fn allow(setter: Option<&AccessSetter>, access: Access) {
    if let Some(setter) = setter {
        setter.send_replace(Arc::new(access));
    }
}

/// Gives every agent that has none yet its account.
async fn register(
    paths: &Paths,
    history: Option<&dyn HistoryStore>,
    agents: &[AgentName],
) -> Result<(), HubError> {
    let Some(history) = history else { return Ok(()) };
    for agent in agents {
        let path = credentials::agent_secret_file(paths, agent);
        let secret =
            credentials::load_or_make(&path).map_err(|source| HubError::State { path, source })?;
        let hash = credentials::hash(&secret);
        let known = Arc::clone(&history.accounts().borrow());
        let same = |account: &gangline_irc::server::store::Account| {
            account.tier == Tier::Agent && account.credential_sha256 == hash
        };
        if !known.get(agent.as_str()).is_some_and(same) {
            ircd::register(history, agent.as_str(), (Tier::Agent, hash)).await?;
        }
    }
    Ok(())
}

fn write_ready(
    options: &HubOptions,
    listening: &Listening,
    http: &Standing,
) -> Result<(), HubError> {
    let Some(path) = &options.ready_file else { return Ok(()) };
    let line = ReadyLine {
        pid: std::process::id(),
        irc: listening.irc.clone(),
        http: http::address(http),
        token: options.shows_token.then(|| listening.owner.expose().to_owned()),
        token_file: Some(credentials::owner_token_file(&options.paths)),
        state: options.paths.state.clone(),
    };
    let text = serde_json::to_string(&line)
        .map_err(|error| HubError::State { path: path.clone(), source: error.into() })?;
    fsio::write_private(path, format!("{text}\n").as_bytes())
        .map_err(|source| HubError::State { path: path.clone(), source })
}

/// Writes `hub.json`; a state folder that cannot be written to has worse troubles.
fn publish(paths: &Paths, about: &about::About) {
    if let Err(error) = about::write(paths, about) {
        warn!(%error, "cannot write hub.json");
    }
}
