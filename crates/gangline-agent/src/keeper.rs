//! The keeper: writes what the brain decided, in order, until it is synced.
//!
//! One record at a time, so that T1, T2 and T3 of a turn reach the disk in the order in which
//! they happened. While the disk is full or busy it stays at the record that failed, says
//! `degraded` to the brain and tries again; nothing is dropped. Owns no state but that record.

use std::{sync::Arc, time::Duration};

use gangline_broker::{Broker, BrokerError, EndTurn, How, OpenedApproval, Settle, Take};
use gangline_core::{AgentName, ApprovalNumber, Epoch, MessageId, MessageState, TurnId};
use gangline_os::{doorbell, paths::Paths};
use tokio::sync::{Notify, mpsc, watch};
use tracing::{error, warn};

use crate::bus::{Fatal, Incoming, Record};

/// How long a failed write waits before it is tried again.
const RETRY_EVERY: Duration = Duration::from_secs(2);

/// The keeper's part of the daemon.
pub(crate) struct Keeper {
    pub(crate) agent: AgentName,
    pub(crate) epoch: Epoch,
    pub(crate) broker: Broker,
    pub(crate) paths: Paths,
    pub(crate) brain: mpsc::Sender<Incoming>,
    pub(crate) outbox: Arc<Notify>,
    pub(crate) rescan: Arc<Notify>,
    /// Counts what this daemon has committed, for those who read along.
    pub(crate) committed: watch::Sender<u64>,
    pub(crate) fatal: mpsc::Sender<Fatal>,
}

/// What a write gave.
enum Done {
    Written,
    Opened(OpenedApproval),
}

/// The store said something that no waiting cures; [`Fatal`] was sent.
struct GivenUp;

impl Keeper {
    /// Writes until the senders are gone. Not cancel-safe: a record under way would be lost.
    pub(crate) async fn run(self, mut records: mpsc::Receiver<Record>) {
        while let Some(record) = records.recv().await {
            if self.write(record).await.is_err() {
                return;
            }
            self.committed.send_modify(|count| *count += 1);
        }
    }

    async fn write(&self, record: Record) -> Result<(), GivenUp> {
        match record {
            Record::Take { turn, messages, prompt_uuid } => {
                self.take(turn, messages, prompt_uuid).await
            }
            Record::Join { turn, messages, prompt_uuid, how } => {
                let agent = self.agent.clone();
                self.join(Take { agent, turn, messages, prompt_uuid, how }).await
            }
            Record::Approval(open) => {
                let (turn, request) = (open.turn, open.request.clone());
                let done = self.until_written(&Record::Approval(open)).await?;
                self.outbox.notify_one();
                if let Some(Done::Opened(opened)) = done {
                    let number = opened.number;
                    let decided = match opened.decided {
                        Some(decision) => Some((decision, self.decided_by(number).await)),
                        None => None,
                    };
                    self.tell(Incoming::Opened { number, turn, request, decided }).await;
                }
                Ok(())
            }
            Record::End(end) => {
                let recipients: Vec<AgentName> = end
                    .sends
                    .iter()
                    .filter_map(|send| send.deliver.as_ref())
                    .map(|message| message.agent.clone())
                    .collect();
                self.until_written(&Record::End(end)).await?;
                self.outbox.notify_one();
                // Messages that went back wait again.
                self.rescan.notify_one();
                for agent in recipients {
                    doorbell::ring(&self.paths.doorbell(agent.as_str()));
                }
                Ok(())
            }
            Record::Say(send) => {
                self.until_written(&Record::Say(send)).await?;
                self.outbox.notify_one();
                Ok(())
            }
            Record::LookAtPause { words } => {
                match self.broker.agent(&self.agent).await {
                    Ok(Some(row)) => {
                        self.tell(Incoming::PausedRow { paused: row.paused, words }).await;
                    }
                    Ok(None) => {}
                    Err(error) => warn!(%error, "cannot read whether the agent is paused"),
                }
                Ok(())
            }
            other => self.until_written(&other).await.map(drop),
        }
    }

    async fn attempt(&self, record: &Record) -> Result<Done, BrokerError> {
        let broker = &self.broker;
        match record {
            Record::Take { .. } | Record::Join { .. } | Record::LookAtPause { .. } => {
                Ok(Done::Written)
            }
            Record::Approval(open) => {
                broker.open_approval((**open).clone()).await.map(Done::Opened)
            }
            Record::End(end) => broker.end_turn((**end).clone()).await.map(|_| Done::Written),
            Record::Events(events) => broker.append(events.clone()).await.map(|_| Done::Written),
            Record::Usage(usage) => {
                broker.add_usage((**usage).clone()).await.map(|()| Done::Written)
            }
            Record::Agent(update) => broker
                .set_agent(&self.agent, self.epoch, update.clone())
                .await
                .map(|()| Done::Written),
            Record::Paused(true) => broker.pause(&self.agent).await.map(|()| Done::Written),
            Record::Paused(false) => broker.resume(&self.agent).await.map(|()| Done::Written),
            Record::Delivered(number) => {
                broker.mark_delivered(*number).await.map(|()| Done::Written)
            }
            Record::Say(send) => broker.send((**send).clone()).await.map(|_| Done::Written),
        }
    }

