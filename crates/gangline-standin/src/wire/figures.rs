//! Ids and token counts of answers.

use crate::reply::{Conversation, Reply, Step, tokens};

/// Ids of one answer. They follow from the request, so the same request gets the same ids and a
/// conversation never sees one twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ids {
    digest: u64,
}

impl Ids {
    pub(crate) fn of(body: &[u8]) -> Self {
        // FNV-1a: stable over versions, which the standard hasher does not promise.
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Self { digest: body.iter().fold(0xcbf2_9ce4_8422_2325, step) }
    }

    /// Returns the id of the request, for the header that carries it.
    pub(crate) fn request(&self) -> String {
        self.one("req_")
    }

    /// Returns the id of what the answer has one of.
    pub(super) fn one(&self, prefix: &str) -> String {
        format!("{prefix}standin{:016x}", self.digest)
    }

    /// Returns the id of what the answer has several of.
    pub(super) fn of_many(&self, prefix: &str, number: usize) -> String {
        format!("{prefix}standin{:016x}_{number}", self.digest)
    }
}

/// When all answers were made, in seconds since 1970: they follow from the request alone.
pub(super) const CREATED: u64 = 1_767_225_600;

/// The token counts of an answer: those that the script tells, else estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    /// Read, but for those from and to the cache.
    pub(super) fresh: u64,
    /// Read from the cache.
    pub(super) cache_read: u64,
    /// Written to the cache.
    pub(super) cache_written: u64,
    /// Written, thinking included.
    pub(super) output: u64,
    /// Of those, the thinking.
    pub(super) thinking: u64,
}

impl Counts {
    pub(super) fn of(conversation: &Conversation, reply: &Reply) -> Self {
        let told = reply.usage;
        let length = |step: &Step| match step {
            Step::Text(text) | Step::Thinking(text) => text.len(),
            Step::ToolUse { name, input } => name.len() + input.to_string().len(),
            Step::Delay(_) => 0,
        };
        let thinking = |step: &Step| match step {
            Step::Thinking(text) => text.len(),
            Step::Text(_) | Step::ToolUse { .. } | Step::Delay(_) => 0,
        };
        let written = tokens(reply.steps.iter().map(length).sum()).max(1);
        let output = told.output_tokens.unwrap_or(written);
        Self {
            fresh: told.input_tokens.unwrap_or(conversation.input_tokens),
            cache_read: told.cache_read_input_tokens.unwrap_or(0),
            cache_written: told.cache_creation_input_tokens.unwrap_or(0),
            output,
            thinking: tokens(reply.steps.iter().map(thinking).sum()).min(output),
        }
    }

    /// Returns all that was read: wires that do not count the cache apart tell this.
    pub(super) fn read(&self) -> u64 {
        self.fresh.saturating_add(self.cache_read).saturating_add(self.cache_written)
    }

    /// Returns all that was read and written.
    pub(super) fn total(&self) -> u64 {
        self.read().saturating_add(self.output)
    }
}
