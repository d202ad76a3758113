//! Root causes: released, ended, and looked at.

use gangline_core::{AgentName, MessageId, TurnId};

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::causes,
    types::{CauseEnded, CauseRow, Held, Released},
};

impl Store {
    /// Puts what is held of a message's cause back into the queues, and gives the cause `more`
    /// turns. The message may be any that follows from the root.
    ///
    /// # Errors
    /// The storage's.
    pub async fn release(&self, id: MessageId, more: i64) -> Result<Released, StoreError> {
        self.sqlite.write(&op::RELEASE, move |w| causes::release(w, id, more)).await
    }

    /// Ends a message's cause for good: what waits or is held is cancelled, and so is what comes
    /// later. Open turns are the daemons' to end ([`Store::turns_to_end`]). Returns nothing if
    /// there is no such message.
    ///
    /// # Errors
    /// The storage's.
    pub async fn end_cause(
        &self,
        id: MessageId,
        by: &str,
    ) -> Result<Option<CauseEnded>, StoreError> {
        let by = by.to_owned();
        self.sqlite.write(&op::END_CAUSE, move |w| causes::end(w, id, &by)).await
    }

    /// Returns the agent's open turns that somebody has ended, or whose cause somebody has ended.
    ///
    /// # Errors
    /// The storage's.
    pub async fn turns_to_end(&self, agent: &AgentName) -> Result<Vec<TurnId>, StoreError> {
        let agent = agent.clone();
        self.sqlite.read("read ended causes", move |c| causes::turns_to_end(c, &agent)).await
    }

    /// Returns what is held for an agent, by cause, oldest first, at most [`crate::PAGE_MAX`].
    ///
    /// # Errors
    /// The storage's.
    pub async fn held(&self, agent: &AgentName) -> Result<Vec<Held>, StoreError> {
        let agent = agent.clone();
        self.sqlite.read("read what is held", move |c| causes::held(c, &agent)).await
    }

    /// Returns the cause of a message, if there is such a message.
    ///
    /// # Errors
    /// The storage's.
    pub async fn cause(&self, id: MessageId) -> Result<Option<CauseRow>, StoreError> {
        self.sqlite.read("read a cause", move |c| causes::of(c, id)).await
    }
}
