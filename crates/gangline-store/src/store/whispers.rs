//! Whispers: recorded by any process, delivered by the agent's daemon.

use gangline_core::AgentName;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{Writer, whispers},
    types::{NewWhisper, WhisperRow},
};

impl Store {
    /// Records a whisper and returns its number (C9). The caller sends the agent's change notice.
    /// Its delivery is recorded by [`super::Entry::WhispersDelivered`].
    ///
    /// # Errors
    /// [`StoreError::Fenced`]; [`StoreError::Invalid`] when
    /// [`gangline_core::whisper::WAITING_MAX`] wait already; otherwise as every write.
    pub async fn whisper(&self, new: NewWhisper) -> Result<i64, StoreError> {
        let said = self.sqlite.write(&op::WHISPER, move |w: &mut Writer| whispers::say(w, &new));
        said.await?.ok_or(StoreError::Invalid("too many whispers wait for this agent"))
    }

    /// Returns the whispers that have not reached the agent, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn undelivered_whispers(
        &self,
        agent: &AgentName,
    ) -> Result<Vec<WhisperRow>, StoreError> {
        let agent = agent.clone();
        let work = move |c: &_| whispers::undelivered(c, &agent);
        self.sqlite.read("read whispers", work).await
    }

    /// Returns the whispers of one agent, or of all, newest first; at most `limit` (itself at most
    /// [`crate::PAGE_MAX`]).
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn whispers(
        &self,
        agent: Option<&AgentName>,
        limit: u32,
    ) -> Result<Vec<WhisperRow>, StoreError> {
        let agent = agent.cloned();
        let work = move |c: &_| whispers::list(c, agent.as_ref(), limit);
        self.sqlite.read("list whispers", work).await
    }
}
