//! The machine's clock, which a test can move forward.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use gangline_os::clock::{self, Clock, UnixMicros};

/// See the file.
#[derive(Default)]
pub(crate) struct ManualClock(AtomicU64);

impl ManualClock {
    pub(crate) fn forward(&self, by: Duration) {
        self.0.fetch_add(by.as_secs() * 1000 + u64::from(by.subsec_millis()), Ordering::SeqCst);
    }

    fn ahead(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> UnixMicros {
        clock::system().now().plus(self.ahead())
    }

    fn monotonic(&self) -> Duration {
        clock::system().monotonic() + self.ahead()
    }
}
