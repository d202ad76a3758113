//! Messages that need no turn of their own: they are taken with the next one (R2-14).

use super::{Agent, Needs, Queued};

impl Agent {
    /// Returns whether something waits that may start a turn.
    pub(super) fn something_wakes(&self) -> bool {
        self.queue.iter().any(|queued| queued.needs != Needs::OtherMessage)
    }

    /// Returns how many messages wait that need turns of their own.
    pub(super) fn in_line(&self) -> usize {
        self.queue.iter().filter(|queued| queued.needs == Needs::Turn).count()
    }

    /// Takes the messages of the next turn out of the queue: those that it is about, then those that
    /// come with them.
    pub(super) fn next_messages(&mut self) -> Vec<Queued> {
        let (mut taken, attached): (Vec<Queued>, Vec<Queued>) =
            self.queue.drain(..).partition(|queued| queued.needs == Needs::Turn);
        let count = self.options.messages_per_turn.max(1).min(taken.len());
        self.queue = taken.split_off(count).into();
        taken.extend(attached);
        taken
    }
}
