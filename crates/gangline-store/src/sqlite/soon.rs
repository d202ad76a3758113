//! Waits for what comes next in a queue, but not for long.

use std::{
    sync::Arc,
    task::{Context, Poll, Wake},
    thread::{self, Thread},
    time::Duration,
};

use gangline_os::clock::SharedClock;
use tokio::sync::mpsc;

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Returns what comes within that time; `None` if nothing does, or the queue has ended. Blocks the
/// thread.
pub(super) fn within<T>(
    wait: Duration,
    clock: &SharedClock,
    queue: &mut mpsc::Receiver<T>,
) -> Option<T> {
    let until = clock.monotonic() + wait;
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(next) = queue.poll_recv(&mut context) {
            return next;
        }
        let left = until.saturating_sub(clock.monotonic());
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}
