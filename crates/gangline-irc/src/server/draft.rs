//! A message of several lines while its client sends it.

use super::store::LineKind;
use crate::wire::Message;

/// A message that a client is sending.
pub(super) struct Draft {
    pub(super) reference: String,
    /// The line that has begun it: its tags are the message's.
    pub(super) start: Message,
    pub(super) label: Option<String>,
    pub(super) kind: Option<LineKind>,
    pub(super) lines: usize,
    pub(super) bytes: usize,
    pub(super) text: String,
    /// Whether it has been refused: its further lines are passed over.
    pub(super) refused: bool,
}
