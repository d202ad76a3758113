//! A sender for a bounded queue that never waits: it holds what does not fit.
//!
//! The agent loop never awaits a send. What must still go is kept in order and flushed by
//! [`Outgoing::room`], an arm of the agent loop's `select!`.

use std::collections::VecDeque;

use tokio::sync::mpsc::{self, error::TrySendError};

/// The sending end.
pub(crate) struct Outgoing<T> {
    sender: mpsc::Sender<T>,
    waiting: VecDeque<T>,
}

impl<T> Outgoing<T> {
    pub(crate) fn new(sender: mpsc::Sender<T>) -> Self {
        Self { sender, waiting: VecDeque::new() }
    }

    /// Sends, or keeps for later, in order.
    pub(crate) fn push(&mut self, item: T) {
        if !self.waiting.is_empty() {
            self.waiting.push_back(item);
            return;
        }
        match self.sender.try_send(item) {
            Ok(()) | Err(TrySendError::Closed(_)) => {}
            Err(TrySendError::Full(item)) => self.waiting.push_back(item),
        }
    }

    /// Returns how many items wait for room.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Waits until something that waits can go, and sends it; never returns while nothing waits.
    /// Cancel-safe: an item leaves the queue only with its place.
    pub(crate) async fn room(&mut self) {
        if self.waiting.is_empty() {
            std::future::pending::<()>().await;
        }
        match self.sender.reserve().await {
            Ok(place) => {
                if let Some(item) = self.waiting.pop_front() {
                    place.send(item);
                }
            }
            Err(_) => self.waiting.clear(),
        }
    }
}

#[cfg(test)]
mod tests;
