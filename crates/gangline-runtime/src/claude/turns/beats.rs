//! Heartbeats: what the program writes while it waits for something, and what that proves.
//!
//! A heartbeat of a call that runs keeps the turn until that call's own limit: tools may take long.
//! One of a hook proves only that the program lives: a hook that hangs must not keep a turn open.

use super::{Action, Turns, state::Out};
use crate::{claude::decode::Beat, program::protocol::Now};

impl Turns {
    /// The program lives. It may be a call that runs, such as a subagent, which shows that.
    pub(super) fn lives(&mut self, now: Now) -> Vec<Action> {
        if self.running.any_beats(self.now) {
            self.alive(now);
        }
        self.done()
    }

    /// Says whether it is a sign that the turn goes on.
    pub(super) fn beats(&mut self, beat: &Beat) -> bool {
        if let Some(hook) = &beat.hook {
            let on = format!("the hook {hook}");
            self.give(Out::Waits(on));
            return false;
        }
        [&beat.call, &beat.parent].into_iter().any(|call| self.running.beats(call, self.now))
    }
}
