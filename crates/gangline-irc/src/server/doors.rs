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
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::{
    config::{BindError, ServerConfig},
    stream::Stream,
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
    pub(super) ends: Ends,
}

/// Where it came in.
pub(super) enum Ends {
    Tcp {
        local: SocketAddr,
        peer: SocketAddr,
    },
    /// By the private socket, which lets in this user and root alone.
    Socket,
}

/// Both listening sockets.
pub(super) struct Doors {
    tcp: TcpListener,
    address: SocketAddr,
    tcp_rests: Rest,
    socket: Option<PrivateListener>,
    socket_rests: Rest,
    path: Option<PathBuf>,
    clock: SharedClock,
}

/// Which of them.
enum Door {
    Tcp,
    Socket,
}

/// Until when a socket is left alone.
#[derive(Default)]
struct Rest(Option<Duration>);

impl Doors {
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
            tcp,
            address,
            tcp_rests: Rest::default(),
            socket,
            socket_rests: Rest::default(),
            path: config.socket.clone(),
            clock: config.clock.clone(),
        })
    }

    /// Returns where TCP listens, with the real port.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the next connection. A failure to accept is logged, and that socket rests.
    ///
    /// Cancel-safe: yes; a connection that was not returned is still to be accepted.
    pub(super) async fn next(&mut self) -> Arrival {
        loop {
            let Self { tcp, tcp_rests, socket, socket_rests, clock, .. } = &*self;
            let (door, accepted) = tokio::select! {
                accepted = async {
                    tcp_rests.over(clock).await;
                    tcp.accept().await
                } => (Door::Tcp, accepted.and_then(tcp_arrival)),
                accepted = async {
                    socket_rests.over(clock).await;
                    match socket {
                        Some(socket) => socket.accept().await,
                        None => std::future::pending().await,
                    }
                } => {
                    let arrival =
                        |stream| Arrival { stream: Stream::Unix(stream), ends: Ends::Socket };
                    (Door::Socket, accepted.map(|(stream, _)| arrival(stream)))
                }
            };
            let error = match accepted {
                Ok(arrival) => return arrival,
                Err(error) => error,
            };
            tracing::warn!(%error, "a connection could not be accepted");
            let until = Rest(Some(self.clock.monotonic() + REST));
            match door {
                Door::Tcp => self.tcp_rests = until,
                Door::Socket => self.socket_rests = until,
            }
        }
    }

    /// Makes the private socket anew if its file is gone: daemons could not find it any more.
    pub(super) fn look(&mut self) {
        let (Some(path), Some(socket)) = (&self.path, &self.socket) else { return };
        if socket.is_in_place() {
            return;
        }
        match bind_socket(path) {
            Ok(socket) => {
                tracing::warn!(path = %path.display(), "the socket's file was gone; made anew");
                self.socket = Some(socket);
            }
            Err(error) => tracing::warn!(%error, "the socket's file is gone"),
        }
    }
}

impl Rest {
    /// Waits until the rest is over.
    async fn over(&self, clock: &SharedClock) {
        if let Some(until) = self.0 {
            tokio::time::sleep(until.saturating_sub(clock.monotonic())).await;
        }
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

fn tcp_arrival((stream, peer): (TcpStream, SocketAddr)) -> io::Result<Arrival> {
    let local = stream.local_addr()?;
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "no TCP_NODELAY");
    }
    Ok(Arrival { stream: Stream::Tcp(stream), ends: Ends::Tcp { local, peer } })
}
