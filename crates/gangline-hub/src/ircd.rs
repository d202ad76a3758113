//! The embedded IRC server with its history on disk: what `gangline ircd` and the hub run.
//!
//! Owns `<state>/irc.db` and `<state>/irc.sock` while it runs. Start at [`Ircd::open`], or [`serve`] for all in one.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use gangline_core::{Tier, name::NameError};
use gangline_irc::server::{
    Server, ServerEnd,
    access::Access,
    config::{BindError, Limits, ServerConfig},
    memory::MemoryStore,
    store::{Account, HistoryError, HistoryStore},
};
use gangline_os::{clock::SharedClock, fsio, paths, proc};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use guide::AgentRemarks;
use history::SqliteHistory;
use opening::{HistoryOptions, OpenError};
use trust::AccountTrust;

use crate::credentials::{self, OWNER};

mod events;
pub mod guide;
pub mod history;
mod look;
mod markers;
mod marks;
pub mod opening;
mod port;
mod reading;
mod rooms;
mod rows;
mod schema;
pub mod trust;
mod writer;

/// Whether what is said outlives the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// In `irc.db`, with this maximum of lines per target.
    OnDisk(u32),
    /// In memory until the server stops (`--no-history`), with this maximum of lines per target.
    InMemory(usize),
}

/// What the server needs to know.
#[derive(Clone)]
pub struct IrcdOptions {
    /// The loopback address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The server's name; no spaces.
    pub name: String,
    /// The state folder; made (0700) if it is missing.
    pub state: PathBuf,
    /// Accounts to register before anybody is let in: name, tier, SHA-256 of the credential in
    /// hexadecimal. Without `owner` among them, the owner's token is read from the state folder,
    /// or made.
    pub accounts: Vec<(String, Tier, String)>,
    /// The clock.
    pub clock: SharedClock,
}

