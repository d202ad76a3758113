//! The outbox: T2 and the life of each line.

use gangline_core::{AgentName, Principal};

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{outbox, send},
    types::{OutboxId, OutboxRow, Said, Send, SendReceipt, SentAs},
};

impl Store {
    /// T2: puts lines into the outbox, and the row for another agent into its inbox. The same
    /// idempotency key again gives the same rows, whatever else the repetition says.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if a turn is named whose epoch is not the agent's; or the storage's.
    pub async fn send(&self, send: Send) -> Result<SendReceipt, StoreError> {
        self.sqlite.write(&op::SEND, move |w| send::send(w, &send, None)).await
    }

    /// As [`Store::send`], of an answer to the line with this id, which need not be a message: it
    /// goes to the conversation of that line. Without one the id is that of the message which the
    /// send names, or which its turn works on, if its target said it.
    ///
    /// # Errors
    /// As [`Store::send`].
    pub async fn answer(
        &self,
        send: Send,
        question: Option<String>,
    ) -> Result<SendReceipt, StoreError> {
        let work = move |w: &mut crate::sqlite::Writer| send::send(w, &send, question.as_deref());
        self.sqlite.write(&op::SEND, work).await
    }

    /// Returns the agent's lines that are queued or sent, in order, at most `limit` (itself at
    /// most [`crate::PAGE_MAX`]).
    ///
    /// # Errors
    /// The storage's.
    pub async fn outbox_pending(
        &self,
        agent: &AgentName,
        limit: u32,
    ) -> Result<Vec<OutboxRow>, StoreError> {
        self.outbox_pending_after(agent, OutboxId(0), limit).await
    }

    /// As [`Store::outbox_pending`], of the lines behind this one: a page and the next.
    ///
    /// # Errors
    /// The storage's.
    pub async fn outbox_pending_after(
        &self,
        agent: &AgentName,
        after: OutboxId,
        limit: u32,
    ) -> Result<Vec<OutboxRow>, StoreError> {
        let agent = agent.clone();
        let work = move |c: &_| outbox::pending(c, &agent, (after, limit));
        self.sqlite.read("read the outbox", work).await
    }

    /// Returns the lines of one send, by part.
    ///
    /// # Errors
    /// The storage's.
    pub async fn outbox_by_idem(
        &self,
        agent: &AgentName,
        idem_key: &str,
    ) -> Result<Vec<OutboxRow>, StoreError> {
        let (agent, key) = (agent.clone(), idem_key.to_owned());
        let work = move |c: &_| outbox::by_idem(c, &agent, &key);
        self.sqlite.read("read the outbox", work).await
    }

    /// Returns who asked for a private line, if its target did: the author of the message that it
    /// answers, of one that its turn works on, or of one at the root of its cause.
    ///
    /// # Errors
    /// The storage's.
    pub async fn asked_by(
        &self,
        row: OutboxId,
        network_id: &str,
    ) -> Result<Option<Principal>, StoreError> {
        let network = network_id.to_owned();
        let work = move |c: &_| outbox::asked_by(c, row, &network);
        self.sqlite.read("read who asked", work).await
    }

    /// Records that lines are written to the socket (again), and, if it is the first time, in which
    /// form. Returns how many rows changed; settled ones do not.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], or the storage's.
    pub async fn mark_sent(&self, ids: &[OutboxId], how: SentAs) -> Result<u64, StoreError> {
        let ids = ids.to_vec();
        self.sqlite.write(&op::MARK_SENT, move |w| outbox::mark_sent(w, &ids, how)).await
    }

    /// Records that the server has the lines, all in one commit; with the last line of an
    /// announcement, that the approval was announced there, which a bare answer must follow. Returns
    /// whether any of that was news.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], or the storage's.
    pub async fn confirm(&self, ids: &[OutboxId], said: Said) -> Result<bool, StoreError> {
        let ids = ids.to_vec();
        let work = move |w: &mut crate::sqlite::Writer| outbox::confirm(w, &ids, &said);
        self.sqlite.write(&op::CONFIRM, work).await
    }

    /// Gives lines up, all in one commit. Returns whether one was still waiting.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], or the storage's.
    pub async fn undeliverable(&self, ids: &[OutboxId], why: &str) -> Result<bool, StoreError> {
        let (ids, why) = (ids.to_vec(), why.to_owned());
        let work = move |w: &mut crate::sqlite::Writer| outbox::undeliverable(w, &ids, &why);
        self.sqlite.write(&op::UNDELIVERABLE, work).await
    }

    /// Notes that a line may stand in the room twice.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], or the storage's.
    pub async fn may_be_doubled(&self, id: OutboxId) -> Result<(), StoreError> {
        self.sqlite.write(&op::MAY_BE_DOUBLED, move |w| outbox::doubled(w, id)).await
    }
}
