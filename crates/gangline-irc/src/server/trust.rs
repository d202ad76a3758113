//! Who somebody is: the question that the server asks and does not answer.

use std::net::SocketAddr;

use gangline_core::{Principal, Tier};

/// Decides about credentials and peers. Called on the server's task: answers must be quick and
/// must not block on anything but a small file of the kernel.
pub trait Trust: Send + Sync + 'static {
    /// Returns the principal that `account` and `password` prove, or `None`. `PASS
    /// owner:<token>` asks for the account `owner`.
    fn authenticate(&self, account: &str, password: &str) -> Option<Principal>;

    /// Returns the tier of a peer without an account, by what the kernel says of its socket
    /// (`local` is our end). [`Tier::Member`] or [`Tier::Stranger`]; anything higher is taken
    /// for a member.
    fn peer(&self, local: SocketAddr, peer: SocketAddr) -> Tier;
}
