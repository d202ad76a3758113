//! A nick that two connections of one account want.

use std::time::Duration;

use gangline_core::Nick;

use super::{client_id::ClientId, flight::Asker};

/// A nick that somebody waits for.
pub(super) struct Contest {
    pub(super) nick: Nick,
    /// Who has it, and is to answer.
    pub(super) holder: ClientId,
    pub(super) newcomer: ClientId,
    /// The newcomer's request, if it is registered already.
    pub(super) asker: Option<Asker>,
    /// Until when the holder may answer.
    pub(super) due: Duration,
}
