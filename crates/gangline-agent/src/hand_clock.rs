//! The machine's clock, which a test can put forward.

use std::time::Duration;

use gangline_os::clock::{self, Clock, Sleep, UnixMicros};
use tokio::sync::watch;

/// See the file. Whoever sleeps until a time that has come wakes up.
pub(crate) struct HandClock(watch::Sender<Duration>);

impl Default for HandClock {
    fn default() -> Self {
        Self(watch::Sender::new(Duration::ZERO))
    }
}

impl HandClock {
    pub(crate) fn forward(&self, by: Duration) {
        self.0.send_modify(|ahead| *ahead += by);
    }
}

impl Clock for HandClock {
    fn now(&self) -> UnixMicros {
        clock::system().now().plus(*self.0.borrow())
    }

    fn monotonic(&self) -> Duration {
        clock::system().monotonic() + *self.0.borrow()
    }

    fn sleep_until(&self, until: Duration) -> Sleep {
        let mut ahead = self.0.subscribe();
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
