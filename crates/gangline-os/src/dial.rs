//! Dialling a unix socket without a runtime: for commands that live for a moment.
//!
//! Whoever listens must be this user or root: a socket in a shared folder may be anybody's.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

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
    let connect = |source| DialError::Connect { path: path.to_owned(), source };
    let stream = connected(path, patience).map_err(connect)?;
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

/// A full queue of connections makes `connect` wait as a write does.
#[cfg(target_os = "linux")]
fn connected(path: &Path, patience: Duration) -> io::Result<UnixStream> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
    use std::os::fd::AsRawFd as _;

    let flags = SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    let stream = UnixStream::from(socket);
    stream.set_write_timeout(Some(patience))?;
    connect(stream.as_raw_fd(), &UnixAddr::new(path)?)?;
    stream.set_write_timeout(None)?;
    Ok(stream)
}

#[cfg(not(target_os = "linux"))]
fn connected(path: &Path, _patience: Duration) -> io::Result<UnixStream> {
    UnixStream::connect(path)
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
