//! What `--json` adds so that one thing has one name in every command.

use gangline_api::status::AgentStatus;
use gangline_core::AgentName;
use gangline_os::clock::{UnixMicros, rfc3339};
use serde::Serialize;

/// An agent's state with the names that all other commands use beside those of the first wire:
/// `agent` for `nick`, `last_turn_at` for `last_activation`.
#[derive(Debug, Serialize)]
pub(crate) struct OfAgent<'a, T> {
    agent: &'a AgentName,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_turn_at: Option<String>,
    #[serde(flatten)]
    rest: &'a T,
}

impl<'a, T> OfAgent<'a, T> {
    /// Returns `rest`, of which `status` is a part or the whole, with both names.
    pub(crate) fn new(status: &'a AgentStatus, rest: &'a T) -> Self {
        #[allow(clippy::cast_possible_truncation, reason = "the wire has seconds as a float")]
        let at = |seconds: f64| rfc3339(UnixMicros((seconds * 1e6) as i64));
        Self { agent: &status.nick, last_turn_at: status.last_activation.map(at), rest }
    }
}
