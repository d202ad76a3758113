//! What a task asks that is about to answer the agent: the whispers that its answer may carry (C9).

use gangline_core::whisper::WhisperRoad;
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    bus::Incoming,
    whispers::{Carried, Taking},
};

/// What a task asks that answers the agent.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    /// How many wait.
    pub(crate) count: watch::Receiver<usize>,
    pub(crate) agent_loop: mpsc::Sender<Incoming>,
}

impl Waiting {
    /// Takes what waits, for an answer to the agent itself; `None` if nothing does, or no turn is
    /// open. Cancel-safe: yes; what was taken waits again.
    pub(crate) async fn take(&self, road: WhisperRoad) -> Option<Carried> {
        if *self.count.borrow() == 0 {
            return None;
        }
        let (reply, carried) = oneshot::channel();
        let taking = Incoming::TakeWhispers(Taking { road, reply });
        self.agent_loop.send(taking).await.ok()?;
        carried.await.ok()
    }
}

#[cfg(test)]
impl Waiting {
    /// Nothing ever waits.
    pub(crate) fn nothing() -> Self {
        Self { count: watch::channel(0).1, agent_loop: mpsc::channel(1).0 }
    }
}
