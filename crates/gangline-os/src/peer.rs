//! Peer credentials: which user is at the other end of a connection within this machine.
//!
//! Linux is asked about one connection at a time (`diag`), which takes the same time however many
//! connections there are. Where that question is not answered, its table is read (`table`).

use std::io;
use std::net::SocketAddr;

use tokio::net::UnixStream;

#[cfg(target_os = "linux")]
mod diag;
mod table;

/// Returns the user id of the process that connected a unix socket.
///
/// # Errors
/// When the system does not tell.
pub fn unix_peer_uid(stream: &UnixStream) -> io::Result<u32> {
    stream.peer_cred().map(|credentials| credentials.uid())
}

/// Returns the user id of the process at the other end of a TCP connection within this machine:
/// `local` is our end, `peer` the other. `None` when it is unknown: another machine, another
/// network namespace, a process that has closed its end, or no Linux. Trust must count an unknown
/// user as another one.
///
/// A process that has only closed its sending side is known: the state of the connection does not
/// matter, only whether a process still has it.
///
/// # Errors
/// When the system cannot be asked, such as for want of descriptors.
#[cfg(target_os = "linux")]
pub fn tcp_peer_uid(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    match diag::connection(peer, local) {
        diag::Answer::Uid(uid) => Ok(uid),
        diag::Answer::Failed(error) => Err(error),
        diag::Answer::NotAnswered => table::connection(peer, local),
    }
}

/// Returns `None`: this system does not tell.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn tcp_peer_uid(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    table::connection(peer, local)
}

/// Returns the user id of the process that listens on this TCP address of this machine, also by a
/// socket for all addresses. `None` when nobody listens, or it is unknown.
///
/// # Errors
/// As [`tcp_peer_uid`].
#[cfg(target_os = "linux")]
pub fn tcp_listener_uid(address: SocketAddr) -> io::Result<Option<u32>> {
    match diag::listener(address) {
        diag::Answer::Uid(uid) => Ok(uid),
        diag::Answer::Failed(error) => Err(error),
        diag::Answer::NotAnswered => Ok(None),
    }
}

/// Returns `None`: this system does not tell.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn tcp_listener_uid(_address: SocketAddr) -> io::Result<Option<u32>> {
    Ok(None)
}

/// Returns an end of a connection as it is compared: IPv4 within IPv6 is IPv4.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
