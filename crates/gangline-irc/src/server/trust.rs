//! Who somebody is: the question that the server asks and does not answer.

use std::net::{IpAddr, SocketAddr};

use gangline_core::Principal;

/// Whose connection it is, as far as the kernel tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A process of the user who runs the server.
    Own,
    /// A process of another user of this machine.
    User(u32),
    /// The kernel does not tell: another system than Linux, a container's outside.
    Unknown(IpAddr),
}

/// Decides about credentials and peers. Called on the server's task: answers must be quick and
/// must not block on anything but a small question to the kernel.
pub trait Trust: Send + Sync + 'static {
    /// Returns the principal that `account` and `password` prove, or `None`. `PASS
    /// owner:<token>` asks for the account `owner`.
    fn authenticate(&self, account: &str, password: &str) -> Option<Principal>;

    /// Returns whose process is at the other end of a connection (`local` is our end). Asked once
    /// for each connection, when it is accepted.
    fn origin(&self, local: SocketAddr, peer: SocketAddr) -> Origin;
}
