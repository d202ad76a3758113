//! Which whispers wait, which are on their way, and which were delivered: so that no two roads
//! deliver the same one. Pure.
//!
//! A road takes all that wait ([`Pool::take`]) and says later whether they arrived
//! ([`Pool::arrived`]) or not ([`Pool::back`]). What the store returns meanwhile is compared with
//! both ([`Pool::learn`]).

use std::collections::{BTreeMap, BTreeSet};

use crate::{TurnId, redact::Redacted};

use super::{WhisperKind, WhisperSource};

#[cfg(test)]
mod tests;

/// One whisper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whisper {
    /// The number of its row; a later whisper has a higher one.
    pub id: i64,
    /// What it asks.
    pub kind: WhisperKind,
    /// Who whispers.
    pub source: WhisperSource,
    /// The text, as [`super::clean`] leaves it.
    pub text: Redacted,
    /// The turn that it is about.
    pub turn: Option<TurnId>,
}

/// Whispers that are delivered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Batch(u64);

/// The state; see the module.
#[derive(Debug, Default)]
pub struct Pool {
    waiting: BTreeMap<i64, Whisper>,
    in_transit: BTreeMap<Batch, Vec<Whisper>>,
    /// Delivered, and perhaps not yet so in what a look returns.
    arrived: BTreeSet<i64>,
    batches: u64,
}

impl Pool {
    /// Takes what the store says is not delivered; what it does not name any more was dropped there.
    pub fn learn(&mut self, undelivered: Vec<Whisper>) {
        let known: BTreeSet<i64> = undelivered.iter().map(|whisper| whisper.id).collect();
        // Once the store knows of a delivery, it is remembered there.
        self.arrived.retain(|id| known.contains(id));
        self.waiting.retain(|id, _| known.contains(id));
        for whisper in undelivered {
            let id = whisper.id;
            let in_transit = self.in_transit.values().flatten().any(|it| it.id == id);
            if !in_transit && !self.arrived.contains(&id) {
                self.waiting.insert(id, whisper);
            }
        }
    }

    /// Returns how many wait and are not in transit.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes all that wait for one road, oldest first; `None` if nothing waits.
    pub fn take(&mut self) -> Option<(Batch, Vec<Whisper>)> {
        if self.waiting.is_empty() {
            return None;
        }
        self.batches += 1;
        let batch = Batch(self.batches);
        let whispers: Vec<Whisper> = std::mem::take(&mut self.waiting).into_values().collect();
        self.in_transit.insert(batch, whispers.clone());
        Some((batch, whispers))
    }

    /// Notes that a batch has arrived. Returns its whispers, once.
    pub fn arrived(&mut self, batch: Batch) -> Vec<Whisper> {
        let whispers = self.in_transit.remove(&batch).unwrap_or_default();
        self.arrived.extend(whispers.iter().map(|whisper| whisper.id));
        whispers
    }

    /// Notes that a batch did not arrive: its whispers wait again.
    pub fn back(&mut self, batch: Batch) {
        let whispers = self.in_transit.remove(&batch).unwrap_or_default();
        self.waiting.extend(whispers.into_iter().map(|whisper| (whisper.id, whisper)));
    }
}
