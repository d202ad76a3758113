//! The inbox: tells the agent loop what waits in the store.
//!
//! The doorbell is a hint, the table is the truth: it looks at every ring, after every turn, when
//! a message falls due, and at the tick that all timers of the daemon share.

use std::{path::PathBuf, sync::Arc, time::Duration};

use gangline_core::{AgentName, Epoch, model::ModelName, recovery::SentLine};
use gangline_os::{CancellationToken, clock::SharedClock, doorbell::Doorbell};
use gangline_store::{MessageRow, Store};
use tokio::sync::{Notify, mpsc, watch};
use tracing::warn;

use crate::{
    bus::{Incoming, Ruled},
    model,
};

/// The one period of everything in an idle daemon.
pub(crate) const TICK: Duration = Duration::from_secs(30);
/// Messages told in one look; the agent loop holds no more, and asks again when these are done.
const LOOK_LIMIT: u32 = 256;

/// A message that waits, with what an earlier attempt at it said already.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) row: MessageRow,
    pub(crate) said: Vec<SentLine>,
}

/// The inbox's part of the daemon.
pub(crate) struct Inbox {
    pub(crate) agent: AgentName,
    pub(crate) epoch: Epoch,
    pub(crate) store: Store,
    pub(crate) clock: SharedClock,
    /// Where the model stands that somebody chose, and which one that was.
    pub(crate) model_file: PathBuf,
    pub(crate) model_outside: Option<PathBuf>,
    pub(crate) model: Option<ModelName>,
    pub(crate) agent_loop: mpsc::Sender<Incoming>,
    pub(crate) rescan: Arc<Notify>,
    pub(crate) outbox: Arc<Notify>,
    pub(crate) bell: Doorbell,
    /// Counts looks: something may have been committed, by whomever.
    pub(crate) committed: watch::Sender<u64>,
    /// Counts the ticks for the tasks that share them.
    pub(crate) ticks: watch::Sender<u64>,
}

enum Event {
    Changed,
    Rescan,
    Tick,
    Due,
    Stop,
}

impl Inbox {
    /// Looks until it is stopped. Cancel-safe: it changes nothing in the store.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut due = self.look().await;
        loop {
            let falls_due = async {
                match due {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            let event = tokio::select! {
                () = stop.cancelled() => Event::Stop,
                () = self.bell.rung() => Event::Changed,
                () = self.rescan.notified() => Event::Rescan,
                _ = tick.tick() => Event::Tick,
                () = falls_due => Event::Due,
            };
            match event {
                Event::Stop => return,
                Event::Tick => {
                    self.ticks.send_modify(|count| *count += 1);
                    match self.bell.renew() {
                        Ok(true) => warn!("the doorbell was gone, and is there again"),
                        Ok(false) => {}
                        Err(error) => warn!(%error, "the doorbell is gone"),
                    }
                    self.look_at_orders().await;
                }
                Event::Changed => {
                    // Another process may have put something into the outbox too.
                    self.outbox.notify_one();
                    self.look_at_orders().await;
                }
                Event::Rescan | Event::Due => {}
            }
            self.committed.send_modify(|count| *count += 1);
            due = self.look().await;
        }
    }

    /// Another process may have paused the agent, or chosen a model for it.
    async fn look_at_orders(&mut self) {
        let _ = self.agent_loop.send(Incoming::LookAtPause).await;
        let model = model::current(&self.model_file, self.model_outside.as_deref());
        if model != self.model {
            self.model.clone_from(&model);
            let _ = self.agent_loop.send(Incoming::Choose(model)).await;
        }
    }

    /// Tells what waits; returns when the next message falls due.
    async fn look(&self) -> Option<Duration> {
        let now = self.clock.now();
        let rows = match self.store.pending(&self.agent, now, LOOK_LIMIT).await {
            Ok(rows) => rows,
            Err(error) => {
                warn!(%error, "cannot read the inbox");
                return None;
            }
        };
        for row in rows {
            let said = if row.takes > 0 { self.said(&row).await } else { Vec::new() };
            if self
                .agent_loop
                .send(Incoming::Message(Box::new(Waiting { row, said })))
                .await
                .is_err()
            {
                return None;
            }
        }
        self.decisions().await;
        self.ended_causes().await;
        let next = self.store.next_due(&self.agent, now).await.ok().flatten();
        next.map(|at| at.since(now))
    }

    /// Somebody may have ended the cause of the open turn.
    async fn ended_causes(&self) {
        match self.store.turns_to_end(&self.agent).await {
            Ok(turns) => {
                for turn in turns {
                    if self.agent_loop.send(Incoming::EndTurn { turn }).await.is_err() {
                        return;
                    }
                }
            }
            Err(error) => warn!(%error, "cannot read ended causes"),
        }
    }

    async fn decisions(&self) {
        let decided = match self.store.undelivered_decisions(&self.agent, self.epoch).await {
            Ok(decided) => decided,
            Err(error) => return warn!(%error, "cannot read decisions"),
        };
        for approval in decided {
            let Some(ruled) = Ruled::of(&approval) else { continue };
            let incoming = Incoming::Decided {
                number: approval.number,
                turn: approval.turn,
                request: approval.request,
                ruled,
            };
            if self.agent_loop.send(incoming).await.is_err() {
                return;
            }
        }
    }

    /// What earlier turns of this message sent by tool: the agent shall not say it again.
    async fn said(&self, row: &MessageRow) -> Vec<SentLine> {
        let trace = self.store.trace(row.id).await.ok().flatten();
        let lines = trace.map(|trace| trace.outbox).unwrap_or_default();
        lines
            .into_iter()
            .filter(|line| line.idem_key.starts_with('t'))
            .map(|line| SentLine { to: line.target, text: line.body.as_str().to_owned() })
            .collect()
    }
}
