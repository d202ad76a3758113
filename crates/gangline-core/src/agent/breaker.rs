//! The circuit breaker: opens after a number of deaths within a window (R0-22).
//!
//! A message that was in all of them is suspected. After somebody resumes the agent, further deaths
//! with it no longer open the breaker, since its attempts are limited. Otherwise one message would
//! stop the agent again and again.

use std::{collections::VecDeque, time::Duration};

use crate::{id::MessageId, time::Now};

#[derive(Debug)]
pub(super) struct Breaker {
    limit: usize,
    window: Duration,
    deaths: VecDeque<Death>,
    /// Messages that were in each death that opened it, from the resume on.
    suspects: Vec<MessageId>,
}

#[derive(Debug)]
struct Death {
    at: Now,
    /// The messages of the turn in which it happened.
    messages: Vec<MessageId>,
}

impl Breaker {
    pub(super) fn new(limit: usize, window: Duration) -> Self {
        Self { limit: limit.max(1), window, deaths: VecDeque::new(), suspects: Vec::new() }
    }

    /// Counts a death in a turn with these messages, unless it is laid to a suspect.
    pub(super) fn record(&mut self, now: Now, messages: Vec<MessageId>) {
        self.forget_old(now);
        if messages.iter().any(|id| self.suspects.contains(id)) {
            return;
        }
        self.deaths.push_back(Death { at: now, messages });
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

    /// Returns the messages that were in every death that is counted.
    pub(super) fn suspects(&self) -> Vec<MessageId> {
        let in_all = |id: &MessageId| self.deaths.iter().all(|death| death.messages.contains(id));
        let first = self.deaths.front().map_or(&[][..], |death| &death.messages);
        first.iter().copied().filter(in_all).collect()
    }

    /// One more death within the window opens it again, unless it is a suspect's.
    pub(super) fn half_open(&mut self, now: Now) {
        let suspects = self.suspects();
        if !suspects.is_empty() {
            self.suspects = suspects;
        }
        self.deaths.clear();
        let death = |_| Death { at: now, messages: Vec::new() };
        self.deaths.extend((1..self.limit).map(death));
    }

    fn forget_old(&mut self, now: Now) {
        self.deaths.retain(|death| now.since(death.at) < self.window);
    }
}
