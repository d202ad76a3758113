//! Who somebody is: the question that the server asks and does not answer.

use std::net::{IpAddr, SocketAddr};

use gangline_core::{AgentName, Principal};

use crate::wire::scram::Keys;

/// Whose connection it is, as far as the kernel tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A process that came by the installation's own socket: of the user who runs the server, or
    /// of root.
    Socket,
    /// A process of the user who runs the server.
    Own,
    /// A process of another user of this machine.
    User(u32),
    /// The kernel does not tell: another system than Linux, a container's outside, a process that
    /// is gone already. Trust counts it as another user.
    Unknown(IpAddr),
}

/// A connection of a process of the user who runs the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By TCP.
    Tcp {
        /// Our end.
        local: SocketAddr,
        /// The other.
        peer: SocketAddr,
    },
    /// By the installation's own socket.
    Socket {
        /// The process that connected, if the kernel tells.
        pid: Option<u32>,
    },
}

/// Whose process it is that has a connection, of those of the user who runs the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// No agent's: a person's, or a daemon itself.
    Nobodys,
    /// This agent's: its daemon started it, or something that its daemon started.
    Agents(AgentName),
    /// There is none any more, or the kernel was not able to tell. Trust counts it as another user's.
    Unknown,
}

/// Decides about credentials and peers. Called on the server's task: answers must be quick and
/// must not block on anything but a small question to the kernel.
pub trait Trust: Send + Sync + 'static {
    /// Returns the principal that `account` and `password` prove when they come from there, or
    /// `None`. `PASS owner:<token>` asks for the account `owner`.
    fn authenticate(&self, origin: Origin, account: &str, password: &str) -> Option<Principal>;

    /// Returns the principal of an account that can log in by SCRAM, and its keys.
    fn scram(&self, origin: Origin, account: &str) -> Option<(Principal, Keys)> {
        let _ = (origin, account);
        None
    }

    /// Returns whose process is at the other end of a TCP connection (`local` is our end). Asked
    /// once for each connection, when it is accepted.
    fn origin(&self, local: SocketAddr, peer: SocketAddr) -> Origin;

    /// Returns whose process has a connection whose origin is this user. Asked once for each, before a line
    /// of it is read, and of a TCP connection on a thread that may block for some milliseconds.
    fn whose(&self, end: End) -> Whose {
        let _ = end;
        Whose::Nobodys
    }
}
