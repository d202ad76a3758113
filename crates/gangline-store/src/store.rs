//! The handle: every way into the store. Cheap to clone; knows no engine's types.

mod agents;
mod approvals;
mod causes;
mod letters;
mod messages;
mod orders;
mod outbox;
mod questions;
mod reminders;
mod rules;
mod together;
mod turns;

pub use together::Entry;

use std::{path::PathBuf, time::Duration};

use gangline_os::clock::SharedClock;

use crate::{
    error::{OpenError, StoreError},
    op,
    sqlite::{self, Sqlite},
    types::{AgentRow, Health, Order, Syncs},
};

/// What a store needs to be opened.
#[derive(Clone)]
pub struct OpenOptions {
    /// The database's file; its neighbours (`-wal`, `-shm`, `.wlock`, `.use`, `.ckpt`) stand
    /// beside it.
    pub path: PathBuf,
    /// Wall-clock times of rows are taken from it.
    pub clock: SharedClock,
}

/// Limits that only tests have a reason to change.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// How long a write waits for its turn before it is [`StoreError::Busy`].
    pub lock_wait: Duration,
    /// How long SQLite waits for somebody who does not use our lock.
    pub busy_timeout: Duration,
    /// A checkpoint is tried when so many bytes of the log wait for one.
    pub checkpoint_bytes: u64,
    /// How long a commit that is told before its sync ([`Store::accept_and_notify`]) waits for the next
    /// one, to be synced with it. Its caller hears nothing meanwhile.
    pub followed_within: Duration,
}

/// How long a look waits for somebody who does not use our lock.
const LOOK_WAIT: Duration = Duration::from_secs(1);

impl Default for Tuning {
    fn default() -> Self {
        Self {
            lock_wait: Duration::from_secs(60),
            busy_timeout: Duration::from_secs(5),
            checkpoint_bytes: 4 << 20,
            followed_within: Duration::from_millis(2),
        }
    }
}

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
