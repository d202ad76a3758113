//! Whether a daemon that is to run does, and lives: seen from outside, by who keeps it.

use std::time::Duration;

use super::Changes;
use crate::{finding::FindingKind, time::Now, watchdog::Found};

/// A daemon shows that it lives every 30 s; after this it counts as stuck.
pub const HEARTBEAT_LATE: Duration = Duration::from_secs(120);
/// A daemon that is to run and does not for so long is found; a restart takes less.
pub const NOT_RUNNING_AFTER: Duration = Duration::from_secs(60);

/// What is seen of one daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is not to run.
    Unwanted,
    /// It holds its lock. The sign of life differs whenever it has shown one; `None`: it cannot be read.
    Up(Option<i64>),
    /// It is to run and does not.
    Away,
    /// It is to run, does not, and is not started again.
    GivenUp,
}

/// What is known of one daemon over time.
#[derive(Debug, Default)]
pub struct Watched {
    /// The last sign of life, since when it is the last one, and whether there was one before it: a
    /// daemon of an older program gives none.
    beat: Option<(i64, Now, Beats)>,
    away: Option<Now>,
    holds: Option<FindingKind>,
    looked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beats {
    Seen,
    NotYet,
}

impl Watched {
    /// Looks at the daemon. Returns what begins to hold and what holds no more.
    pub fn look(&mut self, now: Now, presence: Presence) -> Changes {
        let found = match presence {
            Presence::Unwanted => {
                (self.beat, self.away) = (None, None);
                None
            }
            Presence::Up(sign) => {
                self.away = None;
                self.beats(now, sign).map(|after| Found { kind: FindingKind::NoHeartbeat, after })
            }
            Presence::Away | Presence::GivenUp => {
                self.beat = None;
                let after = now.since(*self.away.get_or_insert(now));
                let late = presence == Presence::GivenUp || after >= NOT_RUNNING_AFTER;
                late.then_some(Found { kind: FindingKind::NotRunning, after })
            }
        };
        let mut changes = Changes::default();
        for kind in [FindingKind::NoHeartbeat, FindingKind::NotRunning] {
            let held = self.holds == Some(kind);
            match found.filter(|found| found.kind == kind) {
                Some(found) if !held => changes.found.push(found),
                Some(_) => {}
                None if held || self.may_end(kind, presence) => changes.over.push(kind),
                None => {}
            }
        }
        self.looked = true;
        self.holds = found.map(|found| found.kind);
        changes
    }

    /// Returns how long the daemon has shown no life, if that is too long.
    fn beats(&mut self, now: Now, sign: Option<i64>) -> Option<Duration> {
        let sign = sign?;
        match &mut self.beat {
            Some((last, since, beats)) if *last == sign => {
                let silent = now.since(*since);
                (*beats == Beats::Seen && silent >= HEARTBEAT_LATE).then_some(silent)
            }
            Some((last, since, beats)) => {
                (*last, *since, *beats) = (sign, now, Beats::Seen);
                None
            }
            None => {
                self.beat = Some((sign, now, Beats::NotYet));
                None
            }
        }
    }

    /// Returns whether what an earlier watcher found certainly holds no more. A sign of life that does
    /// not change at the first look proves nothing.
    fn may_end(&self, kind: FindingKind, presence: Presence) -> bool {
        match (kind, presence) {
            (_, Presence::Unwanted) => !self.looked,
            (FindingKind::NotRunning, Presence::Up(_)) => !self.looked,
            (FindingKind::NoHeartbeat, Presence::Away | Presence::GivenUp) => !self.looked,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
