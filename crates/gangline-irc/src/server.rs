//! The embedded IRC server: a room for people and agents on this machine, with a history that is
//! committed before a line is shown.
//!
//! One task owns all state (`state`); each connection has a reader and a writer subtask with
//! bounded queues (`connection`). What must not be lost goes to a [`store::Store`] first, in
//! order, many lines at once (`flight`); the echo and the delivery follow the commit. The server
//! knows nothing of agents and turns: who somebody is comes from a [`trust::Trust`]. It binds
//! loopback only and speaks no TLS. Start at [`Server::bind`].

use std::sync::Arc;

use tokio::net::{TcpListener, TcpSocket};
use tokio_util::sync::CancellationToken;

use config::{BindError, ServerConfig};
use state::State;
use store::Store;
use trust::Trust;

mod caps;
mod channel;
mod client;
mod command;
pub mod config;
mod connection;
mod delivery;
mod flight;
mod framing;
mod http;
mod intake;
pub mod memory;
mod outgoing;
mod registration;
mod reply;
mod run;
mod state;
pub mod store;
mod throttle;
mod timestamp;
pub mod trust;

/// How many connections may wait to be accepted: a fleet that starts at once must not be told
/// to try again in a second.
const BACKLOG: u32 = 1024;

/// The server with its listening socket.
pub struct Server {
    listener: TcpListener,
    address: std::net::SocketAddr,
    state: State,
}

impl Server {
    /// Binds the listening socket. The socket accepts from now on; lines are read by
    /// [`Server::run`]. Must be called on a tokio runtime.
    ///
    /// # Errors
    /// [`BindError::NotLoopback`] for any address but 127.0.0.0/8 and ::1, [`BindError::Io`]
    /// when the address cannot be had.
    pub fn bind(
        config: ServerConfig,
        store: Arc<dyn Store>,
        trust: Arc<dyn Trust>,
    ) -> Result<Self, BindError> {
        let listen = config.listen;
        if !listen.ip().is_loopback() {
            return Err(BindError::NotLoopback { address: listen });
        }
        let bound = || -> std::io::Result<(TcpListener, std::net::SocketAddr)> {
            let socket = if listen.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            socket.set_reuseaddr(true)?;
            socket.bind(listen)?;
            let listener = socket.listen(BACKLOG)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) =
            bound().map_err(|source| BindError::Io { address: listen, source })?;
        Ok(Self { listener, address, state: State::new(config, store, trust) })
    }

    /// Returns the address that is listened on, with the real port.
    #[must_use]
    pub fn address(&self) -> std::net::SocketAddr {
        self.address
    }

    /// Serves until `stop` is cancelled: then lines on their way to the store are committed and
    /// delivered, everybody is told, and the connections are closed.
    ///
    /// Not cancel-safe: dropped, it closes all connections at once and leaves what was not
    /// committed unanswered (its senders have had no echo).
    pub async fn run(self, stop: CancellationToken) {
        run::run(self.listener, self.state, stop).await;
    }
}
