//! The lines that wait for one writer. The server's task puts them in one by one; the writer takes all
//! of them at once. A line costs a lock that is hardly ever taken, and an empty queue no memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

/// Lines that may wait; the bound in bytes is `Limits::send_queue`.
const LINES_MAX: usize = 16 * 1024;

#[derive(Default)]
pub(super) struct Outbox {
    inner: Mutex<Inner>,
    more: Notify,
}

#[derive(Default)]
struct Inner {
    lines: Vec<Bytes>,
    closed: bool,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line; returns whether there was room.
    pub(super) fn push(&self, line: Bytes) -> bool {
        let first = {
            let mut inner = self.lock();
            if inner.lines.len() >= LINES_MAX {
                return false;
            }
            inner.lines.push(line);
            inner.lines.len() == 1
        };
        // The writer of a queue that holds something is awake already.
        if first {
            self.more.notify_one();
        }
        true
    }

    /// Nothing more is put in.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.more.notify_one();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().lines.is_empty()
    }

    /// Waits for lines and moves all into `taken`, which is empty; returns whether there were any:
    /// none are left once it is closed.
    ///
    /// Cancel-safe: yes; what was not taken stays.
    pub(super) async fn take(&self, taken: &mut Vec<Bytes>) -> bool {
        loop {
            {
                let mut inner = self.lock();
                if !inner.lines.is_empty() {
                    std::mem::swap(&mut inner.lines, taken);
                    return true;
                }
                if inner.closed {
                    return false;
                }
            }
            self.more.notified().await;
        }
    }
}
