//! Why an agent starts no new turn: the reasons of a pause, and how long each holds. Pure. Start at
//! [`Pauses`].

use std::{collections::BTreeMap, time::Duration};

use crate::{
    time::{Now, WallMicros},
    words,
};

pub use limit::{QUOTA_FROM, QUOTA_WAIT, RAMP, UNNAMED_WAIT, Unnamed, ramp};
pub use schedule::{Asleep, Schedule, ScheduleError, TimeOfDay};
pub use when::{PauseWhenError, pause_ends, pause_for, pause_until};

mod limit;
mod schedule;
mod when;

words! {
    /// Why an agent is paused. Several may hold at once; it goes on when none does.
    PauseReason, "reason of a pause" {
        /// A person said so.
        Operator = "operator",
        /// A question of its own expired that was to end so (R1-53).
        Question = "question",
        /// The supervisor has escalated (R1-34, R1-35).
        Escalation = "escalation",
        /// It sleeps by its schedule (`sleep_start`, `sleep_end`; R0-52).
        Schedule = "schedule",
        /// A budget is spent.
        Budget = "budget",
        /// The provider's quota is spent until a named time.
        RateLimit = "rate_limit",
        /// The whole installation's limit is reached.
        Fleet = "fleet",
    }
}

impl PauseReason {
    /// Returns whether an operator's `resume` ends it. A spent budget and the installation's limit are
    /// raised instead: the agent would stop again at once.
    #[must_use]
    pub fn ends_with_resume(self) -> bool {
        match self {
            Self::Operator
            | Self::Question
            | Self::Escalation
            | Self::Schedule
            | Self::RateLimit => true,
            Self::Budget | Self::Fleet => false,
        }
    }

    /// Returns what people can do about a reason that `resume` does not end
    /// ([`Self::ends_with_resume`]); `None` for the others.
    #[must_use]
    pub fn instead_of_resume(self) -> Option<&'static str> {
        match self {
            Self::Budget => Some("raise it with `gangline budget raise`, or wait until then"),
            Self::Fleet => Some("`gangline budget release` ends it"),
            Self::Operator
            | Self::Question
            | Self::Escalation
            | Self::Schedule
            | Self::RateLimit => None,
        }
    }
}

/// What a person says to let an agent continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Continue {
    /// Ends what [`PauseReason::ends_with_resume`] says.
    Resume,
    /// Ends the open turn and an escalation, and no other reason.
    Abort,
}

impl Continue {
    /// Returns the word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::Abort => "abort",
        }
    }

    /// Returns what helps instead, if this word does not end a pause of this reason.
    #[must_use]
    pub fn instead(self, reason: PauseReason) -> Option<&'static str> {
        match (self, reason) {
            (Self::Resume, reason) => reason.instead_of_resume(),
            (Self::Abort, PauseReason::Escalation) => None,
            (Self::Abort, reason) => Some(reason.instead_of_resume().unwrap_or("`resume` ends it")),
        }
    }
}

/// When a pause ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Until {
    /// The moment, for people and for the store.
    pub at: WallMicros,
    /// How long that is from now. The wall clock may be set: the shell says it again then.
    pub wait: Duration,
}

impl Until {
    /// Returns the pause's end as seen from this moment; one that is over waits for nothing.
    #[must_use]
    pub fn from(at: WallMicros, now: WallMicros) -> Self {
        let wait = u64::try_from(at.0.saturating_sub(now.0)).unwrap_or(0);
        Self { at, wait: Duration::from_micros(wait) }
    }
}

/// One reason that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    /// Why.
    pub reason: PauseReason,
    /// When it ends by itself; `None` = only a person or its cause ends it.
    pub until: Option<WallMicros>,
}

/// The reasons that hold now.
#[derive(Debug, Clone, Default)]
pub struct Pauses {
    held: BTreeMap<PauseReason, Option<(WallMicros, Now)>>,
}

impl Pauses {
    /// Returns whether any reason holds.
    #[must_use]
    pub fn hold(&self) -> bool {
        !self.held.is_empty()
    }

    /// Begins a pause, or gives it another end. Returns whether this reason did not hold before.
    pub fn begin(&mut self, now: Now, reason: PauseReason, until: Option<Until>) -> bool {
        let ends = until.map(|until| (until.at, now.plus(until.wait)));
        self.held.insert(reason, ends).is_none()
    }

    /// Ends a pause. Returns whether it held.
    pub fn end(&mut self, reason: PauseReason) -> bool {
        self.held.remove(&reason).is_some()
    }

    /// Ends those whose time is over, and returns them.
    pub fn expire(&mut self, now: Now) -> Vec<Held> {
        let over = |ends: &Option<(WallMicros, Now)>| ends.is_some_and(|(_, end)| end <= now);
        let ended = self.held.extract_if(.., |_, ends| over(ends));
        ended.map(|(reason, ends)| Held { reason, until: ends.map(|(at, _)| at) }).collect()
    }

    /// Returns when the next one ends by itself.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Now> {
        self.held.values().filter_map(|ends| ends.map(|(_, end)| end)).min()
    }

    /// Returns the reasons in their order, with their ends.
    #[must_use]
    pub fn shown(&self) -> Vec<Held> {
        let one = |(reason, ends): (&PauseReason, &Option<(WallMicros, Now)>)| Held {
            reason: *reason,
            until: ends.map(|(at, _)| at),
        };
        self.held.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests;
