//! The circuit breaker: so many deaths within a window open it (R0-22).

use std::{collections::VecDeque, time::Duration};

use crate::time::Now;

#[derive(Debug)]
pub(super) struct Breaker {
    limit: usize,
    window: Duration,
    deaths: VecDeque<Now>,
}

impl Breaker {
    pub(super) fn new(limit: usize, window: Duration) -> Self {
        Self { limit: limit.max(1), window, deaths: VecDeque::new() }
    }

    pub(super) fn record(&mut self, now: Now) {
        self.forget_old(now);
        self.deaths.push_back(now);
        while self.deaths.len() > self.limit {
            self.deaths.pop_front();
        }
    }

    pub(super) fn is_open(&mut self, now: Now) -> bool {
        self.forget_old(now);
        self.deaths.len() >= self.limit
    }

    pub(super) fn deaths(&self) -> usize {
        self.deaths.len()
    }

    /// One more death within the window opens it again.
    pub(super) fn half_open(&mut self, now: Now) {
        self.deaths.clear();
        self.deaths.extend(std::iter::repeat_n(now, self.limit - 1));
    }

    fn forget_old(&mut self, now: Now) {
        self.deaths.retain(|death| now.since(*death) < self.window);
    }
}
