//! Task groups: every task and thread has an owner and a name, and its end is reported.
//!
//! [`TaskGroup`] is the only place that spawns a task, [`thread`] the only one that spawns a
//! thread.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

#[cfg(test)]
mod tests;

/// How long [`TaskGroup::stop`] waits for aborted tasks to be gone.
const ABORT_WAIT: Duration = Duration::from_secs(1);

/// How a task came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HowEnded {
    /// It returned.
    Finished,
    /// It was aborted before it returned.
    Cancelled,
    /// It panicked, with this message.
    Panicked(String),
}

/// The end of one task of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskEnd {
    /// The name given at its spawn.
    pub name: String,
    /// How it ended.
    pub how: HowEnded,
}

/// The owner of tasks. Dropping it aborts all of them.
pub struct TaskGroup {
    name: &'static str,
    tasks: JoinSet<()>,
    names: HashMap<Id, String>,
}

impl TaskGroup {
    /// Makes an empty group; the name appears in logs.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { name, tasks: JoinSet::new(), names: HashMap::new() }
    }

    /// Starts a task. Must be called within a tokio runtime.
    pub fn spawn(
        &mut self,
        name: impl Into<String>,
        future: impl Future<Output = ()> + Send + 'static,
    ) {
        let handle = self.tasks.spawn(future);
        self.remember(name.into(), &handle);
    }

    /// Starts blocking work on a thread of the runtime's pool. Once running it cannot be aborted.
    pub fn spawn_blocking(
        &mut self,
        name: impl Into<String>,
        work: impl FnOnce() + Send + 'static,
    ) {
        let handle = self.tasks.spawn_blocking(work);
        self.remember(name.into(), &handle);
    }

    fn remember(&mut self, name: String, handle: &AbortHandle) {
        tracing::trace!(group = self.name, task = %name, "task started");
        self.names.insert(handle.id(), name);
    }

    /// Waits for the next task to end; `None` when the group is empty.
    ///
    /// Cancel-safe: yes; an end that was not returned is returned by the next call.
    pub async fn next_end(&mut self) -> Option<TaskEnd> {
        let joined = self.tasks.join_next_with_id().await?;
        Some(self.ended(joined))
    }

    fn ended(&mut self, joined: Result<(Id, ()), JoinError>) -> TaskEnd {
        let (id, how) = match joined {
            Ok((id, ())) => (id, HowEnded::Finished),
            Err(error) => (error.id(), how_failed(error)),
        };
        let name = self.names.remove(&id).unwrap_or_else(|| id.to_string());
        tracing::trace!(group = self.name, task = %name, ?how, "task ended");
        TaskEnd { name, how }
    }

    /// Waits until all tasks have ended, at most `grace`; then aborts those left and names them as
    /// [`HowEnded::Cancelled`]. Tell the tasks to stop before calling this.
    ///
    /// Blocking work that runs on is named as cancelled too, though its thread goes on.
    /// Cancel-safe: dropping the future aborts all tasks.
    pub async fn stop(mut self, grace: Duration) -> Vec<TaskEnd> {
        let mut ends = Vec::new();
        let _ = tokio::time::timeout(grace, self.collect(&mut ends)).await;
        self.tasks.abort_all();
        let _ = tokio::time::timeout(ABORT_WAIT, self.collect(&mut ends)).await;
        let left = std::mem::take(&mut self.names).into_values();
        ends.extend(left.map(|name| TaskEnd { name, how: HowEnded::Cancelled }));
        ends
    }

    async fn collect(&mut self, ends: &mut Vec<TaskEnd>) {
        while let Some(end) = self.next_end().await {
            ends.push(end);
        }
    }

    /// Returns the number of tasks whose end was not yet reported.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Says whether no task is left to report.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

impl fmt::Debug for TaskGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.names.values().collect();
        f.debug_struct("TaskGroup").field("name", &self.name).field("tasks", &names).finish()
    }
}

fn how_failed(error: JoinError) -> HowEnded {
    match error.try_into_panic() {
        Ok(payload) => HowEnded::Panicked(panic_text(payload.as_ref())),
        Err(_) => HowEnded::Cancelled,
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without text".to_owned())
}

/// Starts an OS thread with a name (seen in `ps -T`, cut to 15 bytes there).
///
/// # Errors
/// When the system has no room for another thread, or the name holds a NUL.
pub fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work)
}
