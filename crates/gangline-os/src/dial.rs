//! Dialling a unix socket: blocking, for commands that live for a moment, and for tasks.
//!
//! Whoever listens must be this user or root: a socket in a shared folder may be anybody's.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::address;

#[cfg(test)]
mod tests;

/// Why nobody can be spoken to.
#[derive(Debug, Error)]
pub enum DialError {
    /// Nobody listens there, or nobody took the connection in time.
    #[error("cannot connect to {}", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Somebody else listens there.
    #[error("{} is not served by this user but by user {uid}", path.display())]
    Foreign {
        /// The socket.
        path: PathBuf,
        /// Who listens.
        uid: u32,
    },
}

/// Connects to a socket. Blocks for at most `patience` (elsewhere than on Linux as long as the
/// system likes); reading and writing of the stream have no time-out yet.
///
/// # Errors
/// [`DialError`]; when it is [`DialError::Foreign`], nothing was sent.
pub fn dial(path: &Path, patience: Duration) -> Result<UnixStream, DialError> {
    dialled(path, || connected(path, patience))
}

/// Connects to a socket at once: a listener whose queue is full is an error. Must be called within
/// a tokio runtime.
///
/// # Errors
/// [`DialError`]; when it is [`DialError::Foreign`], nothing was sent.
pub fn dial_tokio(path: &Path) -> Result<tokio::net::UnixStream, DialError> {
    let stream = dialled(path, || {
        let stream = at_once(path)?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    })?;
    let connect = |source| DialError::Connect { path: path.to_owned(), source };
    tokio::net::UnixStream::from_std(stream).map_err(connect)
}

/// Makes sure of the listener before anybody can send it a word.
fn dialled(
    path: &Path,
    connected: impl FnOnce() -> io::Result<UnixStream>,
) -> Result<UnixStream, DialError> {
    let connect = |source| DialError::Connect { path: path.to_owned(), source };
    let stream = connected().map_err(connect)?;
    let uid = listener_uid(&stream).map_err(connect)?;
    if uid != 0 && uid != own_uid() {
        return Err(DialError::Foreign { path: path.to_owned(), uid });
    }
    Ok(stream)
}

/// Returns the user that this process acts as.
#[must_use]
pub fn own_uid() -> u32 {
    nix::unistd::geteuid().as_raw()
}

/// Returns the primary group that this process acts as.
#[must_use]
pub fn own_gid() -> u32 {
    nix::unistd::getegid().as_raw()
}

/// A full queue of connections makes `connect` wait as a write does.
#[cfg(target_os = "linux")]
fn connected(path: &Path, patience: Duration) -> io::Result<UnixStream> {
    let stream = made(nix::sys::socket::SockFlag::empty())?;
    stream.set_write_timeout(Some(patience))?;
    join(&stream, path)?;
    stream.set_write_timeout(None)?;
    Ok(stream)
}

#[cfg(target_os = "linux")]
fn at_once(path: &Path) -> io::Result<UnixStream> {
    let stream = made(nix::sys::socket::SockFlag::SOCK_NONBLOCK)?;
    join(&stream, path)?;
    Ok(stream)
}

#[cfg(target_os = "linux")]
fn made(flags: nix::sys::socket::SockFlag) -> io::Result<UnixStream> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
    let flags = flags | SockFlag::SOCK_CLOEXEC;
    Ok(UnixStream::from(socket(AddressFamily::Unix, SockType::Stream, flags, None)?))
}

#[cfg(target_os = "linux")]
fn join(stream: &UnixStream, path: &Path) -> io::Result<()> {
    use nix::sys::socket::{UnixAddr, connect};
    use std::os::fd::AsRawFd as _;
    address::with(path, |address| Ok(connect(stream.as_raw_fd(), &UnixAddr::new(address)?)?))
}

#[cfg(not(target_os = "linux"))]
fn connected(path: &Path, _patience: Duration) -> io::Result<UnixStream> {
    at_once(path)
}

#[cfg(not(target_os = "linux"))]
fn at_once(path: &Path) -> io::Result<UnixStream> {
    address::with(path, |address| UnixStream::connect(address))
}

/// Returns the user that began to listen.
#[cfg(target_os = "linux")]
fn listener_uid(stream: &UnixStream) -> io::Result<u32> {
    use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
    Ok(getsockopt(stream, PeerCredentials)?.uid())
}

#[cfg(not(target_os = "linux"))]
fn listener_uid(stream: &UnixStream) -> io::Result<u32> {
    Ok(nix::unistd::getpeereid(stream)?.0.as_raw())
}
