//! Calls that are held open until their question is answered (`irc_ask`, R1-16).
//!
//! A call that ends without its answer, since its caller is gone, leaves the question open: the answer
//! then comes to the inbox. Whoever holds a call says so here before it asks, so that nothing is lost
//! between both. Start at [`Calls::run`].

use std::{future::poll_fn, pin::Pin, sync::Arc, task::Poll, time::Duration};

use gangline_core::AgentName;
use gangline_os::{
    CancellationToken,
    clock::{self, SharedClock},
};
use gangline_store::{Got, Store, StoreError, Waited};
use tokio::sync::{Notify, mpsc, oneshot};
use tracing::{debug, warn};

/// The most calls that wait for this task to hear of them.
pub(crate) const CALLS_QUEUE: usize = 64;
/// After a write that failed.
const AGAIN: Duration = Duration::from_secs(2);

/// A call that is about to ask.
#[derive(Debug)]
pub(crate) struct Call {
    /// The key of its question.
    pub(crate) request: String,
    /// Told once the caller has its answer; dropped when it is gone.
    pub(crate) answered: oneshot::Receiver<()>,
}

/// Why the task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallsEnd {
    /// The daemon takes nothing in any more; its successor ends the calls.
    Closed,
}

/// See the module.
pub(crate) struct Calls {
    pub(crate) agent: AgentName,
    pub(crate) store: Store,
    pub(crate) clock: SharedClock,
    /// The loop looks for messages.
    pub(crate) rescan: Arc<Notify>,
}

impl Calls {
    /// Ends the wait of each call when its caller has the answer or is gone. Cancel-safe: no.
    pub(crate) async fn run(
        self,
        mut calls: mpsc::Receiver<Call>,
        closed: CancellationToken,
    ) -> CallsEnd {
        let (mut open, mut over): (Vec<Call>, Vec<Waited>) = (Vec::new(), Vec::new());
        loop {
            let again = async {
                match over.is_empty() {
                    true => std::future::pending().await,
                    false => clock::sleep(&self.clock, AGAIN).await,
                }
            };
            tokio::select! {
                () = closed.cancelled() => return CallsEnd::Closed,
                Some(call) = calls.recv() => open.push(call),
                waited = next_end(&mut open) => over.push(waited),
                () = again => {}
            }
            let mut left = Vec::new();
            for waited in over {
                if let Err(error) = self.end(waited.clone()).await {
                    warn!(%error, "cannot end a call; trying again");
                    left.push(waited);
                }
            }
            over = left;
        }
    }

    async fn end(&self, waited: Waited) -> Result<(), StoreError> {
        match self.store.stop_waiting(&self.agent, waited).await {
            Ok(messages) => {
                debug!(?messages, "a call is over");
                if !messages.is_empty() {
                    self.rescan.notify_one();
                }
                Ok(())
            }
            // The successor ends them.
            Err(StoreError::Fenced { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Waits until one of the calls is over, and takes it out. Cancel-safe: yes.
async fn next_end(open: &mut Vec<Call>) -> Waited {
    poll_fn(|context| {
        for at in 0..open.len() {
            if let Poll::Ready(told) = Pin::new(&mut open[at].answered).poll(context) {
                let got = if told.is_ok() { Got::Answer } else { Got::Nothing };
                let request = open.swap_remove(at).request;
                return Poll::Ready(Waited::Request { request, got });
            }
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests;
