//! What is known of the store's failures.

use std::time::Duration;

/// What owners are told of; see `owners.rs`.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// Why nothing can be stored, since the first line that was not.
    pub(super) writes: Option<String>,
    /// What a look at the start has found.
    pub(super) damage: Option<String>,
    pub(super) told: Option<Duration>,
}
