//! The root's tasks: waiting for the end of one by its name, within a budget.

use std::{collections::HashSet, time::Duration};

use gangline_os::{
    clock::{self, SharedClock},
    task::{TaskEnd, TaskGroup},
};
use tracing::warn;

/// The daemon's tasks, and those of them whose end was seen.
pub(super) struct Tasks {
    group: TaskGroup,
    ended: HashSet<String>,
    clock: SharedClock,
}

impl Tasks {
    pub(super) fn new(group: TaskGroup, clock: SharedClock) -> Self {
        Self { group, ended: HashSet::new(), clock }
    }

    pub(super) fn spawn(
        &mut self,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        self.group.spawn(name, task);
    }

    /// Notes that there is no task of this name whose end could be waited for.
    pub(super) fn has_none(&mut self, name: &'static str) {
        self.ended.insert(name.to_owned());
    }

    /// Waits for the next task to end; `None` when there is none left. Cancel-safe: yes.
    pub(super) async fn next_end(&mut self) -> Option<TaskEnd> {
        let end = self.group.next_end().await?;
        self.ended.insert(end.name.clone());
        Some(end)
    }

    /// Waits for the end of a task, and no longer than its budget.
    pub(super) async fn wait_for(&mut self, name: &'static str, budget: Duration) {
        let clock = SharedClock::clone(&self.clock);
        let ended = async {
            while !self.ended.contains(name) {
                if self.next_end().await.is_none() {
                    return;
                }
            }
        };
        if clock::within(&clock, budget, ended).await.is_none() {
            warn!(name, "a task did not end in time");
        }
    }

    /// Waits for all of them, aborts those that are left after `grace`, and logs how they ended.
    pub(super) async fn stop(self, grace: Duration) {
        for end in self.group.stop(grace).await {
            tracing::debug!(name = end.name, how = ?end.how, "task ended");
        }
    }
}
