//! The keeper: writes what the agent loop decided, in order, until it is synced.
//!
//! T1, T2 and T3 of a turn reach the disk in the order in which they happened. Records that wait
//! and whose receipt nobody waits for are written together, in their order and in one commit; the
//! others one at a time. While the disk is full or busy it stays at the records that failed, says
//! `degraded` to the agent loop and tries again; nothing is dropped. Owns no state but those records.

use std::{sync::Arc, time::Duration};

use gangline_core::{
    AgentName, ApprovalNumber, Epoch, MessageId, MessageState, TurnId, approval::Decision,
};
use gangline_os::{doorbell, paths::Paths};
use gangline_store::{EndTurn, Entry, How, OpenedApproval, Settle, Store, StoreError, Take};
use tokio::sync::{Notify, mpsc, watch};
use tracing::{error, info, warn};

use crate::bus::{Fatal, Incoming, Record, Ruled};

/// So many records that wait are looked at at once.
const TOGETHER_MAX: usize = 32;
/// The end of a turn comes right behind what the turn used, as a rule; so long the one waits for the
/// other, so that one commit takes both.
const FOLLOWED_WITHIN: Duration = Duration::from_millis(20);
/// How long a failed write waits before it is tried again.
const RETRY_EVERY: Duration = Duration::from_secs(2);

