//! The last events, for clients that come back with the id of the last one they saw. Pure.
//!
//! An id is `LIFE-NUMBER`: numbers begin anew with each start of the program, and the life tells one
//! start from another.

use std::collections::VecDeque;

use axum::body::Bytes;

#[cfg(test)]
mod tests;

/// So many events are kept.
pub(super) const EVENTS_MAX: usize = 1000;
/// And so many bytes of them.
pub(super) const BYTES_MAX: usize = 4 * 1024 * 1024;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    /// Its number in this life, from 1.
    number: u64,
    /// Its frame.
    pub(super) frame: Bytes,
}

/// The last events of one life.
#[derive(Debug)]
pub(super) struct Kept {
    life: String,
    events: VecDeque<Event>,
    bytes: usize,
    last: u64,
}

/// What a client has missed.
#[derive(Debug, PartialEq)]
pub(super) struct Missed {
    /// How many events at least are no longer stored.
    pub(super) lost: u64,
    /// The events behind them.
    pub(super) events: Vec<Event>,
}

impl Kept {
    /// `life` is a word without a hyphen that no other start has.
    pub(super) fn new(life: String) -> Self {
        Self { life, events: VecDeque::new(), bytes: 0, last: 0 }
    }

    /// Keeps a frame; returns its event.
    pub(super) fn push(&mut self, frame: Bytes) -> Event {
        self.last += 1;
        self.bytes += frame.len();
        let event = Event { number: self.last, frame };
        self.events.push_back(event.clone());
        while self.events.len() > EVENTS_MAX || self.bytes > BYTES_MAX {
            let Some(dropped) = self.events.pop_front() else { break };
            self.bytes -= dropped.frame.len();
        }
        event
    }

    /// Returns what came after the event of this id. Of another life, and of no id at all, it can
    /// only be said that something is missing.
    pub(super) fn after(&self, id: &str) -> Missed {
        let seen = id.split_once('-').filter(|(life, _)| *life == self.life);
        let seen =
            seen.and_then(|(_, number)| number.parse().ok()).filter(|seen| *seen <= self.last);
        let dropped = self.last - self.events.len() as u64;
        let lost = match seen {
            Some(seen) => dropped.saturating_sub(seen),
            None => dropped.max(1),
        };
        let new = |event: &&Event| seen.is_none_or(|seen| event.number > seen);
        Missed { lost, events: self.events.iter().filter(new).cloned().collect() }
    }

    /// Returns an event's frame with its id before it.
    pub(super) fn with_id(&self, event: &Event) -> Bytes {
        let mut frame = format!("id: {}-{}\n", self.life, event.number).into_bytes();
        frame.extend_from_slice(&event.frame);
        frame.into()
    }
}
