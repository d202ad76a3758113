//! The system's table of TCP sockets, for kernels that do not answer about one alone. It grows
//! with the number of sockets.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Whose, plain};

#[cfg(test)]
mod tests;

/// Returns whose socket has this end `of` a connection and that end `to`.
///
/// # Errors
/// When the table is there and cannot be read.
pub(super) fn connection(of: SocketAddr, to: SocketAddr) -> io::Result<Option<Whose>> {
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        match fs::read_to_string(table) {
            Ok(text) => match find(&text, of, to) {
                None => {}
                found => return Ok(found),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Finds the socket's row. One that its process has closed has no inode and on older kernels user
/// 0, which would make its former owner root.
fn find(table: &str, of: SocketAddr, to: SocketAddr) -> Option<Whose> {
    let mut rows = table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split_ascii_whitespace().collect();
        let [_, own, remote, _, _, _, _, uid, _, inode, ..] = fields[..] else { return None };
        let matches = address(own)? == plain(of) && address(remote)? == plain(to);
        let whose = Whose { uid: uid.parse().ok()?, inode: inode.parse().ok()? };
        (matches && whose.inode != 0).then_some(whose)
    });
    rows.next()
}

/// Reads `0100007F:1A0B`: 32-bit words in the machine's byte order, then the port.
fn address(text: &str) -> Option<SocketAddr> {
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
    Some(plain(SocketAddr::new(ip, port)))
}
