//! What the server is told at its start: names, address, limits.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use gangline_os::clock::SharedClock;
use tokio::sync::watch;

use super::access::Access;

use super::remarks::Remarks;

/// Why the server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The address can be reached from other machines; there is no TLS here.
    #[error(
        "the embedded IRC server does not listen on {address}: it speaks no TLS, so only \
         127.0.0.1 and ::1 are allowed"
    )]
    NotLoopback {
        /// The address asked for.
        address: SocketAddr,
    },
    /// The installation's own socket cannot be made.
    #[error("cannot listen at {}", path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The operating system refused.
    #[error("cannot listen on {address}")]
    Io {
        /// The address asked for.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
}

/// Everything that one server needs to know.
#[derive(Clone)]
pub struct ServerConfig {
    /// The loopback address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The socket for processes of this user alone, if wanted. The caller holds the lock of its
    /// folder.
    pub socket: Option<PathBuf>,
    /// The server's name in the source of its own lines; no spaces.
    pub name: String,
    /// The network's name (005 `NETWORK`); no spaces.
    pub network: String,
    /// Lines of the message of the day; none answers 422.
    pub motd: Vec<String>,
    /// Lines of the answer to HELP; none answers 524.
    pub help: Vec<String>,
    /// The topic of a channel that never had one.
    pub topic: Option<String>,
    /// Says what the author of a line is told about it.
    pub remarks: Option<Arc<dyn Remarks>>,
    /// The program's version, for 002 and VERSION.
    pub version: String,
    /// The time of day and the monotonic clock.
    pub clock: SharedClock,
    /// Limits of memory and patience.
    pub limits: Limits,
    /// Who may be there; may change while the server runs.
    pub access: watch::Receiver<Arc<Access>>,
}

impl ServerConfig {
    /// Returns a configuration with the default limits and no message of the day.
    #[must_use]
    pub fn new(listen: SocketAddr, name: impl Into<String>, clock: SharedClock) -> Self {
        let name = name.into();
        Self {
            listen,
            socket: None,
            network: name.clone(),
            name,
            motd: Vec::new(),
            help: Vec::new(),
            topic: None,
            remarks: None,
            version: concat!("gangline-", env!("CARGO_PKG_VERSION")).to_owned(),
            clock,
            limits: Limits::default(),
            access: watch::channel(Arc::default()).1,
        }
    }
}

/// Limits of one server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The most connections at a time; more are told so and closed.
    pub connections: usize,
    /// Files and sockets that the process may have open, if that is known: clients leave some of
    /// them to the rest of it and to the agents.
    pub descriptors: Option<usize>,
    /// The most connections of one user that have not registered; more of them wait to be read.
    pub registering_each: usize,
    /// The most registered connections of one user other than the one who runs the server.
    pub ready_each: usize,
    /// The most bytes that wait to be sent to one client before it is closed ("`SendQ` exceeded").
    pub send_queue: usize,
    /// The most channels one client may be in.
    pub channels: usize,
    /// The most lines of one client that may be on their way to the store; its reading rests
    /// then.
    pub in_flight: usize,
    /// The pace at which lines are read from everybody but agents; `None` reads at any pace.
    pub flood: Option<Flood>,
    /// How long a connection that has not registered may be silent.
    pub register_within: Duration,
    /// How long it may take to register, whatever it says.
    pub register_at_most: Duration,
    /// How long a session may take to answer a PING when another one of its account wants its nick.
    pub answer_within: Duration,
    /// Within which time after a line it is stored who has read it.
    pub read_within: Duration,
    /// How long a client may be silent before it is sent a PING.
    pub ping_every: Duration,
    /// How long the answer to that PING may take.
    pub ping_timeout: Duration,
    /// How long a stop waits for people's clients to say by the answer to a PING that they have read.
    pub hear_out: Duration,
    /// How long the last lines of a closing connection, and of the server, may take.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            descriptors: None,
            registering_each: 32,
            ready_each: 64,
            send_queue: 1024 * 1024,
            channels: 100,
            in_flight: 16,
            flood: Some(Flood { burst: 40, per_second: 8 }),
            register_within: Duration::from_secs(60),
            register_at_most: Duration::from_secs(180),
            answer_within: Duration::from_secs(5),
            read_within: Duration::from_secs(1),
            hear_out: Duration::from_millis(300),
            ping_every: Duration::from_secs(120),
            ping_timeout: Duration::from_secs(60),
            grace: Duration::from_secs(5),
        }
    }
}

/// A token bucket for reading: lag only, nobody is closed for it.
#[derive(Debug, Clone, Copy)]
pub struct Flood {
    /// Lines that are read at once.
    pub burst: u32,
    /// Lines a second after that.
    pub per_second: u32,
}
