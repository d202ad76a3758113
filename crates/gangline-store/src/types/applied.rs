//! What agents' daemons were started with.

use gangline_core::{AgentName, Epoch};

/// What the daemon of an agent was started with last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Whose daemon.
    pub agent: AgentName,
    /// The first of its epochs that was started so.
    pub epoch: Epoch,
    /// The mark of its part of the configuration; opaque here.
    pub mark: String,
}
