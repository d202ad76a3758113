//! Messages: intake, listing, cancelling.

use gangline_core::{AgentName, MessageId};
use gangline_os::clock::UnixMicros;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{OnDone, messages, trace},
    types::{Accepted, Cancel, MessageFilter, MessageRow, NewMessage, TakenIn, Trace},
};

impl Store {
    /// Accepts a message, or records a refused one. The same intake key again gives the same row;
    /// the cursor moves in the same commit either way.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] for a state that no new message has, [`StoreError::Fenced`],
    /// or the storage's.
    pub async fn accept(&self, message: NewMessage) -> Result<Accepted, StoreError> {
        self.sqlite.write(&op::ACCEPT, move |w| messages::accept(w, &message)).await
    }

    /// As [`Store::accept`]; `tell` is called, on the store's thread, as soon as the row can be read,
    /// with the row if it is new and waits for a turn now. Until this returns the row is not known
    /// to outlive a power cut: what is told may be answered by a write of this process and by
    /// nothing else. Such a write, if it comes at once, is synced together with the row, and no
    /// earlier. `tell` must not block.
    ///
    /// # Errors
    /// As [`Store::accept`].
    pub async fn accept_and_notify(
        &self,
        message: NewMessage,
        tell: impl FnOnce(Option<MessageRow>) + Send + 'static,
    ) -> Result<Accepted, StoreError> {
        let work = move |w: &mut crate::sqlite::Writer| messages::accept_row(w, &message);
        let tell: OnDone<(Accepted, Option<MessageRow>)> =
            Box::new(move |(_, row)| tell(row.take()));
        let written = self.sqlite.write_and_notify(&op::ACCEPT, work, Some(tell)).await;
        written.map(|(accepted, _)| accepted)
    }

    /// Moves the cursor of one target by itself.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], or the storage's.
    pub async fn move_cursor(
        &self,
        agent: &AgentName,
        network_id: &str,
        target: &str,
        cursor: &str,
    ) -> Result<(), StoreError> {
        let (agent, network) = (agent.clone(), network_id.to_owned());
        let (target, cursor) = (target.to_owned(), cursor.to_owned());
        let work = move |w: &mut crate::sqlite::Writer| {
            messages::move_cursor(w, (&agent, &network), &target, &cursor)
        };
        self.sqlite.write(&op::MOVE_CURSOR, work).await
    }

    /// Returns the cursors of an agent on a network: target and place.
    ///
    /// # Errors
    /// The storage's.
    pub async fn cursors(
        &self,
        agent: &AgentName,
        network_id: &str,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let (agent, network) = (agent.clone(), network_id.to_owned());
        let work = move |c: &_| messages::cursors(c, &agent, &network);
        self.sqlite.read("read cursors", work).await
    }

    /// Returns one message.
    ///
    /// # Errors
    /// The storage's.
    pub async fn message(&self, id: MessageId) -> Result<Option<MessageRow>, StoreError> {
        self.sqlite.read("read a message", move |c| messages::one(c, id)).await
    }

    /// Returns the agent's messages that wait and are due at `now`, oldest first, at most `limit`
    /// (itself at most [`crate::PAGE_MAX`]).
    ///
    /// # Errors
    /// The storage's.
    pub async fn pending(
        &self,
        agent: &AgentName,
        now: UnixMicros,
        limit: u32,
    ) -> Result<Vec<MessageRow>, StoreError> {
        let agent = agent.clone();
        let work = move |c: &_| messages::pending(c, &agent, now, limit);
        self.sqlite.read("read the inbox", work).await
    }

    /// Returns when the first waiting message that is not due at `now` becomes due.
    ///
    /// # Errors
    /// The storage's.
    pub async fn next_due(
        &self,
        agent: &AgentName,
        now: UnixMicros,
    ) -> Result<Option<UnixMicros>, StoreError> {
        let agent = agent.clone();
        let work = move |c: &_| messages::next_due(c, &agent, now);
        self.sqlite.read("read the inbox", work).await
    }

    /// Returns messages, newest first, at most `limit` (itself at most [`crate::PAGE_MAX`]).
    ///
    /// # Errors
    /// The storage's.
    pub async fn messages(
        &self,
        filter: MessageFilter,
        limit: u32,
    ) -> Result<Vec<MessageRow>, StoreError> {
        let work = move |c: &_| messages::list(c, &filter, limit);
        self.sqlite.read("list messages", work).await
    }

    /// Returns what these lines of a network have become, by their intake keys; those that became
    /// nothing are left out.
    ///
    /// # Errors
    /// The storage's.
    pub async fn taken_in(
        &self,
        agent: &AgentName,
        network: &str,
        keys: Vec<String>,
    ) -> Result<Vec<TakenIn>, StoreError> {
        let (agent, network) = (agent.clone(), network.to_owned());
        let work = move |c: &_| messages::taken_in(c, (&agent, &network), keys);
        self.sqlite.read("find messages", work).await
    }

    /// Cancels a message that waits or is held. One that a turn has is left alone.
    ///
    /// # Errors
    /// The storage's.
    pub async fn cancel(&self, id: MessageId, by: &str) -> Result<Cancel, StoreError> {
        let by = by.to_owned();
        self.sqlite.write(&op::CANCEL, move |w| messages::cancel(w, id, &by)).await
    }

    /// Returns how many of the agent's messages wait for a turn, however many there are.
    ///
    /// # Errors
    /// The storage's.
    pub async fn waiting(&self, agent: &AgentName) -> Result<u64, StoreError> {
        let agent = agent.clone();
        self.sqlite.read("count what waits", move |c| messages::waiting(c, &agent)).await
    }

    /// Returns where a message that waits stands among the agent's (1 = the next), and how many wait.
    ///
    /// # Errors
    /// The storage's.
    pub async fn place(
        &self,
        agent: &AgentName,
        message: MessageId,
    ) -> Result<(u64, u64), StoreError> {
        let agent = agent.clone();
        self.sqlite.read("place a message", move |c| messages::place(c, &agent, message)).await
    }

    /// Returns all that is known about one message.
    ///
    /// # Errors
    /// The storage's.
    pub async fn trace(&self, id: MessageId) -> Result<Option<Trace>, StoreError> {
        self.sqlite.read("trace a message", move |c| trace::trace(c, id)).await
    }
}