/// What may be left as it is.
#[derive(Clone)]
pub struct Tuning {
    /// The network's name; the server's, if there is none. No spaces.
    pub network: Option<String>,
    /// Lines of the message of the day.
    pub motd: Vec<String>,
    /// Lines of the answer to HELP.
    pub help: Vec<String>,
    /// The topic of a room that never had one.
    pub topic: Option<String>,
    /// Where lines are kept.
    pub keep: Keep,
    /// Limits of the server.
    pub limits: Limits,
    /// Who may be there.
    pub access: Access,
    /// The installation's id, by which agents' processes are known whose daemon is dead.
    pub installation: Option<String>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            network: None,
            motd: guide::motd(),
            help: guide::help(),
            topic: Some(guide::TOPIC.to_owned()),
            keep: Keep::OnDisk(10_000),
            limits: Limits { descriptors: proc::descriptor_limit(), ..Limits::default() },
            access: Access::default(),
            installation: None,
        }
    }
}

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum IrcdError {
    /// The state folder or the owner's token cannot be used.
    #[error("cannot use the state folder {}", path.display())]
    State {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The history cannot be opened.
    #[error(transparent)]
    History(#[from] OpenError),
    /// The address cannot be listened on.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// Another user of this machine has the port.
    #[error(
        "cannot listen on {address}: user {uid} of this machine listens there; passwords that were \
         typed into an IRC client since the chat server ended may be known to that user. {remedy}"
    )]
    PortTaken {
        /// The address asked for.
        address: SocketAddr,
        /// Who listens there.
        uid: u32,
        /// What was done about the owner's token, a sentence.
        remedy: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// An account has a name that is no nick.
    #[error("an account cannot have this name")]
    AccountName(#[from] NameError),
    /// An account cannot be kept.
    #[error("cannot register the account {name}")]
    Account {
        /// Whose.
        name: String,
        /// Why.
        source: HistoryError,
    },
}

impl IrcdError {
    /// Returns whether no restart helps: the history is damaged or of a newer program.
    #[must_use]
    pub fn is_for_good(&self) -> bool {
        let Self::History(error) = self else { return false };
        matches!(error, OpenError::Damaged { .. } | OpenError::NewerSchema { .. })
    }
}

/// Replaces the rules of who may be there.
pub type AccessSetter = watch::Sender<Arc<Access>>;

/// A server that is bound and about to run.
pub struct Ircd {
    server: Server,
    store: Arc<dyn HistoryStore>,
    disk: Option<Arc<SqliteHistory>>,
    access: AccessSetter,
}

impl Ircd {
    /// Opens the history, registers the accounts and binds the sockets. Connections are accepted
    /// from now on and served by [`Ircd::run`]. If another user of this machine has the port, the
    /// owner's token is replaced before it fails.
    ///
    /// Cancel-safe: no; the history's lock may be held for a moment after a drop.
    ///
    /// # Errors
    /// See [`IrcdError`].
    pub async fn open(mut options: IrcdOptions, tuning: Tuning) -> Result<Self, IrcdError> {
        if !options.listen.ip().is_loopback() {
            return Err(BindError::NotLoopback { address: options.listen }.into());
        }
        let state = options.state.clone();
        fsio::private_dir(&state)
            .map_err(|source| IrcdError::State { path: state.clone(), source })?;
        let (store, disk) = open_store(&options, tuning.keep).await?;
        let path = state.join("owner.token");
        let token = credentials::load_or_make_owner(&path)
            .map_err(|source| IrcdError::State { path, source })?;
        if options.accounts.iter().all(|(name, ..)| name != OWNER) {
            options.accounts.push((OWNER.to_owned(), Tier::Owner, credentials::hash(&token)));
        }
        for (name, tier, sha256) in options.accounts {
            register(&*store, &name, (tier, sha256)).await?;
        }
        let mut config = ServerConfig::new(options.listen, options.name, options.clock);
        config.network = tuning.network.unwrap_or(config.network);
        config.motd = tuning.motd;
        config.help = tuning.help;
        config.topic = tuning.topic;
        config.remarks = Some(Arc::new(AgentRemarks::new(store.accounts())));
        config.limits = tuning.limits;
        let (access, looked_at) = watch::channel(Arc::new(tuning.access));
        config.access = looked_at;
        config.socket = Some(paths::irc_socket(&state));
        let trust = AccountTrust::new(store.accounts(), &state).with_owner(token);
        let trust = Arc::new(trust.with_installation(tuning.installation));
        let server = Server::bind(config, Arc::clone(&store), trust);
        let server = server.map_err(|error| port::refused(error, &state))?;
        Ok(Self { server, store, disk, access })
    }

    /// Returns the address that is listened on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Returns the store: accounts may be put into it at any time.
    #[must_use]
    pub fn store(&self) -> Arc<dyn HistoryStore> {
        Arc::clone(&self.store)
    }

    /// Returns what decides who may be there; it may be replaced at any time.
    #[must_use]
    pub fn access(&self) -> AccessSetter {
        self.access.clone()
    }

    /// Serves until `stop` is cancelled, then closes the history. Not cancel-safe.
    pub async fn run(self, stop: CancellationToken) -> ServerEnd {
        let end = self.server.run(stop).await;
        if let Some(disk) = self.disk {
            disk.close().await;
        }
        end
    }
}

/// Keeps an account; what the store knows of its last nick stays.
pub(crate) async fn register(
    store: &dyn HistoryStore,
    name: &str,
    (tier, credential_sha256): (Tier, String),
) -> Result<(), IrcdError> {
    let last_nick = store.accounts().borrow().get(name).and_then(|a| a.last_nick.clone());
    let account = Account { name: name.parse()?, tier, credential_sha256, last_nick };
    let failed = |source| IrcdError::Account { name: name.to_owned(), source };
    store.put_account(account).await.map_err(failed)
}

type Opened = (Arc<dyn HistoryStore>, Option<Arc<SqliteHistory>>);

async fn open_store(options: &IrcdOptions, keep: Keep) -> Result<Opened, OpenError> {
    match keep {
        Keep::InMemory(lines) => Ok((Arc::new(MemoryStore::new(lines)), None)),
        Keep::OnDisk(keep) => {
            let path = options.state.join("irc.db");
            let history = HistoryOptions::new(path, options.clock.clone());
            let disk = Arc::new(SqliteHistory::open(HistoryOptions { keep, ..history }).await?);
            let store: Arc<dyn HistoryStore> = Arc::<SqliteHistory>::clone(&disk);
            Ok((store, Some(disk)))
        }
    }
}

/// Opens and runs the server; says through `bound` where it listens, once it does. Dropping
/// `bound`'s receiver changes nothing. Not cancel-safe: end it by `stop`.
///
/// # Errors
/// See [`IrcdError`]; only before it listens.
pub async fn serve(
    (options, tuning): (IrcdOptions, Tuning),
    bound: oneshot::Sender<SocketAddr>,
    stop: CancellationToken,
) -> Result<(), IrcdError> {
    let ircd = Ircd::open(options, tuning).await?;
    if bound.send(ircd.address()).is_err() {
        tracing::debug!("nobody asked where the IRC server listens");
    }
    let end = ircd.run(stop).await;
    tracing::info!(?end, "chat server ended");
    Ok(())
}
