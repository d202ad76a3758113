//! What agents' daemons were started with: who wants to know whether that is still what they would
//! be started with now compares it.

use gangline_core::AgentName;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{Writer, applied},
    types::Applied,
};

impl Store {
    /// Records what a daemon was started with. Writes nothing if that is known already.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], otherwise as every write.
    pub async fn record_applied(&self, new: Applied) -> Result<(), StoreError> {
        let agent = new.agent.clone();
        let known = self.sqlite.read("read what was applied", move |c| applied::of(c, &agent));
        if known.await?.is_some_and(|known| known.mark == new.mark) {
            return Ok(());
        }
        self.sqlite.write(&op::APPLIED, move |w: &mut Writer| applied::put(w, &new)).await
    }

    /// Returns what the daemon of this agent was started with last.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn applied_of(&self, agent: &AgentName) -> Result<Option<Applied>, StoreError> {
        let agent = agent.clone();
        self.sqlite.read("read what was applied", move |c| applied::of(c, &agent)).await
    }

    /// Returns what every agent's daemon was started with last, by agent.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn applied(&self) -> Result<Vec<Applied>, StoreError> {
        self.sqlite.read("read what was applied", applied::list).await
    }
}
