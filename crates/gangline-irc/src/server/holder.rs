//! Who somebody is to a room.

use super::client_id::ClientId;

/// Somebody, as a room remembers them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holder {
    /// Whoever is logged in to this account (folded).
    Account(String),
    /// This connection.
    Session(ClientId),
}
