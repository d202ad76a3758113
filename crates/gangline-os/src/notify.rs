//! Word to the service manager that started us: ready, stopping, alive (`sd_notify`).
//!
//! A datagram to the socket that `NOTIFY_SOCKET` names, a path or a name in the abstract space.
//! Without the variable, and when the datagram is not taken, nothing happens: nobody depends on
//! it but the manager itself. Children do not inherit the variable ([`crate::process::base_env`]).

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::{ffi::OsStrExt, net::UnixDatagram},
    path::Path,
    time::Duration,
};

#[cfg(test)]
mod tests;

/// The variable that names the socket.
const SOCKET: &str = "NOTIFY_SOCKET";
/// The variables that tell how often, in microseconds, and which process must say that it lives.
const WATCHDOG: &str = "WATCHDOG_USEC";
const WATCHDOG_PID: &str = "WATCHDOG_PID";
/// A manager that takes no datagrams holds us up for so long at most.
const PATIENCE: Duration = Duration::from_millis(500);

/// One thing that the manager can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word<'a> {
    /// The start is over.
    Ready,
    /// The end has begun.
    Stopping,
    /// It lives. Due at least every [`watchdog`].
    Alive,
    /// One line for people, as `systemctl status` shows it.
    Status(&'a str),
}

/// Returns whether a service manager started us and listens.
#[must_use]
pub fn is_supervised() -> bool {
    std::env::var_os(SOCKET).is_some_and(|name| !name.is_empty())
}

/// Tells the manager, if there is one. Blocks for half a second at most, when its queue is full.
pub fn tell(words: &[Word<'_>]) {
    let Some(socket) = std::env::var_os(SOCKET).filter(|name| !name.is_empty()) else { return };
    if let Err(error) = send(&socket, &datagram(words)) {
        tracing::debug!(%error, "the service manager was not told");
    }
}

/// Returns how often [`Word::Alive`] is due; none if the manager does not watch this process.
#[must_use]
pub fn watchdog() -> Option<Duration> {
    let read = |name: &str| std::env::var(name).ok();
    due(read(WATCHDOG).as_deref(), read(WATCHDOG_PID).as_deref(), std::process::id())
}

/// Half of what the manager allows, so that one may come late.
fn due(micros: Option<&str>, pid: Option<&str>, own: u32) -> Option<Duration> {
    if pid.is_some_and(|pid| pid.parse() != Ok(own)) {
        return None;
    }
    let micros: u64 = micros?.parse().ok()?;
    (micros > 0).then(|| Duration::from_micros(micros / 2))
}

fn datagram(words: &[Word<'_>]) -> String {
    let lines = words.iter().map(|word| match word {
        Word::Ready => "READY=1".to_owned(),
        Word::Stopping => "STOPPING=1".to_owned(),
        Word::Alive => "WATCHDOG=1".to_owned(),
        Word::Status(text) => format!("STATUS={}", text.replace(['\n', '\r'], " ")),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn send(name: &OsString, text: &str) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    socket.set_write_timeout(Some(PATIENCE))?;
    match name.as_bytes().strip_prefix(b"@") {
        Some(name) => send_abstract(&socket, OsStr::from_bytes(name), text),
        None => socket.send_to(text.as_bytes(), Path::new(name)).map(drop),
    }
}

#[cfg(target_os = "linux")]
fn send_abstract(socket: &UnixDatagram, name: &OsStr, text: &str) -> io::Result<()> {
    use std::os::{linux::net::SocketAddrExt, unix::net::SocketAddr};
    let address = SocketAddr::from_abstract_name(name.as_bytes())?;
    socket.send_to_addr(text.as_bytes(), &address).map(drop)
}

#[cfg(not(target_os = "linux"))]
fn send_abstract(_: &UnixDatagram, _: &OsStr, _: &str) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "no abstract socket names here"))
}
