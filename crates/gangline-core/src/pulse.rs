//! Signs of activity of an open turn: the typing indicator, which clients drop if it is not
//! renewed, and a line about the current work. Start at [`Pulse`].

use std::time::Duration;

use crate::{id::TurnId, time::Now};

/// How often a typing mark is renewed: clients drop one after six seconds.
pub const TYPING_EVERY: Duration = Duration::from_secs(3);
/// When a turn first says what it does.
pub const PROGRESS_AFTER: Duration = Duration::from_secs(60);
/// How often it says so then.
pub const PROGRESS_EVERY: Duration = Duration::from_secs(5 * 60);

/// What is to be shown now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Beat {
    /// The typing mark.
    Typing,
    /// What the turn does.
    Progress {
        /// How long it has been open.
        after: Duration,
        /// The how-many-th such line of the turn this is, from 1.
        number: u32,
    },
}

/// Whether a turn waits for a human; then there is nothing to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Waits {
    /// For a decision.
    ForHuman,
    /// For nobody.
    ForNobody,
}

/// The pulse of one agent.
#[derive(Debug, Default)]
pub struct Pulse {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    turn: TurnId,
    since: Now,
    waits: Waits,
    typing: Now,
    progress: Now,
    told: u32,
}

impl Pulse {
    /// Takes which turn is open, and whether it waits for a human.
    pub fn see(&mut self, now: Now, turn: Option<TurnId>, waits: Waits) {
        let Some(turn) = turn else {
            self.open = None;
            return;
        };
        match &mut self.open {
            Some(open) if open.turn == turn => {
                if (open.waits, waits) == (Waits::ForHuman, Waits::ForNobody) {
                    open.typing = now;
                    open.progress = open.progress.max(now.plus(PROGRESS_AFTER));
                }
                open.waits = waits;
            }
            Some(_) | None => {
                // Its prompt shows the first mark.
                let (typing, progress) = (now.plus(TYPING_EVERY), now.plus(PROGRESS_AFTER));
                self.open = Some(Open { turn, since: now, waits, typing, progress, told: 0 });
            }
        }
    }

    /// Returns when something is to be shown next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Now> {
        let open = self.open.as_ref().filter(|open| open.waits == Waits::ForNobody)?;
        Some(open.typing.min(open.progress))
    }

    /// Returns what is to be shown now.
    pub fn due(&mut self, now: Now) -> Vec<Beat> {
        let Some(open) = self.open.as_mut().filter(|open| open.waits == Waits::ForNobody) else {
            return Vec::new();
        };
        let mut beats = Vec::new();
        if open.typing <= now {
            open.typing = now.plus(TYPING_EVERY);
            beats.push(Beat::Typing);
        }
        if open.progress <= now {
            open.progress = now.plus(PROGRESS_EVERY);
            open.told += 1;
            beats.push(Beat::Progress { after: now.since(open.since), number: open.told });
        }
        beats
    }
}

#[cfg(test)]
mod tests;
