//! Whether somebody may have a nick.

use super::client_id::ClientId;

/// What there is to a nick that somebody wants.
pub(super) enum Claim {
    Free,
    /// This connection of the same account has it.
    Held(ClientId),
    /// It cannot be had, and was told so.
    Refused,
}
