//! What the statements of a write work with.

use std::collections::HashMap;

use gangline_core::{AgentName, Epoch};
use gangline_os::clock::UnixMicros;
use rusqlite::Connection;

/// The connection in a transaction, and what holds for all of it.
pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) installation_id: String,
    /// The wall clock at the beginning of the commit.
    pub(crate) now: UnixMicros,
    /// The epochs that this process has begun: all its writes for those agents are bound to them.
    pub(crate) epochs: HashMap<AgentName, Epoch>,
}
