//! What the record of events has of a session of the agent's: what its model said and did.

use async_trait::async_trait;
use gangline_api::event::Event;
use gangline_core::{AgentName, block::Block};
use gangline_os::clock::UnixMicros;
use gangline_runtime::Past;
use gangline_store::{Store, StoreError};
use tracing::warn;

/// The kind of the events that are read.
const ASSISTANT: &str = "assistant";
/// So many of the newest are read. A program that tells more of them again has shown by then that it does,
/// or has told its oldest before the first prompt.
const MESSAGES_MAX: u32 = 5_000;

/// The record of one agent.
pub(crate) struct Recorded {
    pub(crate) store: Store,
    pub(crate) agent: AgentName,
}

impl Recorded {
    async fn read(&self, session: &str) -> Result<Vec<Block>, StoreError> {
        let sessions = self.store.sessions(&self.agent).await?;
        let begun = sessions.iter().filter(|row| row.session == session).map(|row| row.begun_at);
        let since = begun.min().unwrap_or(UnixMicros(0));
        let payloads = self.store.payloads_of(&self.agent, ASSISTANT, since, MESSAGES_MAX).await?;
        let blocks = payloads.iter().flat_map(|payload| {
            let payload = serde_json::from_str(payload.as_str()).unwrap_or_default();
            match Event::decode(ASSISTANT, payload) {
                Ok(Some(Event::Assistant(said))) => said.content,
                Ok(_) | Err(_) => Vec::new(),
            }
        });
        Ok(blocks.collect())
    }
}

#[async_trait]
impl Past for Recorded {
    async fn of(&self, session: &str) -> Vec<Block> {
        self.read(session).await.unwrap_or_else(|error| {
            warn!(%error, "what the session said so far cannot be read");
            Vec::new()
        })
    }
}

#[cfg(test)]
mod tests;
