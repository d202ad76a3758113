//! The calls of tools that run, and for how long what shows only that they do keeps a turn open.
//!
//! Heartbeats, pieces of output and the like prove that a program lives, and not that it gets
//! anywhere. Those of a call count until its limit: tools may take long. Pure.

use std::{collections::HashMap, time::Duration};

/// How long the signs of life of one call count: as long as a call may be silent.
pub(crate) const CALL_LIMIT: Duration = Duration::from_secs(30 * 60);
/// Calls that are remembered at once; a model asks for a few.
const RUNNING_MAX: usize = 1024;

/// The calls that run, and since when.
#[derive(Debug, Default)]
pub(crate) struct Running(HashMap<String, Duration>);

impl Running {
    /// A call begins. One that runs already goes on.
    pub(crate) fn begin(&mut self, call: &str, now: Duration) {
        if self.0.len() < RUNNING_MAX {
            self.0.entry(call.to_owned()).or_insert(now);
        }
    }

    pub(crate) fn end(&mut self, call: &str) {
        self.0.remove(call);
    }

    /// No call runs any more.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Somebody has decided about a call: the wait for that was no time of any call.
    pub(crate) fn decided(&mut self, now: Duration) {
        self.0.values_mut().for_each(|since| *since = now);
    }

    /// Says whether a sign of life of this call counts.
    pub(crate) fn beats(&self, call: &str, now: Duration) -> bool {
        self.0.get(call).is_some_and(|since| within(*since, now))
    }

    /// Says whether the sign of life of some call would count.
    pub(crate) fn any_beats(&self, now: Duration) -> bool {
        self.0.values().any(|since| within(*since, now))
    }
}

fn within(since: Duration, now: Duration) -> bool {
    now.saturating_sub(since) < CALL_LIMIT
}

#[cfg(test)]
mod tests;
