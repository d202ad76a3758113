//! The way of whispers from the agent loop to the tasks that answer the agent (C9).
//!
//! A task that is about to answer the agent takes what waits ([`Waiting::take`](crate::carrying::Waiting::take)), and tells when the
//! answer is written. The loop hears of both, so that no whisper goes two ways; it polls
//! [`InTransit::next`].

use std::{future::poll_fn, pin::Pin, task::Poll};

use gangline_core::{
    TurnId,
    whisper::{self, WhisperKind, WhisperRoad, pool::Batch},
};
use tokio::sync::oneshot;

/// The most batches that answers may have taken and not written; beyond it they carry none.
pub(crate) const IN_TRANSIT_MAX: usize = 16;

/// Whispers that an answer carries. Dropped without [`Carried::arrived`], they wait again.
#[derive(Debug)]
pub(crate) struct Carried {
    /// What they ask and say, oldest first.
    pub(crate) whispers: Vec<(WhisperKind, String)>,
    told: oneshot::Sender<()>,
}

impl Carried {
    /// Returns them as they stand in front of a result (R1-17).
    pub(crate) fn text(&self) -> String {
        whisper::lines(self.whispers.iter().map(|(kind, text)| (*kind, text.as_str())))
    }

    /// The answer is written.
    pub(crate) fn arrived(self) {
        // The loop has ended: the successor delivers them once more.
        let _ = self.told.send(());
    }

    /// Returns what tells that the answer is written.
    pub(crate) fn into_told(self) -> oneshot::Sender<()> {
        self.told
    }
}

/// A request of a task for what waits.
#[derive(Debug)]
pub(crate) struct Taking {
    pub(crate) road: WhisperRoad,
    pub(crate) reply: oneshot::Sender<Carried>,
}

/// A batch that an answer carries.
#[derive(Debug)]
pub(crate) struct Transit {
    pub(crate) batch: Batch,
    pub(crate) road: WhisperRoad,
    pub(crate) turn: TurnId,
    told: oneshot::Receiver<()>,
}

/// The batches that answers carry.
#[derive(Debug, Default)]
pub(crate) struct InTransit(Vec<Transit>);

impl InTransit {
    /// Says whether one more may be taken.
    pub(crate) fn has_room(&self) -> bool {
        self.0.len() < IN_TRANSIT_MAX
    }

    /// Begins one; returns what its answer carries.
    pub(crate) fn begin(
        &mut self,
        batch: Batch,
        (road, turn): (WhisperRoad, TurnId),
        whispers: Vec<(WhisperKind, String)>,
    ) -> Carried {
        let (tell, told) = oneshot::channel();
        self.0.push(Transit { batch, road, turn, told });
        Carried { whispers, told: tell }
    }

    /// Waits for the next batch of which it is known whether it arrived. Cancel-safe: yes.
    pub(crate) async fn next(&mut self) -> (Transit, bool) {
        poll_fn(|context| {
            for at in 0..self.0.len() {
                if let Poll::Ready(told) = Pin::new(&mut self.0[at].told).poll(context) {
                    return Poll::Ready((self.0.swap_remove(at), told.is_ok()));
                }
            }
            Poll::Pending
        })
        .await
    }
}
