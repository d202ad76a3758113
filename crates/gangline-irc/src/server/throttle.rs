//! How often somebody may be wrong about a password. Pure; owned by the server's task.
//!
//! Counted by who tries, never by the account that is tried: others cannot lock its owner out. A
//! pause is not made longer by those who try during it.

use std::{collections::HashMap, time::Duration};

use super::trust::Origin;

/// Wrong passwords that cost no pause.
pub(super) const FREE: u32 = 3;
/// The pause after the first one that does; each further one doubles it.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(60);
/// The longest pause of the server's own user: a client of theirs that still has an older token
/// must not keep them out.
const LONGEST_OWN: Duration = Duration::from_secs(5);
/// The time without a wrong password after which the count is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(10 * 60);
/// The most origins that are remembered; then the one that was wrong longest ago is forgotten.
const ORIGINS: usize = 1024;

struct Tries {
    wrong: u32,
    last: Duration,
    until: Duration,
}

/// What is remembered of wrong passwords.
#[derive(Default)]
pub(super) struct Throttle {
    tries: HashMap<Origin, Tries>,
}

impl Throttle {
    /// Returns how long this user must still wait before a password of it is looked at.
    pub(super) fn pause(&self, origin: Origin, now: Duration) -> Option<Duration> {
        let left = self.tries.get(&origin)?.until.saturating_sub(now);
        (!left.is_zero()).then_some(left)
    }

    /// Notes a wrong password. One by the private socket is a daemon's, and others must not wait
    /// for what is wrong with it.
    pub(super) fn wrong(&mut self, origin: Origin, now: Duration) {
        if origin == Origin::Socket {
            return;
        }
        self.tries.retain(|_, tries| now.saturating_sub(tries.last) < FORGOTTEN);
        if self.tries.len() >= ORIGINS && !self.tries.contains_key(&origin) {
            let oldest = self.tries.iter().min_by_key(|(_, tries)| tries.last);
            if let Some(oldest) = oldest.map(|(origin, _)| *origin) {
                self.tries.remove(&oldest);
            }
        }
        let new = Tries { wrong: 0, last: now, until: now };
        let tries = self.tries.entry(origin).or_insert(new);
        tries.wrong = tries.wrong.saturating_add(1);
        tries.last = now;
        tries.until = now + after(origin, tries.wrong);
    }

    /// Forgets what was wrong: this user knows a password.
    pub(super) fn right(&mut self, origin: Origin) {
        self.tries.remove(&origin);
    }
}

fn after(origin: Origin, wrong: u32) -> Duration {
    let longest = match origin {
        Origin::Own | Origin::Socket => LONGEST_OWN,
        Origin::User(_) | Origin::Unknown(_) => LONGEST,
    };
    match wrong.checked_sub(FREE + 1) {
        None => Duration::ZERO,
        Some(doublings) => FIRST.saturating_mul(1 << doublings.min(16)).min(longest),
    }
}

#[cfg(test)]
mod tests;
