//! A task group for tasks that others start; it runs as one task of the root's group.

use std::{fmt, future::Future, pin::Pin};

use gangline_os::{
    CancellationToken,
    task::{HowEnded, TaskGroup},
};
use tokio::sync::mpsc;

#[cfg(test)]
mod tests;

/// Why a nursery takes no more tasks. All that it had have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NurseryEnd {
    /// It was told to take none.
    Halted,
    /// Nobody is left who could start one.
    Deserted,
}

/// Starts tasks in a [`Nursery`] from elsewhere. Its tasks outlive it.
#[derive(Clone, Debug)]
pub(crate) struct Spawner {
    births: mpsc::Sender<Birth>,
}

/// The owner of tasks that others start: it lives, as a task of a group, until nobody may start one
/// any more and all its tasks are gone.
pub(crate) struct Nursery {
    births: mpsc::Receiver<Birth>,
    tasks: TaskGroup,
}

struct Birth {
    name: &'static str,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl fmt::Debug for Birth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Birth").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Spawner {
    /// Starts a task in the nursery.
    ///
    /// # Errors
    /// [`NoRoom`] when the nursery is gone, or has not yet started as many tasks as it has room for.
    pub(crate) fn spawn(
        &self,
        name: &'static str,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), NoRoom> {
        let birth = Birth { name, future: Box::pin(future) };
        self.births.try_send(birth).map_err(|_| NoRoom { name })
    }
}

/// A task that could not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task {name} cannot be started")]
pub(crate) struct NoRoom {
    name: &'static str,
}

impl Nursery {
    /// Makes a nursery with room for this many tasks that are not started yet.
    #[must_use]
    pub(crate) fn new(name: &'static str, room: usize) -> (Spawner, Self) {
        let (sender, births) = mpsc::channel(room);
        (Spawner { births: sender }, Self { births, tasks: TaskGroup::new(name) })
    }

    /// Runs until every spawner is gone, or `halt` is set, and every task has ended. Dropping the
    /// future aborts all tasks.
    pub(crate) async fn run(mut self, halt: CancellationToken) -> NurseryEnd {
        let mut why = None;
        loop {
            let open = why.is_none();
            if let (Some(why), true) = (why, self.tasks.is_empty()) {
                return why;
            }
            tokio::select! {
                birth = self.births.recv(), if open => match birth {
                    Some(birth) => self.tasks.spawn(birth.name, birth.future),
                    None => why = Some(NurseryEnd::Deserted),
                },
                () = halt.cancelled(), if open => why = Some(NurseryEnd::Halted),
                Some(end) = self.tasks.next_end(), if !self.tasks.is_empty() => {
                    if let HowEnded::Panicked(why) = &end.how {
                        tracing::error!(task = %end.name, why, "a task panicked");
                    }
                }
            }
        }
    }
}
