//! The machine's clock, which a test can put forward.

use std::time::Duration;

use gangline_os::clock::{self, Clock, Sleep, UnixMicros};
use tokio::sync::watch;

/// See the file. Whoever sleeps until a time that has come wakes up.
pub(crate) struct HandClock {
    ahead: watch::Sender<Duration>,
    /// By how much somebody has set the wall clock back.
    back: watch::Sender<Duration>,
}

impl Default for HandClock {
    fn default() -> Self {
        Self { ahead: watch::Sender::new(Duration::ZERO), back: watch::Sender::new(Duration::ZERO) }
    }
}

impl HandClock {
    pub(crate) fn forward(&self, by: Duration) {
        self.ahead.send_modify(|ahead| *ahead += by);
    }

    /// Sets the wall clock back; no time passes.
    pub(crate) fn set_back(&self, by: Duration) {
        self.back.send_modify(|back| *back += by);
    }
}

impl Clock for HandClock {
    fn now(&self) -> UnixMicros {
        let now = clock::system().now().plus(*self.ahead.borrow());
        let back = i64::try_from(self.back.borrow().as_micros()).unwrap_or(i64::MAX);
        UnixMicros(now.0.saturating_sub(back))
    }

    fn monotonic(&self) -> Duration {
        clock::system().monotonic() + *self.ahead.borrow()
    }

    fn sleep_until(&self, until: Duration) -> Sleep {
        let mut ahead = self.ahead.subscribe();
        Box::pin(async move {
            loop {
                let machine = clock::system();
                let left = until.saturating_sub(machine.monotonic() + *ahead.borrow_and_update());
                if left.is_zero() {
                    return;
                }
                tokio::select! {
                    () = clock::sleep(&machine, left) => return,
                    Ok(()) = ahead.changed() => {}
                }
            }
        })
    }
}
