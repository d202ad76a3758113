//! Asks the kernel whose one TCP socket is, over its socket of sockets (`sock_diag(7)`).
//!
//! The answer comes from a look-up by both addresses, not from a walk over a table.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};

use super::{Whose, plain};

#[cfg(test)]
mod tests;

/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
/// `NLMSG_ERROR`.
const ERROR: u16 = 2;
/// `IPPROTO_TCP`.
const TCP: u8 = 6;
/// `AF_INET` and `AF_INET6` as the kernel numbers them.
const INET: u8 = 2;
const INET6: u8 = 10;
/// `TCP_LISTEN`.
const LISTEN: u8 = 10;
/// `INET_DIAG_NOCOOKIE`: any socket with these addresses.
const NO_COOKIE: [u8; 8] = [0xff; 8];
/// The head of a message.
const HEAD: usize = 16;
/// `struct inet_diag_req_v2`.
const QUESTION: usize = 56;
/// `struct inet_diag_msg`.
const ROW: usize = 72;

/// Whether this kernel has ever known a socket: from then on, one that it does not know is gone.
static KNOWS: AtomicBool = AtomicBool::new(false);

/// What came of a question.
#[derive(Debug)]
pub(super) enum Answer {
    /// Whose socket it is; `None` when no process has such a socket.
    Known(Option<Whose>),
    /// The question could not be asked.
    Failed(io::Error),
    /// This kernel does not answer such questions.
    NotAnswered,
}

/// One socket as the kernel tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    state: u8,
    own: SocketAddr,
    remote: SocketAddr,
    uid: u32,
    inode: u32,
}

impl Row {
    /// Returns whose it is. One that its process has closed has no inode and on older kernels user
    /// 0, which would make its former owner root.
    fn owner(&self) -> Option<Whose> {
        (self.inode != 0).then_some(Whose { uid: self.uid, inode: self.inode.into() })
    }
}

/// Returns whose socket has this end `of` a connection and that end `to`.
pub(super) fn connection(of: SocketAddr, to: SocketAddr) -> Answer {
    let (of, to) = (plain(of), plain(to));
    match ask(of, to) {
        // Where there is no such connection the kernel may name a listener on the same port.
        Ok(Some(row)) if row.own == of && row.remote == to => Answer::Known(row.owner()),
        Ok(_) if knows(to, of) => Answer::Known(None),
        Ok(_) => Answer::NotAnswered,
        Err(error) => unasked(error),
    }
}

/// Returns who listens on an address.
pub(super) fn listener(address: SocketAddr) -> Answer {
    let address = plain(address);
    let anybody = match address.ip() {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
    };
    match ask(address, SocketAddr::new(anybody, 0)) {
        Ok(Some(row)) if row.state == LISTEN && row.own.port() == address.port() => {
            Answer::Known(row.owner())
        }
        Ok(_) => Answer::Known(None),
        Err(error) => unasked(error),
    }
}

/// Returns whether the kernel answers at all: a question about a socket of our own shows it.
fn knows(own: SocketAddr, remote: SocketAddr) -> bool {
    KNOWS.load(Ordering::Relaxed) || matches!(ask(own, remote), Ok(Some(_)))
}

fn unasked(error: Errno) -> Answer {
    match error {
        Errno::EAFNOSUPPORT
        | Errno::EPROTONOSUPPORT
        | Errno::EOPNOTSUPP
        | Errno::EPERM
        | Errno::EACCES
        | Errno::EINVAL => Answer::NotAnswered,
        other => Answer::Failed(other.into()),
    }
}

/// Asks about one socket; `None` when there is none. The kernel has answered when `send` returns,
/// so nothing waits here.
fn ask(own: SocketAddr, remote: SocketAddr) -> Result<Option<Row>, Errno> {
    let kernel = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkSockDiag,
    )?;
    send(kernel.as_raw_fd(), &question(own, remote), MsgFlags::empty())?;
    let mut bytes = [0; 512];
    let length = recv(kernel.as_raw_fd(), &mut bytes, MsgFlags::MSG_DONTWAIT)?;
    let row = answer(&bytes[..length])?;
    if row.is_some() {
        KNOWS.store(true, Ordering::Relaxed);
    }
    Ok(row)
}

/// Writes the question: a head, then `struct inet_diag_req_v2`.
fn question(own: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    let family = if own.is_ipv4() { INET } else { INET6 };
    let mut bytes = Vec::with_capacity(HEAD + QUESTION);
    bytes.extend(u32::try_from(HEAD + QUESTION).unwrap_or(u32::MAX).to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    // Its number and its sender: one question a socket, and the kernel knows who asks.
    bytes.extend([0; 8]);
    bytes.extend([family, TCP, 0, 0]);
    // Of any state.
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(own.port().to_be_bytes());
    bytes.extend(remote.port().to_be_bytes());
    bytes.extend(octets(own.ip()));
    bytes.extend(octets(remote.ip()));
    // On any interface.
    bytes.extend([0; 4]);
    bytes.extend(NO_COOKIE);
    bytes
}

fn octets(ip: IpAddr) -> [u8; 16] {
    let mut bytes = [0; 16];
    match ip {
        IpAddr::V4(ip) => bytes[..4].copy_from_slice(&ip.octets()),
        IpAddr::V6(ip) => bytes = ip.octets(),
    }
    bytes
}

/// Reads the answer; what is no answer is as if the kernel knew nothing.
fn answer(bytes: &[u8]) -> Result<Option<Row>, Errno> {
    let kind = field(bytes, 4).map(u16::from_ne_bytes);
    match kind {
        Some(ERROR) => {
            let number = field(bytes, HEAD).map_or(0, i32::from_ne_bytes);
            match Errno::from_raw(number.saturating_neg()) {
                Errno::ENOENT => Ok(None),
                other => Err(other),
            }
        }
        Some(BY_FAMILY) => Ok(bytes.get(HEAD..HEAD + ROW).and_then(row)),
        Some(_) | None => Ok(None),
    }
}

/// Reads `struct inet_diag_msg`.
fn row(bytes: &[u8]) -> Option<Row> {
    let [family, state, ..] = bytes else { return None };
    let port = |at| field(bytes, at).map(u16::from_be_bytes);
    let ip = |at| -> Option<IpAddr> {
        let all: [u8; 16] = field(bytes, at)?;
        match *family {
            INET => Some(Ipv4Addr::new(all[0], all[1], all[2], all[3]).into()),
            INET6 => Some(Ipv6Addr::from(all).into()),
            _ => None,
        }
    };
    let number = |at| field(bytes, at).map(u32::from_ne_bytes);
    Some(Row {
        state: *state,
        own: plain(SocketAddr::new(ip(8)?, port(4)?)),
        remote: plain(SocketAddr::new(ip(24)?, port(6)?)),
        uid: number(64)?,
        inode: number(68)?,
    })
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}
