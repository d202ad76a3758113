//! Steering: texts of people that come while a prompt is running.
//!
//! They wait in a bounded queue until the conversation can take a text of the user: before the next
//! request, after the tool results of the step that runs. What the prompt's end leaves in the
//! queue was not taken, and whoever gave it hears so.

use std::collections::VecDeque;

use tokio::sync::oneshot;

/// How many texts may wait.
pub(super) const QUEUE: usize = 16;

/// Why a text was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SteerError {
    /// No prompt is running.
    #[error("no prompt is running")]
    Idle,
    /// The text is blank.
    #[error("the text is empty")]
    Empty,
    /// Too many texts wait already.
    #[error("{QUEUE} texts wait already")]
    Full,
}

/// A text that was accepted; tells whether it came into the conversation.
#[derive(Debug)]
pub struct Steered(oneshot::Receiver<()>);

impl Steered {
    /// Waits until the text is in the conversation and in the session log (`true`), or the prompt
    /// has ended without it (`false`).
    ///
    /// Cancel-safe: dropping the future does not withdraw the text.
    pub async fn taken(self) -> bool {
        self.0.await.is_ok()
    }
}

/// One text that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) text: String,
    taken: oneshot::Sender<()>,
}

impl Waiting {
    /// Tells whoever gave the text that it is in the conversation.
    pub(super) fn confirm(self) {
        // Nobody has to wait for it.
        let _gone = self.taken.send(());
    }
}

/// The texts that wait, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue(VecDeque<Waiting>);

impl Queue {
    pub(super) fn push(&mut self, text: &str) -> Result<Steered, SteerError> {
        if text.trim().is_empty() {
            return Err(SteerError::Empty);
        }
        if self.0.len() >= QUEUE {
            return Err(SteerError::Full);
        }
        let (taken, steered) = oneshot::channel();
        self.0.push_back(Waiting { text: text.to_owned(), taken });
        Ok(Steered(steered))
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        self.0.pop_front()
    }
}
