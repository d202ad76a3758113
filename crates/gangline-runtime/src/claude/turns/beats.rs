//! Heartbeats: what the program writes while it waits for something, and what that proves.
//!
//! A heartbeat of a call that runs keeps the turn until that call's own limit: tools may take long.
//! One of a hook proves only that the program lives: a hook that hangs must not keep a turn open.

use std::time::Duration;

use super::{Turns, state::Out};
use crate::claude::decode::Beat;

/// How long the heartbeats of one call count: as long as a call may be silent.
const CALL_LIMIT: Duration = Duration::from_secs(30 * 60);
/// Calls that are remembered at once; a model asks for a few.
const RUNNING_MAX: usize = 1024;

impl Turns {
    /// Says whether it is a sign that the turn goes on.
    pub(super) fn beats(&mut self, beat: &Beat) -> bool {
        if let Some(hook) = &beat.hook {
            let on = format!("the hook {hook}");
            self.give(Out::Waits(on));
            return false;
        }
        let call = self.running.get(&beat.call).or_else(|| self.running.get(&beat.parent));
        call.is_some_and(|since| self.now.saturating_sub(*since) < CALL_LIMIT)
    }

    pub(super) fn call_begins(&mut self, id: &str) {
        if self.running.len() < RUNNING_MAX {
            self.running.entry(id.to_owned()).or_insert(self.now);
        }
    }

    pub(super) fn call_ends(&mut self, id: &str) {
        self.running.remove(id);
    }
}
