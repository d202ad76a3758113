//! The listening sockets: TCP for people, the installation's own socket for its daemons.
//!
//! An accept that fails pauses that socket alone; the server's task never waits for it.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_os::{clock::SharedClock, listen::PrivateListener};
use tokio::net::{TcpListener, TcpSocket};

use super::{
    config::{BindError, ServerConfig},
    seldom::Seldom,
    stream::Stream,
    trust::End,
};

/// How many connections may wait to be accepted: a fleet that starts at once must not be told
/// to try again in a second.
const BACKLOG: u32 = 1024;
/// How long a socket rests after an accept that failed. Out of descriptors, the same error would
/// come at once.
const REST: Duration = Duration::from_millis(50);

/// A connection that was accepted.
pub(super) struct Arrival {
    pub(super) stream: Stream,
    /// Where it came in; the private socket lets in this user and root alone.
    pub(super) end: End,
}

/// Both listening sockets.
pub(super) struct Listeners {
    tcp: Listener<TcpListener>,
    address: SocketAddr,
    socket: Listener<Option<PrivateListener>>,
    path: Option<PathBuf>,
    clock: SharedClock,
}

/// A listening socket, until when it is left alone, and how often an accept failed.
struct Listener<L> {
    listener: L,
    rests_until: Option<Duration>,
    failed: Seldom,
}

/// What connections come from.
trait Accept {
    /// Waits for the next connection.
    ///
    /// Cancel-safe: yes; a connection that was not returned is still to be accepted.
    async fn accept(&self) -> io::Result<Arrival>;
}

impl Listeners {
    /// Binds what the configuration names, the private socket last: its clients come as soon as it
    /// is there, and a server without a port will not serve them.
    pub(super) fn open(config: &ServerConfig) -> Result<Self, BindError> {
        let listen = config.listen;
        if !listen.ip().is_loopback() {
            return Err(BindError::NotLoopback { address: listen });
        }
        let (tcp, address) =
            bind_tcp(listen).map_err(|source| BindError::Io { address: listen, source })?;
        let socket = config.socket.as_deref().map(bind_socket).transpose()?;
        Ok(Self {
            tcp: Listener::new(tcp),
            address,
            socket: Listener::new(socket),
            path: config.socket.clone(),
            clock: config.clock.clone(),
        })
    }

    /// Returns where TCP listens, with the real port.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the next connection. After a failure to accept that socket rests; the log has a line
    /// a minute.
    ///
    /// Cancel-safe: yes; a connection that was not returned is still to be accepted.
    pub(super) async fn next(&mut self) -> Arrival {
        first(&mut self.tcp, &mut self.socket, &self.clock).await
    }

    /// Makes the private socket anew if its file is gone: daemons could not find it any more.
    pub(super) fn look(&mut self) {
        let (Some(path), Some(socket)) = (&self.path, &self.socket.listener) else { return };
        if socket.is_in_place() {
            return;
        }
        match bind_socket(path) {
            Ok(socket) => {
                tracing::warn!(path = %path.display(), "the socket's file was gone; made anew");
                self.socket.listener = Some(socket);
            }
            Err(error) => tracing::warn!(%error, "the socket's file is gone"),
        }
    }
}

/// Returns the first connection at either of two sockets.
async fn first(
    tcp: &mut Listener<impl Accept>,
    socket: &mut Listener<impl Accept>,
    clock: &SharedClock,
) -> Arrival {
    loop {
        let accepted = tokio::select! {
            accepted = tcp.arrival(clock) => accepted,
            accepted = socket.arrival(clock) => accepted,
        };
        if let Some(arrival) = accepted {
            return arrival;
        }
    }
}

impl<L: Accept> Listener<L> {
    fn new(listener: L) -> Self {
        Self { listener, rests_until: None, failed: Seldom::default() }
    }

    /// Waits for the next connection, once the rest is over. Nothing when it could not be accepted:
    /// then this socket rests.
    ///
    /// Cancel-safe: yes, as [`Accept::accept`] is.
    async fn arrival(&mut self, clock: &SharedClock) -> Option<Arrival> {
        while let Some(left) = self.rests_until.map(|at| at.saturating_sub(clock.monotonic()))
            && !left.is_zero()
        {
            tokio::time::sleep(left).await;
        }
        match self.listener.accept().await {
            Ok(arrival) => Some(arrival),
            Err(error) => {
                let now = clock.monotonic();
                if let Some(count) = self.failed.counts(now) {
                    tracing::warn!(%error, count, "connections could not be accepted");
                }
                self.rests_until = Some(now + REST);
                None
            }
        }
    }
}

impl Accept for TcpListener {
    async fn accept(&self) -> io::Result<Arrival> {
        let (stream, peer) = Self::accept(self).await?;
        let local = stream.local_addr()?;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        Ok(Arrival { stream: Stream::Tcp(stream), end: End::Tcp { local, peer } })
    }
}

/// Without a socket nobody comes.
impl Accept for Option<PrivateListener> {
    async fn accept(&self) -> io::Result<Arrival> {
        let Some(listener) = self else { return std::future::pending().await };
        let (stream, _) = listener.accept().await?;
        let pid = stream.peer_cred().ok().and_then(|peer| u32::try_from(peer.pid()?).ok());
        Ok(Arrival { stream: Stream::Unix(stream), end: End::Socket { pid } })
    }
}

fn bind_socket(path: &Path) -> Result<PrivateListener, BindError> {
    PrivateListener::bind(path)
        .map_err(|source| BindError::Socket { path: path.to_owned(), source })
}

fn bind_tcp(listen: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = if listen.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(listen)?;
    let listener = socket.listen(BACKLOG)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

#[cfg(test)]
mod tests;
