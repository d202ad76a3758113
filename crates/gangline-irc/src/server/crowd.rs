//! How many connections each user has. Pure; owned by the server's task.
//!
//! One user of the machine must not take every connection that the server can have.

use std::{collections::HashMap, time::Duration};

use super::{config::Limits, seldom::Seldom, trust::Origin};

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

/// Connections of one user.
#[derive(Default, Clone, Copy)]
struct Count {
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
    /// Counts a new connection, or says why there is no room for one more. Daemons, who come by
    /// the private socket, always find room.
    pub(super) fn comes(
        &mut self,
        origin: Origin,
        limits: &Limits,
        agents: usize,
    ) -> Result<(), String> {
        if origin == Origin::Socket {
            return Ok(());
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
        if count.registering >= limits.registering_each {
            let most = limits.registering_each;
            return Err(format!("{most} connections of your user have not registered yet; wait"));
        }
        count.registering += 1;
        self.all += 1;
        Ok(())
    }

    /// Counts a connection as registered, or says why there is no room for it. The user who runs
    /// the server has no limit. A registered connection that it replaces `leaves` right after.
    pub(super) fn registers(
        &mut self,
        origin: Origin,
        leaves: Option<Origin>,
        limits: &Limits,
    ) -> Result<(), String> {
        let Some(count) = self.counts.get_mut(&origin) else { return Ok(()) };
        match origin {
            Origin::Socket => {}
            Origin::Own => {}
            Origin::User(_) | Origin::Unknown(_) => {
                let stays = count.ready.saturating_sub(usize::from(leaves == Some(origin)));
                if stays >= limits.ready_each {
                    return Err(format!("Your user has {stays} connections already"));
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
        if count.registering == 0 && count.ready == 0 {
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
