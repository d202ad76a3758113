//! What has been counted since the relay began, and where it has to stop.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use gangline_core::{budget::CallOutcome, price::Tokens};
use gangline_os::clock::UnixMicros;

/// Running sums, shared with whoever wants to read them. Only the relay adds.
#[derive(Debug, Clone, Default)]
pub struct Totals(Arc<Sums>);

#[derive(Debug, Default)]
struct Sums {
    calls: AtomicU64,
    counted: AtomicU64,
    tokens: AtomicU64,
    micros: AtomicU64,
}

impl Totals {
    /// Returns how many responses told their tokens.
    #[must_use]
    pub fn counted(&self) -> u64 {
        self.0.counted.load(Ordering::SeqCst)
    }

    /// Returns how many requests reached the model's API.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.0.calls.load(Ordering::SeqCst)
    }

    /// Returns the tokens so far, as a budget counts them ([`Tokens::counted`]).
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.0.tokens.load(Ordering::SeqCst)
    }

    /// Returns the known cost so far, in millionths of a dollar.
    #[must_use]
    pub fn micros(&self) -> u64 {
        self.0.micros.load(Ordering::SeqCst)
    }

    pub(crate) fn called(&self) {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn told(&self) {
        self.0.counted.fetch_add(1, Ordering::SeqCst);
    }

    /// Adds what a response has told since it was last asked.
    pub(crate) fn add(&self, tokens: u64, micros: u64) {
        for (sum, more) in [(&self.0.tokens, tokens), (&self.0.micros, micros)] {
            let added = |sum: u64| Some(sum.saturating_add(more));
            // It adds to whatever it finds, so it cannot fail.
            let _before = sum.fetch_update(Ordering::SeqCst, Ordering::SeqCst, added);
        }
    }
}

/// One limit: requests are refused from the moment when [`Totals`] reach one of its two numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The number of [`Totals::tokens`].
    pub tokens: Option<u64>,
    /// The number of [`Totals::micros`].
    pub micros: Option<u64>,
    /// When it ends: a budget is one of a day. Nobody need say so in time.
    pub until: UnixMicros,
    /// What the backend is told, and shows.
    pub why: String,
}

/// Every limit that holds now; published by whoever knows the budgets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits(pub Vec<Stop>);

impl Limits {
    /// Returns why no request may pass at `now`.
    pub(crate) fn stops(&self, totals: &Totals, now: UnixMicros) -> Option<&str> {
        let reached = |limit: Option<u64>, now: u64| limit.is_some_and(|limit| now >= limit);
        let stops = |stop: &&Stop| {
            now < stop.until
                && (reached(stop.tokens, totals.tokens()) || reached(stop.micros, totals.micros()))
        };
        self.0.iter().find(stops).map(|stop| stop.why.as_str())
    }
}

/// A note that is being made.
pub type Noting<'a> = Pin<Box<dyn Future<Output = Result<i64, String>> + Send + 'a>>;

/// Notes that a call begins, so that it counts even if the relay is killed before it ends.
pub trait Ledger: Send + Sync {
    /// Notes a call whose request has so many bytes, `None` if its head does not tell. Returns the note's
    /// number once it outlives this process; its report has it. An error says why there is no note: then the
    /// request is not sent.
    fn begins(&self, bytes: Option<u64>) -> Noting<'_>;
}

/// What one call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The number of its note; `None` = it was refused before.
    pub noted: Option<i64>,
    /// The model's name, as the response tells it; empty = it does not.
    pub model: String,
    /// Its tokens; `None` = the response does not tell them.
    pub tokens: Option<Tokens>,
    /// Its cost in millionths of a dollar; `None` = unknown.
    pub cost_micros: Option<u64>,
    /// How it ended.
    pub outcome: CallOutcome,
    /// From the request's head to the response's head.
    pub first_byte: Duration,
    /// From the request's head to the response's last byte.
    pub lasted: Duration,
}
