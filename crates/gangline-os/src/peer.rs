//! Peer credentials: which user is at the other end of a connection within this machine.
//!
//! Linux is asked about one connection at a time (`diag`), which takes the same time however many
//! connections there are. Where that question is not answered, its table is read (`table`).

use std::io;
use std::net::SocketAddr;

use tokio::net::UnixStream;

use crate::proc;

#[cfg(target_os = "linux")]
mod diag;
mod table;

/// What the system tells of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Whose {
    uid: u32,
    inode: u64,
}

/// Which process has the other end of a connection within this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// The one with this pid; if several have the same socket, one of them.
    Pid(u32),
    /// None that we can see: another user's, or the system does not tell.
    Hidden,
    /// None any more.
    Gone,
}

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
pub fn tcp_peer_uid(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    tcp_peer(local, peer).map(|whose| whose.map(|whose| whose.uid))
}

/// Returns which process of this user has the other end of a TCP connection within this machine, as
/// [`tcp_peer_uid`]. Reads what every process of this user has open until it is found: milliseconds, so
/// not on a thread that others wait for.
///
/// # Errors
/// As [`tcp_peer_uid`].
pub fn tcp_peer_process(local: SocketAddr, peer: SocketAddr) -> io::Result<Process> {
    let Some(Whose { inode, .. }) = tcp_peer(local, peer)? else { return Ok(Process::Gone) };
    if let Some(pid) = proc::with_socket(inode) {
        return Ok(Process::Pid(pid));
    }
    // It may have ended while it was looked for.
    Ok(tcp_peer(local, peer)?.map_or(Process::Gone, |_| Process::Hidden))
}

#[cfg(target_os = "linux")]
fn tcp_peer(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<Whose>> {
    match diag::connection(peer, local) {
        diag::Answer::Known(whose) => Ok(whose),
        diag::Answer::Failed(error) => Err(error),
        diag::Answer::NotAnswered => table::connection(peer, local),
    }
}

#[cfg(not(target_os = "linux"))]
fn tcp_peer(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<Whose>> {
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
        diag::Answer::Known(whose) => Ok(whose.map(|whose| whose.uid)),
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
