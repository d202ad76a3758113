//! The embedded IRC server: a room for people and agents on this machine, with a history that is
//! committed before a line is shown.
//!
//! One task owns all state (`state`); each connection has a reader and a writer subtask with
//! bounded queues (`connection`). What must not be lost goes to a [`store::HistoryStore`] first, in
//! order, many lines at once (`flight`); the echo and the delivery follow the commit. The server
//! knows nothing of agents and turns: who somebody is comes from a [`trust::Trust`]. It binds
//! loopback only, and a unix socket for the programs of its own user (`listeners`), and speaks no TLS.
//! Start at [`Server::bind`].

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use config::{BindError, ServerConfig};
use listeners::Listeners;
use state::State;
use store::HistoryStore;
use trust::Trust;

pub mod access;
mod admission;
mod beat;
mod call;
mod caps;
mod channel;
mod claim;
mod client;
mod client_id;
mod clients;
mod command;
pub mod config;
mod connection;
mod contest;
mod contests;
mod crowd;
mod delivery;
mod draft;
pub mod events;
mod flight;
mod framing;
mod happenings;
mod history_reply;
mod holder;
mod http;
mod intake;
mod listeners;
mod login;
pub mod memory;
mod outbox;
mod outgoing;
mod owners;
mod paced;
mod past;
mod playback;
mod readers;
mod reading;
mod registration;
pub mod remarks;
mod reply;
mod rooms;
mod run;
mod seldom;
mod state;
pub mod store;
mod stream;
mod throttle;
mod timestamp;
mod trouble;
pub mod trust;
pub mod unkept;

/// Why a server ended. Everybody was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEnd {
    /// It was stopped, and what was on its way is committed.
    Stopped,
    /// It was stopped, and the store did not answer in time: lines on their way have had no echo.
    StoreSilent,
}

/// The server with its listening sockets.
pub struct Server {
    listeners: Listeners,
    state: State,
}

impl Server {
    /// Binds the listening sockets. They accept from now on; lines are read by [`Server::run`].
    /// Must be called on a tokio runtime.
    ///
    /// # Errors
    /// [`BindError::NotLoopback`] for any address but 127.0.0.0/8 and ::1, [`BindError::Io`]
    /// when the address cannot be had, [`BindError::Socket`] when the own socket cannot.
    pub fn bind(
        config: ServerConfig,
        store: Arc<dyn HistoryStore>,
        trust: Arc<dyn Trust>,
    ) -> Result<Self, BindError> {
        let listeners = Listeners::open(&config)?;
        Ok(Self { listeners, state: State::new(config, store, trust) })
    }

    /// Returns the address that is listened on, with the real port.
    #[must_use]
    pub fn address(&self) -> std::net::SocketAddr {
        self.listeners.address()
    }

    /// Serves until `stop` is cancelled: then lines on their way to the store are committed and
    /// delivered, everybody is told, and the connections are closed.
    ///
    /// Not cancel-safe: dropped, it closes all connections at once and leaves what was not
    /// committed unanswered (its senders have had no echo).
    pub async fn run(self, stop: CancellationToken) -> ServerEnd {
        run::run(self.listeners, self.state, stop).await
    }
}
