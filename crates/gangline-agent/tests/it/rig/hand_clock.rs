//! The machine's clock, which a test can put forward and at which it can hold up whoever asks.

use std::{
    future::pending,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use gangline_os::clock::{Clock, SharedClock, Sleep, UnixMicros, system};
use gangline_testkit::eventually;
use tokio::sync::watch;

/// What a daemon that has missed a notice waits for, or less: root's tick is half a minute.
const TICK: Duration = Duration::from_secs(29);

/// Ticks come only when a test puts the clock forward: a test that relies on one without asking for it fails,
/// instead of being slow.
pub(crate) struct HandClock {
    machine: SharedClock,
    ahead: watch::Sender<Duration>,
    /// Whether tasks that ask for the time are held up. The root is no task of its own, so it is
    /// not held up.
    stuck: Mutex<bool>,
    freed: Condvar,
    /// How many tasks are held up.
    caught: watch::Sender<usize>,
    /// The moments that are waited for.
    awaited: Arc<Mutex<Vec<Duration>>>,
}

/// One moment that is waited for, until this is dropped.
struct Awaited {
    until: Duration,
    all: Arc<Mutex<Vec<Duration>>>,
}

impl Drop for Awaited {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap();
        if let Some(at) = all.iter().position(|it| *it == self.until) {
            all.swap_remove(at);
        }
    }
}

impl HandClock {
    pub(crate) fn new() -> Self {
        Self {
            machine: system(),
            ahead: watch::Sender::new(Duration::ZERO),
            stuck: Mutex::new(false),
            freed: Condvar::new(),
            caught: watch::Sender::new(0),
            awaited: Arc::default(),
        }
    }

    /// Puts the clock forward; whoever sleeps until a time that has come wakes up.
    pub(crate) fn forward(&self, by: Duration) {
        self.ahead.send_modify(|ahead| *ahead += by);
    }

    /// Waits until somebody waits who has waited for less than half of this.
    pub(crate) fn is_waited_for(&self, limit: Duration) {
        eventually(&format!("somebody who waits for {limit:?}"), || {
            let now = self.machine.monotonic() + *self.ahead.borrow();
            let all = self.awaited.lock().unwrap();
            let mut left = all.iter().map(|until| until.saturating_sub(now));
            left.any(|left| left <= limit && left > limit / 2).then_some(())
        });
    }

    /// From now on every task that asks how much time has passed is blocked, with the thread that
    /// it runs on.
    pub(crate) fn block_tasks(&self) {
        *self.stuck.lock().unwrap() = true;
    }

    /// Lets all go on.
    pub(crate) fn free_tasks(&self) {
        *self.stuck.lock().unwrap() = false;
        self.freed.notify_all();
    }

    /// Waits until a task is blocked.
    pub(crate) fn has_blocked(&self) {
        eventually("a blocked task", || (*self.caught.borrow() > 0).then_some(()));
    }

    fn pass(&self) {
        if tokio::task::try_id().is_none() {
            return;
        }
        let mut stuck = self.stuck.lock().unwrap();
        while *stuck {
            self.caught.send_modify(|count| *count += 1);
            stuck = self.freed.wait(stuck).unwrap();
            self.caught.send_modify(|count| *count -= 1);
        }
    }
}

impl Clock for HandClock {
    fn now(&self) -> UnixMicros {
        self.machine.now().plus(*self.ahead.borrow())
    }

    fn monotonic(&self) -> Duration {
        self.pass();
        self.machine.monotonic() + *self.ahead.borrow()
    }

    fn sleep_until(&self, until: Duration) -> Sleep {
        let (machine, mut ahead) = (self.machine.clone(), self.ahead.subscribe());
        let all = Arc::clone(&self.awaited);
        all.lock().unwrap().push(until);
        let awaited = Awaited { until, all };
        let is_tick = {
            let wait = until.saturating_sub(machine.monotonic() + *ahead.borrow());
            wait > TICK && wait <= TICK * 2
        };
        Box::pin(async move {
            let _awaited = awaited;
            loop {
                let now = machine.monotonic() + *ahead.borrow_and_update();
                let left = until.saturating_sub(now);
                if left.is_zero() {
                    return;
                }
                let by_itself = async {
                    match is_tick {
                        true => pending().await,
                        false => machine.sleep_until(machine.monotonic() + left).await,
                    }
                };
                tokio::select! {
                    () = by_itself => return,
                    changed = ahead.changed() => if changed.is_err() {
                        // The clock is gone, and its test with it.
                        return machine.sleep_until(machine.monotonic() + left).await;
                    },
                }
            }
        })
    }
}