/// The keeper's part of the daemon.
pub(crate) struct Keeper {
    pub(crate) agent: AgentName,
    pub(crate) epoch: Epoch,
    pub(crate) store: Store,
    pub(crate) paths: Paths,
    pub(crate) agent_loop: mpsc::Sender<Incoming>,
    pub(crate) outbox: Arc<Notify>,
    pub(crate) rescan: Arc<Notify>,
    /// Counts what this daemon has committed, for those who read along.
    pub(crate) committed: watch::Sender<u64>,
    pub(crate) fatal: mpsc::Sender<Fatal>,
    /// How many turns one root cause may have.
    pub(crate) turns_per_cause: i64,
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
        let mut waiting = Vec::new();
        while records.recv_many(&mut waiting, TOGETHER_MAX).await > 0 {
            if waiting.iter().all(|record| matches!(record, Record::Usage(_))) {
                let next = records.recv_many(&mut waiting, TOGETHER_MAX);
                // None came: then it goes alone.
                let _ = tokio::time::timeout(FOLLOWED_WITHIN, next).await;
            }
            if self.write_all(waiting.drain(..)).await.is_err() {
                return;
            }
        }
    }

    /// Writes in order: together what can be, the rest one by one.
    async fn write_all(&self, records: impl Iterator<Item = Record>) -> Result<(), GivenUp> {
        let mut together = Vec::new();
        for record in records {
            if goes_together(&record) {
                together.push(record);
                continue;
            }
            self.write_together(std::mem::take(&mut together)).await?;
            self.write(record).await?;
            self.committed.send_modify(|count| *count += 1);
        }
        self.write_together(together).await
    }

    /// Writes all in one commit, and then tells those who go on from it.
    async fn write_together(&self, records: Vec<Record>) -> Result<(), GivenUp> {
        if records.is_empty() {
            return Ok(());
        }
        self.until_all_written(records.iter().collect()).await?;
        self.committed.send_modify(|count| *count += 1);
        for record in records {
            match record {
                Record::End(end) => {
                    self.outbox.notify_one();
                    // Messages that went back wait again.
                    self.rescan.notify_one();
                    let woken = end.sends.iter().filter_map(|send| send.deliver.as_ref());
                    for message in woken {
                        doorbell::ring(&self.paths.doorbell(message.agent.as_str()));
                    }
                }
                Record::Say(_) => self.outbox.notify_one(),
                Record::Agent(update) if update.ready => {
                    info!("ready");
                    doorbell::ring(&self.paths.doorbell("hub"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns what is written of a record that [`goes_together`] with others.
    fn entry(&self, record: &Record) -> Option<Entry> {
        match record {
            Record::Events(events) => Some(Entry::Events(events.clone())),
            Record::Usage(usage) => Some(Entry::Usage((**usage).clone())),
            Record::Agent(update) => {
                Some(Entry::Agent(self.agent.clone(), self.epoch, update.clone()))
            }
            Record::Delivered(number) => Some(Entry::Delivered(*number)),
            Record::Say(send) => Some(Entry::Send(send.clone())),
            Record::End(end) => Some(Entry::End((**end).clone())),
            Record::Take { .. }
            | Record::Join { .. }
            | Record::Approval(_)
            | Record::Withdraw(_)
            | Record::Paused(_)
            | Record::LookAtPause { .. } => None,
        }
    }

    async fn write(&self, record: Record) -> Result<(), GivenUp> {
        match record {
            Record::Take { turn, messages, prompt_uuid } => {
                self.take(turn, messages, prompt_uuid).await
            }
            Record::Join { turn, messages, prompt_uuid, how } => {
                self.join(self.taking((turn, how), messages, prompt_uuid)).await
            }
            Record::Approval(open) => {
                let (turn, request) = (open.turn, open.request.clone());
                let done = self.until_written(&Record::Approval(open)).await?;
                self.outbox.notify_one();
                if let Some(Done::Opened(opened)) = done {
                    let number = opened.number;
                    let decided = match opened.decided {
                        Some(decision) => Some(self.ruled(number, decision).await),
                        None => None,
                    };
                    self.tell(Incoming::Opened { number, turn, request, decided }).await;
                }
                Ok(())
            }
            Record::Withdraw(withdraw) => {
                self.until_written(&Record::Withdraw(withdraw)).await?;
                self.outbox.notify_one();
                Ok(())
            }
            Record::LookAtPause { words } => {
                match self.store.agent(&self.agent).await {
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

    async fn attempt(&self, record: &Record) -> Result<Done, StoreError> {
        let store = &self.store;
        match record {
            Record::Approval(open) => store.open_approval((**open).clone()).await.map(Done::Opened),
            Record::Withdraw(withdraw) => {
                store.withdraw_approval((**withdraw).clone()).await.map(|_| Done::Written)
            }
            Record::Paused(true) => store.pause(&self.agent).await.map(|()| Done::Written),
            Record::Paused(false) => store.resume(&self.agent).await.map(|()| Done::Written),
            Record::Take { .. }
            | Record::Join { .. }
            | Record::LookAtPause { .. }
            | Record::End(_)
            | Record::Events(_)
            | Record::Usage(_)
            | Record::Agent(_)
            | Record::Delivered(_)
            | Record::Say(_) => Ok(Done::Written),
        }
    }

    /// Returns who decided and why; nobody where the store does not tell.
    async fn ruled(&self, number: ApprovalNumber, decision: Decision) -> Ruled {
        let row = self.store.approval(number).await.ok().flatten();
        let ruled = row.as_ref().and_then(Ruled::of);
        ruled.unwrap_or_else(|| Ruled { decision, by: String::new(), reason: None })
    }

    fn taking(
        &self,
        (turn, how): (TurnId, How),
        messages: Vec<MessageId>,
        prompt_uuid: String,
    ) -> Take {
        let (agent, turns_per_cause) = (self.agent.clone(), self.turns_per_cause);
        Take { agent, turn, messages, prompt_uuid, how, turns_per_cause }
    }

    /// A limit was reached, and the line that tells of it stands in somebody's outbox.
    fn ring_teller(&self, teller: Option<&AgentName>) {
        match teller {
            Some(agent) if *agent == self.agent => self.outbox.notify_one(),
            Some(agent) => doorbell::ring(&self.paths.doorbell(agent.as_str())),
            None => {}
        }
    }

    /// T1. A take that may or may not be written is undone, so that no message stays in a turn
    /// that never was.
    async fn take(
        &self,
        turn: TurnId,
        messages: Vec<MessageId>,
        prompt_uuid: String,
    ) -> Result<(), GivenUp> {
        let take = self.taking((turn, How::Woke), messages.clone(), prompt_uuid);
        match self.store.take(take).await {
            Ok(taken) => {
                self.ring_teller(taken.teller.as_ref());
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
                self.until_all_written(vec![&Record::End(Box::new(undo))]).await?;
                self.tell(Incoming::TakeFailed { turn }).await;
                // The undo is written, so the store writes again.
                self.tell(Incoming::StoreOk).await;
                Ok(())
            }
            Err(error) => self.give_up(error).await,
        }
    }

    /// Messages join the turn; what is not waiting any more stays where it is. Tried until the store
    /// takes it: what was not known to be written would stand in the turn all the same.
    async fn join(&self, take: Take) -> Result<(), GivenUp> {
        let (turn, how) = (take.turn, take.how);
        let mut failed = false;
        let gone = loop {
            match self.store.take(take.clone()).await {
                Ok(taken) => {
                    self.ring_teller(taken.teller.as_ref());
                    let joined: Vec<_> = taken.attempts.iter().map(|(id, _)| *id).collect();
                    if how == How::Steered && !joined.is_empty() {
                        self.tell(Incoming::Joined { turn, messages: joined }).await;
                    }
                    break taken.gone;
                }
                Err(error) if waiting_helps(&error) => {
                    failed = true;
                    self.degraded(&error).await;
                    self.pause_before_retry().await;
                }
                Err(StoreError::TurnNotOpen { .. }) => break take.messages,
                Err(error) => return self.give_up(error).await,
            }
        };
        if failed {
            self.tell(Incoming::StoreOk).await;
        }
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
                Err(StoreError::TurnNotOpen { .. }) => {
                    if failed {
                        self.tell(Incoming::StoreOk).await;
                    }
                    return Ok(None);
                }
                Err(error) => return self.give_up(error).await,
            }
        }
    }

    /// Tries until all are written, in one commit.
    async fn until_all_written(&self, mut records: Vec<&Record>) -> Result<(), GivenUp> {
        let mut failed = false;
        while let Some(error) = self.try_all(&mut records).await? {
            failed = true;
            self.degraded(&error).await;
            self.pause_before_retry().await;
        }
        if failed {
            self.tell(Incoming::StoreOk).await;
        }
        Ok(())
    }

    /// Tries once. Keeps those that are to be tried again, and returns why.
    async fn try_all(&self, records: &mut Vec<&Record>) -> Result<Option<StoreError>, GivenUp> {
        let entries = records.iter().filter_map(|record| self.entry(record)).collect();
        let results = match self.store.together(entries).await {
            Ok(results) => results,
            Err(error) if waiting_helps(&error) => return Ok(Some(error)),
            Err(error) => return self.give_up(error).await,
        };
        let (mut again, mut why) = (Vec::new(), None);
        for (record, result) in records.drain(..).zip(results) {
            match result {
                // Of a turn that had ended already an earlier try had written the end after all.
                Ok(()) | Err(StoreError::TurnNotOpen { .. }) => {}
                Err(error) if waiting_helps(&error) => {
                    again.push(record);
                    why = Some(error);
                }
                Err(error) => return self.give_up(error).await,
            }
        }
        *records = again;
        Ok(why)
    }

    async fn pause_before_retry(&self) {
        tokio::time::sleep(RETRY_EVERY).await;
    }

    async fn degraded(&self, error: &StoreError) {
        warn!(%error, "the store cannot write");
        self.tell(Incoming::StoreDegraded(error.to_string())).await;
    }

    async fn give_up<T>(&self, error: StoreError) -> Result<T, GivenUp> {
        error!(%error, "the store cannot go on");
        let fatal = match error {
            StoreError::Fenced { .. } => Fatal::Fenced(error.to_string()),
            StoreError::Corrupt { .. } => Fatal::Corrupt(error.to_string()),
            other => Fatal::TaskEnded(other.to_string()),
        };
        let _ = self.fatal.send(fatal).await;
        Err(GivenUp)
    }

    async fn tell(&self, incoming: Incoming) {
        // The agent loop outlives the keeper's work; if it is gone, the root knows already.
        let _ = self.agent_loop.send(incoming).await;
    }
}

/// Whether nobody waits for the record's receipt.
fn goes_together(record: &Record) -> bool {
    match record {
        Record::Events(_)
        | Record::Usage(_)
        | Record::Agent(_)
        | Record::Delivered(_)
        | Record::Say(_)
        | Record::End(_) => true,
        Record::Take { .. }
        | Record::Join { .. }
        | Record::Approval(_)
        | Record::Withdraw(_)
        | Record::Paused(_)
        | Record::LookAtPause { .. } => false,
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
pub(crate) fn waiting_helps(error: &StoreError) -> bool {
    match error {
        StoreError::Busy { .. } | StoreError::Degraded { .. } => true,
        StoreError::Fenced { .. }
        | StoreError::TurnNotOpen { .. }
        | StoreError::UnknownMessage(_)
        | StoreError::Invalid(_)
        | StoreError::Corrupt { .. }
        | StoreError::Engine { .. }
        | StoreError::Closed => false,
    }
}

#[cfg(test)]
mod tests;
