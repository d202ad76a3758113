//! What is on record of a session, for a program that may tell its past again.

use async_trait::async_trait;
use gangline_core::block::Block;

/// The record of an agent's sessions.
#[async_trait]
pub trait Past: Send + Sync {
    /// Returns what the model said and did in the session of this id, in order, as it is on record: secrets are
    /// masked ([`gangline_core::redact::MASK`]). Of a long session the beginning may be left out.
    /// Empty if nothing is known. Cancel-safe: yes.
    async fn of(&self, session: &str) -> Vec<Block>;
}

/// The record of a session that has none.
#[derive(Debug, Clone, Copy)]
pub struct NoPast;

#[async_trait]
impl Past for NoPast {
    async fn of(&self, _session: &str) -> Vec<Block> {
        Vec::new()
    }
}
