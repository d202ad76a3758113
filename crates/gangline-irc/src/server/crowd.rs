//! How many connections each user has, and which wait. Owned by the server's task.
//!
//! One user of the machine must not take every connection that the server can have.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use super::{config::Limits, listeners::Arrival, seldom::Seldom, trust::Origin};

#[cfg(test)]
mod tests;

/// Descriptors of the process that no client gets: databases, pipes, files, other sockets.
const RESERVED: usize = 64;
/// Descriptors of the process for each agent.
const FOR_AGENT: usize = 2;
/// Clients that there is room for, however low the limit of descriptors is.
const ALWAYS: usize = 16;

/// Connections that only the user who runs the server may take, so that others cannot keep the
/// owner out; half of all where there are few.
const KEPT_FOR_OWN: usize = 16;

/// Connections of one user that may wait to be read: as many as a listening socket's backlog.
const WAITING_MAX: usize = 1024;

/// What becomes of a connection that has found room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// It is read.
    Now,
    /// It waits: many of its user have not registered yet.
    Waits,
}

/// Connections that wait to be read, each user's in the order of coming.
#[derive(Default)]
pub(super) struct Waiting {
    of: HashMap<Origin, VecDeque<Arrival>>,
}

impl Waiting {
    pub(super) fn add(&mut self, origin: Origin, arrival: Arrival) {
        self.of.entry(origin).or_default().push_back(arrival);
    }

    /// Returns the next one for which there is room now; it counts as one that registers.
    pub(super) fn next(&mut self, crowd: &mut Crowd, limits: &Limits) -> Option<(Origin, Arrival)> {
        let origin = self.of.keys().copied().find(|origin| crowd.may_be_read(*origin, limits))?;
        let queue = self.of.get_mut(&origin)?;
        let arrival = queue.pop_front();
        if queue.is_empty() {
            self.of.remove(&origin);
        }
        crowd.is_read(origin);
        Some((origin, arrival?))
    }
}

/// Connections of one user.
#[derive(Default, Clone, Copy)]
struct Count {
    /// Not read yet.
    waiting: usize,
    /// Before 001.
    registering: usize,
    /// After it.
    ready: usize,
}

/// The connections of all users.
#[derive(Default)]
pub(super) struct Crowd {
    counts: HashMap<Origin, Count>,
    /// All that are counted.
    all: usize,
    refused: Seldom,
}

impl Crowd {
    /// Counts a new connection and says whether it is read at once, or says why there is no room for
    /// it. Daemons, who come by the private socket, always find room.
    pub(super) fn comes(
        &mut self,
        origin: Origin,
        limits: &Limits,
        agents: usize,
    ) -> Result<Entry, String> {
        if origin == Origin::Socket {
            return Ok(Entry::Now);
        }
        let most = most_clients(limits, agents);
        if self.all >= most {
            return Err("This server has no room for more connections".to_owned());
        }
        if origin != Origin::Own && self.all >= most - KEPT_FOR_OWN.min(most / 2) {
            let why = "This server has no room for more connections of other users";
            return Err(why.to_owned());
        }
        let count = self.counts.entry(origin).or_default();
        if count.waiting >= WAITING_MAX {
            return Err(format!("{WAITING_MAX} connections of your user wait already"));
        }
        self.all += 1;
        if count.waiting > 0 || count.registering >= limits.registering_each {
            count.waiting += 1;
            return Ok(Entry::Waits);
        }
        count.registering += 1;
        Ok(Entry::Now)
    }

    /// Returns whether one more connection of this user may register.
    fn may_be_read(&self, origin: Origin, limits: &Limits) -> bool {
        self.counts.get(&origin).is_none_or(|count| count.registering < limits.registering_each)
    }

    /// Counts a connection that has waited as one that registers.
    fn is_read(&mut self, origin: Origin) {
        let count = self.counts.entry(origin).or_default();
        count.waiting = count.waiting.saturating_sub(1);
        count.registering += 1;
    }

    /// Counts a connection as registered, or says why there is no room for it. The user who runs
    /// the server has no limit.
    pub(super) fn registers(&mut self, origin: Origin, limits: &Limits) -> Result<(), String> {
        let Some(count) = self.counts.get_mut(&origin) else { return Ok(()) };
        match origin {
            Origin::Socket => {}
            Origin::Own => {}
            Origin::User(_) | Origin::Unknown(_) => {
                if count.ready >= limits.ready_each {
                    return Err(format!("Your user has {} connections already", count.ready));
                }
            }
        }
        count.registering = count.registering.saturating_sub(1);
        count.ready += 1;
        Ok(())
    }

    /// Counts a refused connection; returns how many there were when that is to be told.
    pub(super) fn refused(&mut self, now: Duration) -> Option<u64> {
        self.refused.counts(now)
    }

    /// Forgets a connection that is closed.
    pub(super) fn leaves(&mut self, origin: Origin, was_ready: bool) {
        let Some(count) = self.counts.get_mut(&origin) else { return };
        self.all = self.all.saturating_sub(1);
        let place = if was_ready { &mut count.ready } else { &mut count.registering };
        *place = place.saturating_sub(1);
        if count.waiting == 0 && count.registering == 0 && count.ready == 0 {
            self.counts.remove(&origin);
        }
    }
}

/// Returns how many clients there may be: as many as the process has descriptors for, once each
/// agent has what it needs.
fn most_clients(limits: &Limits, agents: usize) -> usize {
    let left = limits.descriptors.map(|all| all.saturating_sub(RESERVED + FOR_AGENT * agents));
    left.map_or(limits.connections, |left| left.max(ALWAYS).min(limits.connections))
}
