//! Whose connections there are, and which of them gives way to another one.
//!
//! A connection without a whole request needs no token, so it keeps nobody out: of too many the longest idle
//! one ends, of the user who has the most. One whose request is being served stays. [`Crowd`] is pure; the
//! server's connections share it by [`Crowded`].

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use gangline_os::{CancellationToken, clock::SharedClock};
use tokio::sync::Notify;

use crate::CONNECTIONS_MAX;

#[cfg(test)]
mod tests;

/// The most connections of one other user of this machine.
pub(crate) const OTHER_EACH: usize = 16;
/// Places that no other user takes, however many of them there are.
pub(crate) const KEPT_FOR_OWN: usize = 16;

/// Whose connection it is, as far as the kernel tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// Of the user who runs the hub.
    Own,
    /// Of another user of this machine.
    Other(u32),
    /// It does not tell, as on every system but Linux: then nobody has a share.
    Unknown,
}

/// What a connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its request is being served.
    Busy,
    /// No whole request has come, since then.
    Waits(Duration),
}

#[derive(Debug)]
struct Place {
    of: Origin,
    stage: Stage,
    end: CancellationToken,
}

/// The connections that are open.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    next: u64,
    places: BTreeMap<u64, Place>,
}

impl Crowd {
    /// Returns whether one more finds a place, whoever it is.
    fn has_room(&self) -> bool {
        let waits = |place: &Place| matches!(place.stage, Stage::Waits(_));
        self.places.len() < CONNECTIONS_MAX || self.places.values().any(waits)
    }

    /// Takes a connection in: its number, and what ends it when it has to give way. `None` if its user has
    /// the share of one already, and each is being served.
    fn comes(&mut self, of: Origin, now: Duration) -> Option<(u64, CancellationToken)> {
        let count =
            |is: &dyn Fn(Origin) -> bool| self.places.values().filter(|place| is(place.of)).count();
        let is_other = |of: Origin| matches!(of, Origin::Other(_));
        let (its, others) = (count(&|it| it == of), count(&is_other));
        if is_other(of) && its >= OTHER_EACH {
            self.gives_way(&|it| it == of)?;
        } else if is_other(of) && others >= CONNECTIONS_MAX - KEPT_FOR_OWN {
            self.gives_way(&is_other)?;
        } else if self.places.len() >= CONNECTIONS_MAX {
            self.gives_way(&|_| true)?;
        }
        let (number, end) = (self.next, CancellationToken::new());
        self.next += 1;
        let place = Place { of, stage: Stage::Waits(now), end: end.clone() };
        self.places.insert(number, place);
        Some((number, end))
    }

    /// Ends a connection that waits: the one that has waited longest, of the user who has the most. Of two
    /// who have as many, the one who runs the hub keeps them.
    fn gives_way(&mut self, among: &dyn Fn(Origin) -> bool) -> Option<()> {
        let mut each = BTreeMap::<Origin, usize>::new();
        for place in self.places.values() {
            *each.entry(place.of).or_default() += 1;
        }
        let waits = self.places.iter().filter_map(|(number, place)| match place.stage {
            Stage::Waits(since) if among(place.of) => {
                let most = Reverse(each.get(&place.of).copied());
                Some((most, place.of == Origin::Own, since, *number))
            }
            Stage::Waits(_) | Stage::Busy => None,
        });
        let (_, _, _, number) = waits.min()?;
        self.places.remove(&number)?.end.cancel();
        Some(())
    }

    fn is_at(&mut self, number: u64, stage: Stage) {
        if let Some(place) = self.places.get_mut(&number) {
            place.stage = stage;
        }
    }
}

/// The connections of a server, shared by them.
pub(crate) struct Crowded {
    crowd: Mutex<Crowd>,
    clock: SharedClock,
    /// A connection has ended, or waits again.
    room: Notify,
}

impl Crowded {
    pub(crate) fn new(clock: SharedClock) -> Arc<Self> {
        Arc::new(Self { crowd: Mutex::default(), clock, room: Notify::new() })
    }

    fn crowd(&self) -> MutexGuard<'_, Crowd> {
        self.crowd.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until one more finds a place. Cancel-safe.
    pub(crate) async fn room(&self) {
        loop {
            let changed = self.room.notified();
            if self.crowd().has_room() {
                return;
            }
            changed.await;
        }
    }

    /// Takes a connection in, if its user has a place.
    pub(crate) fn comes(self: &Arc<Self>, of: Origin) -> Option<Seat> {
        let (number, end) = self.crowd().comes(of, self.clock.monotonic())?;
        Some(Seat { crowded: Arc::clone(self), number, end })
    }

    fn waits(&self, number: u64) {
        let now = self.clock.monotonic();
        self.crowd().is_at(number, Stage::Waits(now));
        self.room.notify_one();
    }
}

/// A connection's place; dropping it gives it back.
pub(crate) struct Seat {
    crowded: Arc<Crowded>,
    number: u64,
    /// Cancelled when the connection has to give way.
    pub(crate) end: CancellationToken,
}

impl Seat {
    /// A request is whole in its head: the connection stays until what this returns is dropped.
    pub(crate) fn serves(&self) -> Serving {
        self.crowded.crowd().is_at(self.number, Stage::Busy);
        Serving { crowded: Arc::clone(&self.crowded), number: self.number }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.crowded.crowd().places.remove(&self.number);
        self.crowded.room.notify_one();
    }
}

/// A request that is being served, to the last byte of its response.
pub(crate) struct Serving {
    crowded: Arc<Crowded>,
    number: u64,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.crowded.waits(self.number);
    }
}
