//! Heartbeats: what the program writes while it waits for something, and what that proves.
//!
//! A heartbeat of a call that runs keeps the turn until that call's own limit: tools may take long.
//! One of a hook proves only that the program lives: a hook that hangs must not keep a turn open.

use super::{Turns, state::Out};
use crate::claude::decode::Beat;

impl Turns {
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
