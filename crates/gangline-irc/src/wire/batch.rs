//! Batches: lines that belong together, between `BATCH +ref type …` and `BATCH -ref`.

use super::{Message, tags};

/// The type of a batch of history lines.
pub const CHATHISTORY: &str = "chathistory";
/// The type of a batch that names targets with history.
pub const CHATHISTORY_TARGETS: &str = "draft/chathistory-targets";
/// The type of a batch that is one labelled response of several lines.
pub const LABELED: &str = "labeled-response";

/// The edge of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark<'a> {
    /// The batch begins.
    Start {
        /// Its name on this connection.
        reference: &'a str,
        /// Its type, as written (types are compared exactly).
        kind: &'a str,
        /// What the type adds, such as the target of a history.
        params: &'a [String],
    },
    /// The batch is complete.
    End {
        /// Its name.
        reference: &'a str,
    },
}

/// Returns which edge of a batch the line is, if it is one.
#[must_use]
pub fn mark(message: &Message) -> Option<Mark<'_>> {
    if message.command != "BATCH" {
        return None;
    }
    let first = message.at(0)?;
    if let Some(reference) = first.strip_prefix('-') {
        return Some(Mark::End { reference });
    }
    let reference = first.strip_prefix('+')?;
    Some(Mark::Start { reference, kind: message.at(1)?, params: &message.params[2..] })
}

/// Returns the line that begins a batch.
#[must_use]
pub fn start(reference: &str, kind: &str) -> Message {
    Message::new("BATCH").param(format!("+{reference}")).param(kind)
}

/// Returns the line that ends a batch.
#[must_use]
pub fn end(reference: &str) -> Message {
    Message::new("BATCH").param(format!("-{reference}"))
}

/// Returns the batch that the line says it belongs to.
#[must_use]
pub fn of(message: &Message) -> Option<&str> {
    message.tag(tags::BATCH)
}
