//! Peer credentials: which user is at the other end of a connection within this machine.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::UnixStream;

#[cfg(test)]
mod tests;

/// Returns the user id of the process that connected a unix socket.
///
/// # Errors
/// When the system does not tell.
pub fn unix_peer_uid(stream: &UnixStream) -> io::Result<u32> {
    stream.peer_cred().map(|credentials| credentials.uid())
}

/// Returns the user id of the process at the other end of a TCP connection within this machine:
/// `local` is our end, `peer` the other. `None` when it is unknown: another machine, another
/// network namespace, no longer open, or no Linux.
///
/// Reads a system table that grows with the number of sockets: ask once per connection.
///
/// # Errors
/// When the table is there and cannot be read.
pub fn tcp_peer_uid(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        match fs::read_to_string(table) {
            Ok(text) => match find_uid(&text, local, peer) {
                None => {}
                found => return Ok(found),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Returns whether another user is at the other end of a TCP connection within this machine; what
/// cannot be known counts as no.
#[must_use]
pub fn is_another_users(local: SocketAddr, peer: SocketAddr) -> bool {
    let ours = nix::unistd::getuid().as_raw();
    matches!(tcp_peer_uid(local, peer), Ok(Some(uid)) if uid != ours)
}

/// Finds the row of the peer's own socket: its local address is our peer, its remote one is us.
///
/// Only established rows of a process count: one whose socket is closed has user 0, which would
/// make its former owner root.
fn find_uid(table: &str, local: SocketAddr, peer: SocketAddr) -> Option<u32> {
    const ESTABLISHED: &str = "01";
    let key = |address: SocketAddr| (address.ip().to_canonical(), address.port());
    let rows = table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split_ascii_whitespace().collect();
        let [_, theirs, ours, state, _, _, _, uid, _, inode, ..] = fields[..] else { return None };
        let matches = address(theirs)? == key(peer) && address(ours)? == key(local);
        (matches && state == ESTABLISHED && inode != "0").then(|| uid.parse().ok())?
    });
    rows.into_iter().next()
}

/// Reads `0100007F:1A0B`: 32-bit words in the machine's byte order, then the port.
fn address(text: &str) -> Option<(IpAddr, u16)> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = [0; 16];
    let words = ip.as_bytes().chunks(8).zip(bytes.chunks_mut(4));
    for (word, bytes) in words {
        let word = u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()?;
        bytes.copy_from_slice(&word.to_ne_bytes());
    }
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])),
        32 => IpAddr::V6(Ipv6Addr::from(bytes)),
        _ => return None,
    };
    Some((ip.to_canonical(), port))
}
