//! Notices about waiting lines: when an author learns why a line waits, and how many notices a
//! person gets at most. Start at [`Patience`].

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use crate::{id::MessageId, name::fold, time::Now};

/// A line that begins nothing by then gets its reason or a typing mark: within two seconds, the
/// way to the chat included.
pub const REASON_AFTER: Duration = Duration::from_millis(1_500);
/// A line that still waits in the queue by then gets its position.
pub const POSITION_AFTER: Duration = Duration::from_secs(10);
/// The most notices with reasons and positions that a person gets within a [`MINUTE`].
pub const REASONS_A_MINUTE: usize = 5;
/// The window of [`REASONS_A_MINUTE`].
pub const MINUTE: Duration = Duration::from_secs(60);
/// A stranger gets the notice that only members may prompt at most once in this time.
pub const STRANGER_EVERY: Duration = Duration::from_secs(60 * 60);
/// So many lines are watched; those beyond get no reason.
pub const WATCHED_MAX: usize = 256;
/// So many are told at once; whoever tells them looks at what else is to be done in between.
pub const AT_ONCE: usize = 4;
/// So many people are remembered; beyond them those of a window that is over are forgotten, and
/// if nobody is, nobody new is told anything.
pub const PEOPLE_MAX: usize = 1_000;

/// What somebody is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owed {
    /// The reason why nothing happens, or a typing mark.
    Reason,
    /// The position in the queue.
    Position,
}

/// A line that was accepted and may wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Its message.
    pub message: MessageId,
    /// The recipient's nick.
    pub nick: String,
    /// The place of the notice: a channel or that nick.
    pub place: String,
}

/// The lines that are watched.
#[derive(Debug, Default)]
pub struct Patience {
    watched: Vec<(Now, Owed, Waiting)>,
    told: Notified,
}

impl Patience {
    /// Watches a line that was accepted just now.
    pub fn accepted(&mut self, now: Now, waiting: Waiting) {
        if self.watched.len() < WATCHED_MAX {
            self.watched.push((now.plus(REASON_AFTER), Owed::Reason, waiting));
        }
    }

    /// Watches on: the line got a mark and no reason, and is owed its position if it still waits
    /// when it is [`POSITION_AFTER`] old.
    pub fn goes_on(&mut self, now: Now, waiting: Waiting) {
        let due = now.plus(POSITION_AFTER.saturating_sub(REASON_AFTER));
        if self.watched.len() < WATCHED_MAX {
            self.watched.push((due, Owed::Position, waiting));
        }
    }

    /// Returns when somebody is owed something next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Now> {
        self.watched.iter().map(|(due, ..)| *due).min()
    }

    /// Returns who is owed something now, in the order of their lines, and watches them no longer:
    /// at most [`AT_ONCE`], the others are due at once.
    pub fn due(&mut self, now: Now) -> Vec<(Owed, Waiting)> {
        let mut due = Vec::new();
        self.watched.retain(|(at, owed, waiting)| {
            let told = *at <= now && due.len() < AT_ONCE;
            if told {
                due.push((*owed, waiting.clone()));
            }
            !told
        });
        due
    }

    /// Returns whether somebody may be told one more reason, without counting one.
    #[must_use]
    pub fn could_notify(&self, now: Now, nick: &str) -> bool {
        self.told.could(now, nick, (MINUTE, REASONS_A_MINUTE))
    }

    /// Returns whether somebody may be told one more reason, and counts it.
    pub fn may_notify(&mut self, now: Now, nick: &str) -> bool {
        self.told.may(now, nick, (MINUTE, REASONS_A_MINUTE))
    }
}

/// Who was told something, and when: at most so often in a window.
#[derive(Debug, Default)]
pub struct Notified {
    people: HashMap<String, VecDeque<Now>>,
}

impl Notified {
    /// Returns whether [`Self::may`] would say yes to somebody known; somebody new may.
    #[must_use]
    pub fn could(&self, now: Now, nick: &str, (window, most): (Duration, usize)) -> bool {
        let recent = |it: &&Now| now.since(**it) < window;
        self.people.get(&fold(nick)).is_none_or(|times| times.iter().filter(recent).count() < most)
    }

    /// Returns whether somebody may be told something: not more than `most` times in `window`.
    /// Counts it if so.
    pub fn may(&mut self, now: Now, nick: &str, (window, most): (Duration, usize)) -> bool {
        let nick = fold(nick);
        if self.people.len() >= PEOPLE_MAX && !self.people.contains_key(&nick) {
            let recent =
                |times: &VecDeque<Now>| times.back().is_some_and(|it| now.since(*it) < window);
            self.people.retain(|_, times| recent(times));
            if self.people.len() >= PEOPLE_MAX {
                return false;
            }
        }
        let times = self.people.entry(nick).or_default();
        while times.front().is_some_and(|first| now.since(*first) >= window) {
            times.pop_front();
        }
        let may = times.len() < most;
        if may {
            times.push_back(now);
        }
        may
    }
}

#[cfg(test)]
mod tests;
