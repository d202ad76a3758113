//! Reminders: made, fired, removed, listed.

use gangline_core::{AgentName, MessageId};
use gangline_os::clock::UnixMicros;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{Writer, reminders},
    types::{Firing, NewReminder, ReminderRow},
};

impl Store {
    /// Makes a reminder and returns it. The same request again is the same reminder.
    ///
    /// # Errors
    /// [`StoreError::Fenced`]; [`StoreError::Invalid`] when [`NewReminder::open_max`] wait already,
    /// or when [`CHAIN_MAX`](gangline_core::reminder::CHAIN_MAX) have followed from one another; otherwise
    /// as every write.
    pub async fn remind(&self, new: NewReminder) -> Result<ReminderRow, StoreError> {
        self.sqlite.write(&op::REMIND, move |w: &mut Writer| reminders::make(w, &new, None)).await
    }

    /// Fires a reminder that is due: its message and its next time are one commit. The message is a
    /// new root cause, whose parent is the one in which the reminder was made. `None` if it was
    /// fired or removed before.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], otherwise as every write.
    pub async fn fire_reminder(
        &self,
        agent: &AgentName,
        firing: Firing,
    ) -> Result<Option<MessageId>, StoreError> {
        let agent = agent.clone();
        let work = move |w: &mut Writer| reminders::fire(w, &agent, &firing);
        self.sqlite.write(&op::FIRE_REMINDER, work).await
    }

    /// Removes a reminder that waits, and returns it. `None` if there is no such one.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn remove_reminder(&self, id: i64) -> Result<Option<ReminderRow>, StoreError> {
        self.sqlite
            .write(&op::REMOVE_REMINDER, move |w: &mut Writer| reminders::remove(w, id))
            .await
    }

    /// Returns one reminder, fired or not.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn reminder(&self, id: i64) -> Result<Option<ReminderRow>, StoreError> {
        self.sqlite.read("read a reminder", move |c| reminders::one(c, id)).await
    }

    /// Returns the reminders of one agent, or of all, that wait, the next one first; at most `limit`
    /// (itself at most [`crate::PAGE_MAX`]).
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn reminders(
        &self,
        agent: Option<&AgentName>,
        limit: u32,
    ) -> Result<Vec<ReminderRow>, StoreError> {
        let agent = agent.cloned();
        let work = move |c: &_| reminders::waiting(c, agent.as_ref(), limit);
        self.sqlite.read("list reminders", work).await
    }

    /// Returns the reminders of one agent, or of all, those that have fired too, newest first; at most
    /// `limit` (itself at most [`crate::PAGE_MAX`]).
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn all_reminders(
        &self,
        agent: Option<&AgentName>,
        limit: u32,
    ) -> Result<Vec<ReminderRow>, StoreError> {
        let agent = agent.cloned();
        let work = move |c: &_| reminders::all(c, agent.as_ref(), limit);
        self.sqlite.read("list all reminders", work).await
    }

    /// Returns when reminders of the agent fired since a time, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn fired_since(
        &self,
        agent: &AgentName,
        since: UnixMicros,
    ) -> Result<Vec<UnixMicros>, StoreError> {
        let agent = agent.clone();
        let work = move |c: &_| reminders::fired_since(c, &agent, since);
        self.sqlite.read("read reminders", work).await
    }
}
