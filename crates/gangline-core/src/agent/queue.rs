//! What waits: which messages are queued, which join the open turn, and which are passed over.

use std::collections::VecDeque;

use super::{Agent, Draining, Effect, Needs, Phase, Queued, WhenBusy};
use crate::{id::MessageId, time::Now};

impl Agent {
    /// Says whether messages are passed over because as many as may wait do.
    /// [`Effect::Rescan`] asks for them again.
    #[must_use]
    pub fn passes_over(&self) -> bool {
        self.overflow
    }

    /// Says whether the open turn has read this message and was not told of it yet.
    #[must_use]
    pub fn looks_out_for(&self, message: MessageId) -> bool {
        match &self.phase {
            Phase::Turn(turn) => {
                turn.may_join() && turn.looks_out_for(message) && !turn.holds(message)
            }
            Phase::Down | Phase::Starting { .. } | Phase::Idle { .. } | Phase::Parked => false,
        }
    }

    /// Returns until when what waits may still be read, if all that waits was buffered.
    pub(super) fn buffer_deadline(&self) -> Option<Now> {
        let mut wakes = self.queue.iter().filter(|queued| queued.needs != Needs::OtherMessage);
        let all = wakes.all(|queued| self.buffered.contains(&queued.id));
        self.buffered_until.filter(|_| all)
    }

    pub(super) fn enqueue(&mut self, message: Queued, out: &mut Vec<Effect>) {
        let in_turn = matches!(&self.phase, Phase::Turn(turn) if turn.holds(message.id));
        let known = in_turn || self.queue.iter().any(|queued| queued.id == message.id);
        // Parked and draining agents hold nothing: the store does.
        let parked = matches!(self.phase, Phase::Parked);
        if known || parked || self.draining != Draining::No {
            return;
        }
        if let Phase::Turn(turn) = &mut self.phase
            && turn.may_join()
            && turn.looks_out_for(message.id)
        {
            out.push(Effect::Join { turn: turn.id, messages: vec![message.id] });
            turn.join_read([message].into());
            return;
        }
        // Once one was passed over, so are those after it: order is kept.
        let (in_line, own_turn) = (self.in_line(), message.needs == Needs::Turn);
        if own_turn && (self.overflow || in_line >= self.options.queue_max) {
            self.overflow = true;
            return;
        }
        let steers = own_turn && in_line == 0 && self.may_feed();
        match (&mut self.phase, self.options.when_busy) {
            (Phase::Turn(turn), WhenBusy::Steer) if steers && turn.may_be_steered() => {
                out.push(Effect::Steer { turn: turn.id, messages: vec![message.id] });
                turn.join_steered(message);
                return;
            }
            (Phase::Turn(_), WhenBusy::Buffer) => {
                self.buffered.insert(message.id);
            }
            (_, WhenBusy::Queue | WhenBusy::Buffer | WhenBusy::Steer) => {}
        }
        let place = self.queue.partition_point(|queued| queued.id < message.id);
        self.queue.insert(place, message);
    }

    pub(super) fn read(&mut self, ids: &[MessageId], out: &mut Vec<Effect>) {
        let Phase::Turn(turn) = &mut self.phase else { return };
        if !turn.may_join() {
            return;
        }
        let (read, rest): (VecDeque<_>, VecDeque<_>) =
            self.queue.drain(..).partition(|queued| ids.contains(&queued.id));
        self.queue = rest;
        // What was read before it was told of here joins when it is.
        let unknown = |id: &&MessageId| !read.iter().any(|queued| queued.id == **id);
        turn.look_out_for(ids.iter().filter(unknown));
        // It has to be told before the turn ends: else it would have a turn of its own too.
        if ids.iter().filter(unknown).any(|id| !turn.holds(*id)) {
            out.push(Effect::Rescan);
        }
        if !read.is_empty() {
            let messages = read.iter().map(|queued| queued.id).collect();
            turn.join_read(read);
            out.push(Effect::Join { turn: turn.id, messages });
        }
    }
}
