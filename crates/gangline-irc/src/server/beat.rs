//! When people are asked whether they have read, and when it is stored that they have.

use std::time::Duration;

/// When something is to be done.
#[derive(Debug, Default)]
pub(super) struct Beat {
    /// Readers are looked at.
    pub(super) look: Option<Duration>,
    /// What they have read is stored.
    pub(super) keep: Option<Duration>,
}
