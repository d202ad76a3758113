//! The beat in which people are asked whether they have read, and in which that is stored: within a
//! second of the last line of a conversation.
//!
//! Nobody says that they have read a line; a client that answers a PING behind it has it. The beat
//! rests while nobody has anything unread. Start at [`State::look_at_readers`].

use std::time::Duration;

use super::{client_id::ClientId, outgoing::Outgoing, state::State};

/// Looks at who has read, in the time in which marks are to be stored.
const LOOKS: u32 = 3;
/// The part of that time that new marks wait for others.
const KEEPS: u32 = 10;

impl State {
    /// A line was shown to somebody who is followed.
    pub(super) fn somebody_reads(&mut self) {
        if self.beat.look.is_none() {
            let every = self.config.limits.read_within / LOOKS;
            self.beat.look = Some(self.config.clock.monotonic() + every);
        }
    }

    /// Something is to be stored soon.
    pub(super) fn keep_soon(&mut self) {
        if self.beat.keep.is_none() {
            let wait = self.config.limits.read_within / KEEPS;
            self.beat.keep = Some(self.config.clock.monotonic() + wait);
        }
    }

    /// Returns how long it is until the next beat.
    pub(super) fn beat_in(&self) -> Option<Duration> {
        let due = self.beat.look.into_iter().chain(self.beat.keep).min()?;
        Some(due.saturating_sub(self.config.clock.monotonic()))
    }

    /// Does what is due.
    pub(super) fn beat(&mut self) {
        let now = self.config.clock.monotonic();
        if self.beat.keep.is_some_and(|at| at <= now) {
            self.beat.keep = None;
            self.keep_marks();
        }
        if self.beat.look.is_some_and(|at| at <= now) {
            self.beat.look = None;
            self.look_at_readers();
        }
    }

    /// Asks those who may have read by now, and looks again while somebody may not.
    fn look_at_readers(&mut self) {
        let waiting = self.readers();
        if !waiting.is_empty() {
            self.somebody_reads();
        }
        let asked = waiting.into_iter().filter(|id| {
            let client = self.clients.get_mut(*id);
            client.is_some_and(|it| it.pinged_at.is_none() && it.reading.is_to_be_asked())
        });
        let asked: Vec<ClientId> = asked.collect();
        self.ping(asked);
    }

    /// Returns those who were shown something that they may not have read.
    pub(super) fn readers(&self) -> Vec<ClientId> {
        let waits = self.clients.values().filter(|client| client.reading.waits());
        waits.map(|client| client.id).collect()
    }

    /// Sends a PING, and notes when.
    pub(super) fn ping(&mut self, ids: Vec<ClientId>) {
        let now = self.config.clock.monotonic();
        let line = Outgoing::new("-", "PING", &[], Some(&self.config.name)).unsourced();
        for id in &ids {
            if let Some(client) = self.client_mut(*id) {
                client.pinged_at = Some(now);
            }
        }
        self.send_all(ids, &line);
    }
}
