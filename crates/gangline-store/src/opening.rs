//! How a store is opened, and its limits.

use std::{path::PathBuf, time::Duration};

use gangline_os::clock::SharedClock;

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
    /// How long a write waits for its turn before it is [`StoreError::Busy`](crate::StoreError::Busy).
    pub lock_wait: Duration,
    /// How long SQLite waits for somebody who does not use our lock.
    pub busy_timeout: Duration,
    /// A checkpoint is tried when so many bytes of the log wait for one.
    pub checkpoint_bytes: u64,
    /// How long a commit that is told before its sync ([`crate::Store::accept_and_notify`]) waits for the next
    /// one, to be synced with it. Its caller hears nothing meanwhile.
    pub followed_within: Duration,
}

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
