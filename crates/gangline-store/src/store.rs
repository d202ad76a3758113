//! The handle: every way into the store. Cheap to clone; knows no engine's types.

mod acts;
mod agents;
mod alerts;
mod applied;
mod approvals;
mod budgets;
mod causes;
mod changes;
mod findings;
mod folder_trust;
mod letters;
mod messages;
mod orders;
mod outbox;
mod pauses;
mod questions;
mod reminders;
mod restarts;
mod rules;
mod together;
mod tokens;
mod turn_orders;
mod turns;
mod wakes;
mod whispers;

pub use together::Entry;

use std::time::Duration;

use crate::{
    error::{OpenError, StoreError},
    op,
    opening::{OpenOptions, Tuning},
    sqlite::{self, Sqlite},
    types::{AgentRow, FolderTrustRow, Health, Order, Syncs},
};

/// How long a look waits for somebody who does not use our lock.
const LOOK_WAIT: Duration = Duration::from_secs(1);

/// The durable store of one installation, as one process sees it.
///
/// Every write returns after its commit has been synced; an error says what is known of it. A
/// write whose future is dropped once it is queued is still made: the store's thread, not the caller, owns it. So
/// all async methods are cancel-safe in the sense that nothing is left half done, but a dropped
/// future does not tell what happened.
#[derive(Clone, Debug)]
pub struct Store {
    sqlite: Sqlite,
}

impl Store {
    /// Opens the store, making it first if there is none, and migrates an older one.
    ///
    /// # Errors
    /// See [`OpenError`]; the file is never changed or removed by a failed opening.
    pub async fn open(options: OpenOptions) -> Result<Self, OpenError> {
        Self::open_tuned(options, Tuning::default()).await
    }

    /// Opens the store with limits other than the usual ones.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn open_tuned(options: OpenOptions, tuning: Tuning) -> Result<Self, OpenError> {
        Ok(Self { sqlite: Sqlite::open(options, tuning).await? })
    }

    /// Looks at a store that is there, and changes nothing in it: whether it can be opened by this
    /// program, and whether it is damaged (a file of more than 256 MiB is not looked through). For
    /// a process that does not have it open. Returns its schema. It blocks its thread for about a
    /// second at most.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn look(options: OpenOptions) -> Result<i64, OpenError> {
        sqlite::look(options, Tuning { busy_timeout: LOOK_WAIT, ..Tuning::default() })
    }

    /// Returns the orders of a store that is there, and changes nothing in it: for what only looks,
    /// and for callers that cannot wait. It may block its thread for about a second. A store of an
    /// older program has none until it is opened.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn look_at_orders(options: OpenOptions) -> Result<Vec<Order>, OpenError> {
        let tuning = Tuning { busy_timeout: LOOK_WAIT, ..Tuning::default() };
        sqlite::look_at_orders(options, tuning)
    }

    /// Returns the agents of a store that is there, as [`Store::look_at_orders`] its orders.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn look_at_agents(options: OpenOptions) -> Result<Vec<AgentRow>, OpenError> {
        let tuning = Tuning { busy_timeout: LOOK_WAIT, ..Tuning::default() };
        sqlite::look_at_agents(options, tuning)
    }

    /// Returns the words that hold about agents' folders of a store that is there, as
    /// [`Store::look_at_orders`] its orders.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn look_at_folders(options: OpenOptions) -> Result<Vec<FolderTrustRow>, OpenError> {
        let tuning = Tuning { busy_timeout: LOOK_WAIT, ..Tuning::default() };
        sqlite::look_at_folders(options, tuning)
    }

    /// Returns the installation's id, made with the database.
    #[must_use]
    pub fn installation_id(&self) -> &str {
        self.sqlite.installation_id()
    }

    /// Waits for the writes that were asked for, then closes the database. Other handles of this
    /// process get [`StoreError::Closed`] from then on.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process kept the lock; the connection then ends with the
    /// process.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.sqlite.close().await
    }

    /// Returns how the store does now.
    #[must_use]
    pub fn health(&self) -> Health {
        self.sqlite.health()
    }

    /// Returns the count of this handle's syncs, for measurements: a sync is what a write costs.
    #[must_use]
    pub fn syncs(&self) -> Syncs {
        self.sqlite.syncs()
    }

    /// Tries a small write: for an owner that wants to know whether a degraded store is well
    /// again.
    ///
    /// # Errors
    /// That of the write.
    pub async fn probe(&self) -> Result<(), StoreError> {
        self.sqlite.write(&op::PROBE, sqlite::agents::probe).await
    }
}