    /// Returns who decided, for the record; nobody where the store does not tell.
    async fn decided_by(&self, number: ApprovalNumber) -> String {
        let row = self.broker.approval(number).await.ok().flatten();
        row.and_then(|row| row.decided_by).map(|by| by.account).unwrap_or_default()
    }

    /// T1. A take that may or may not be written is undone, so that no message stays in a turn
    /// that never was.
    async fn take(
        &self,
        turn: TurnId,
        messages: Vec<MessageId>,
        prompt_uuid: String,
    ) -> Result<(), GivenUp> {
        let take = Take {
            agent: self.agent.clone(),
            turn,
            messages: messages.clone(),
            prompt_uuid,
            how: How::Woke,
        };
        match self.broker.take(take).await {
            Ok(taken) => {
                self.tell(Incoming::Taken { turn, attempts: taken.attempts, gone: taken.gone })
                    .await;
                Ok(())
            }
            Err(error) if waiting_helps(&error) => {
                self.degraded(&error).await;
                let settle = messages.into_iter().map(back_in_the_queue).collect();
                let undo = EndTurn {
                    agent: self.agent.clone(),
                    turn,
                    outcome: "lost".to_owned(),
                    settle,
                    sends: Vec::new(),
                    events: Vec::new(),
                    withdraw_approvals: None,
                };
                self.pause_before_retry().await;
                self.until_written(&Record::End(Box::new(undo))).await?;
                self.tell(Incoming::TakeFailed { turn }).await;
                // The undo is written, so the store writes again.
                self.tell(Incoming::StoreOk).await;
                Ok(())
            }
            Err(error) => self.give_up(error).await,
        }
    }

    /// Messages join the turn; what cannot stays in the queue.
    async fn join(&self, take: Take) -> Result<(), GivenUp> {
        let (turn, messages, how) = (take.turn, take.messages.clone(), take.how);
        let gone = match self.broker.take(take).await {
            Ok(taken) => {
                let joined: Vec<_> = taken.attempts.iter().map(|(id, _)| *id).collect();
                if how == How::Steered && !joined.is_empty() {
                    self.tell(Incoming::Joined { turn, messages: joined }).await;
                }
                taken.gone
            }
            Err(error) if waiting_helps(&error) => {
                self.degraded(&error).await;
                messages
            }
            Err(BrokerError::TurnNotOpen { .. }) => messages,
            Err(error) => return self.give_up(error).await,
        };
        if !gone.is_empty() {
            self.tell(Incoming::JoinFailed { turn, messages: gone }).await;
            self.rescan.notify_one();
        }
        Ok(())
    }

    /// Tries until it is written. Returns none if the turn had ended already: then an earlier
    /// try had been written after all.
    async fn until_written(&self, record: &Record) -> Result<Option<Done>, GivenUp> {
        let mut failed = false;
        loop {
            match self.attempt(record).await {
                Ok(value) => {
                    if failed {
                        self.tell(Incoming::StoreOk).await;
                    }
                    return Ok(Some(value));
                }
                Err(error) if waiting_helps(&error) => {
                    failed = true;
                    self.degraded(&error).await;
                    self.pause_before_retry().await;
                }
                Err(BrokerError::TurnNotOpen { .. }) => {
                    if failed {
                        self.tell(Incoming::StoreOk).await;
                    }
                    return Ok(None);
                }
                Err(error) => return self.give_up(error).await,
            }
        }
    }

    async fn pause_before_retry(&self) {
        tokio::time::sleep(RETRY_EVERY).await;
    }

    async fn degraded(&self, error: &BrokerError) {
        warn!(%error, "the store cannot write");
        self.tell(Incoming::StoreDegraded(error.to_string())).await;
    }

    async fn give_up<T>(&self, error: BrokerError) -> Result<T, GivenUp> {
        error!(%error, "the store cannot go on");
        let fatal = match error {
            BrokerError::Fenced { .. } => Fatal::Fenced(error.to_string()),
            BrokerError::Corrupt { .. } => Fatal::Corrupt(error.to_string()),
            other => Fatal::TaskEnded(other.to_string()),
        };
        let _ = self.fatal.send(fatal).await;
        Err(GivenUp)
    }

    async fn tell(&self, incoming: Incoming) {
        // The brain outlives the keeper's work; if it is gone, the root knows already.
        let _ = self.brain.send(incoming).await;
    }
}

fn back_in_the_queue(message: MessageId) -> Settle {
    Settle {
        message,
        state: MessageState::Accepted,
        reason: Some("the turn could not be recorded".to_owned()),
        answer: None,
        not_before: None,
        uncount_attempt: true,
    }
}

/// Returns whether the same write may succeed later.
pub(crate) fn waiting_helps(error: &BrokerError) -> bool {
    match error {
        BrokerError::Busy { .. } | BrokerError::Degraded { .. } => true,
        BrokerError::Fenced { .. }
        | BrokerError::TurnNotOpen { .. }
        | BrokerError::UnknownMessage(_)
        | BrokerError::Invalid(_)
        | BrokerError::Corrupt { .. }
        | BrokerError::Engine { .. }
        | BrokerError::Closed => false,
    }
}
