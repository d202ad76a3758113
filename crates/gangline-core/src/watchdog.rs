//! Watchdogs: rules over time that find an agent stuck, without a model.
//!
//! The owner says at each tick, and at each change, what it sees; the answer is what begins to hold and
//! what holds no more. Nothing is found twice while it holds. Start at [`Watchdogs::look`].

pub mod presence;

use std::time::Duration;

use crate::{TurnId, finding::FindingKind, time::Now};

/// After what time each of them barks; `None`: never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A turn without output (5 min): before the turn is ended for it.
    pub turn_silent: Option<Duration>,
    /// A turn as a whole (60 min).
    pub turn: Option<Duration>,
    /// A message that waits for its turn (15 min).
    pub inbox: Option<Duration>,
    /// An approval that nobody decides (10 min).
    pub approval: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        let minutes = |count: u64| Some(Duration::from_secs(count * 60));
        Self {
            turn_silent: minutes(5),
            turn: minutes(60),
            inbox: minutes(15),
            approval: minutes(10),
        }
    }
}

/// What an agent looks like now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sight {
    /// The open turn.
    pub turn: Option<TurnId>,
    /// Whether the turn waits for a person: then its time stands still.
    pub asks: bool,
    /// How long the oldest message has waited that may be given to the agent now; `None` while nothing
    /// waits or the agent is paused.
    pub oldest: Option<Duration>,
    /// Whether the breaker is open.
    pub parked: bool,
}

/// Something that begins to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// What.
    pub kind: FindingKind,
    /// For how long it has held already; zero where no time is counted.
    pub after: Duration,
}

/// What a look has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// What holds now and did not before.
    pub found: Vec<Found>,
    /// What holds no more.
    pub over: Vec<FindingKind>,
}

/// What the watchdogs of one agent look for.
pub const KINDS: [FindingKind; 5] = [
    FindingKind::SilentTurn,
    FindingKind::LongTurn,
    FindingKind::WaitingInbox,
    FindingKind::UnansweredApproval,
    FindingKind::BreakerOpen,
];

/// The watchdogs of one agent.
#[derive(Debug)]
pub struct Watchdogs {
    limits: Limits,
    turn: Option<Turn>,
    holds: Vec<FindingKind>,
    /// Whether an earlier life may have left findings.
    fresh: bool,
    /// Whether nothing could be given to the agent at the last look.
    nothing_waited: bool,
    /// Since when something can be given to it: the hours of a pause are not counted.
    waits_since: Option<Now>,
}

/// The open turn, and what its time is counted from.
#[derive(Debug, Clone, Copy)]
struct Turn {
    id: TurnId,
    looked: Now,
    /// Whether it waited for a person at the last look.
    asks: bool,
    ran: Duration,
    silent: Duration,
    asked: Duration,
}

impl Watchdogs {
    /// Returns watchdogs that have seen nothing: their first look closes what an earlier life of the
    /// daemon has left.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            turn: None,
            holds: Vec::new(),
            fresh: true,
            nothing_waited: false,
            waits_since: None,
        }
    }

    /// The backend has shown that it works.
    pub fn output(&mut self, now: Now) {
        if let Some(turn) = &mut self.turn {
            turn.pass(now);
            turn.silent = Duration::ZERO;
        }
    }

    /// Returns whether something holds: a change of the agent may end it.
    #[must_use]
    pub fn is_barking(&self) -> bool {
        !self.holds.is_empty()
    }

    /// Looks at the agent. Returns what begins to hold and what holds no more.
    pub fn look(&mut self, now: Now, sight: &Sight) -> Changes {
        self.see(now, sight.turn, sight.asks);
        let waited = self.waited(now, sight.oldest);
        let found = self.judged(sight, waited);
        let mut changes = Changes::default();
        for kind in KINDS {
            let held = self.holds.contains(&kind);
            match found.iter().find(|found| found.kind == kind) {
                Some(found) if !held => changes.found.push(*found),
                Some(_) => {}
                None if held || self.fresh => changes.over.push(kind),
                None => {}
            }
        }
        self.fresh = false;
        self.holds = found.into_iter().map(|found| found.kind).collect();
        changes
    }

    /// Takes which turn is open, and whether it waits for a person. Its time is counted from here.
    pub fn see(&mut self, now: Now, turn: Option<TurnId>, asks: bool) {
        let Some(id) = turn else {
            self.turn = None;
            return;
        };
        match &mut self.turn {
            Some(turn) if turn.id == id => {
                turn.pass(now);
                turn.sees(asks);
            }
            Some(_) | None => {
                let zero = Duration::ZERO;
                let (ran, silent, asked) = (zero, zero, zero);
                self.turn = Some(Turn { id, looked: now, asks, ran, silent, asked });
            }
        }
    }

    /// Returns for how long the agent has left something waiting that it could have taken.
    fn waited(&mut self, now: Now, oldest: Option<Duration>) -> Option<Duration> {
        let before = std::mem::replace(&mut self.nothing_waited, oldest.is_none());
        if before && oldest.is_some() {
            self.waits_since = Some(now);
        }
        oldest.map(|it| self.waits_since.map_or(it, |since| it.min(now.since(since))))
    }

    /// Returns what holds.
    fn judged(&self, sight: &Sight, waited: Option<Duration>) -> Vec<Found> {
        let mut found = Vec::new();
        let mut judge = |kind, lasted: Option<Duration>, limit: Option<Duration>| {
            if let Some(after) = lasted.filter(|lasted| limit.is_some_and(|it| *lasted >= it)) {
                found.push(Found { kind, after });
            }
        };
        let turn = self.turn;
        let working = turn.filter(|_| !sight.asks);
        judge(FindingKind::SilentTurn, working.map(|it| it.silent), self.limits.turn_silent);
        judge(FindingKind::LongTurn, turn.map(|it| it.ran), self.limits.turn);
        judge(FindingKind::WaitingInbox, waited, self.limits.inbox);
        let asks = turn.filter(|_| sight.asks);
        judge(FindingKind::UnansweredApproval, asks.map(|it| it.asked), self.limits.approval);
        let parked = sight.parked.then_some(Duration::ZERO);
        judge(FindingKind::BreakerOpen, parked, Some(Duration::ZERO));
        found
    }
}

impl Turn {
    /// Counts the time since the last look to what the turn did then.
    fn pass(&mut self, now: Now) {
        let passed = now.since(self.looked);
        self.looked = self.looked.max(now);
        if self.asks {
            self.asked += passed;
        } else {
            self.ran += passed;
            self.silent += passed;
        }
    }

    /// Takes whether it waits for a person now.
    fn sees(&mut self, asks: bool) {
        self.asks = asks;
        if asks {
            self.silent = Duration::ZERO;
        } else {
            self.asked = Duration::ZERO;
        }
    }
}

#[cfg(test)]
mod tests;
