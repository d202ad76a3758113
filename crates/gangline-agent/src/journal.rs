//! The journal: the agent loop's way to the store.
//!
//! It writes what the loop decided, in order. T1, T2 and T3 of a turn reach the disk in the order
//! in which they happened. Entries that wait go together in one commit; records whose result the
//! loop needs are written alone. One write runs at a time, as a future that the loop polls
//! ([`Journal::next`]). While the disk is full or the store is busy, the records that failed stay
//! at the head of the queue and are tried again; nothing is dropped.

use std::{collections::VecDeque, pin::Pin, sync::Arc, time::Duration};

use gangline_core::{AgentName, Epoch, MessageId, TurnId, pause::PauseReason};
use gangline_os::{change_notice, clock::UnixMicros, paths::Paths};
use gangline_store::{
    AgentUpdate, EndTurn, Entry, How, NewPause, OpenApproval, Store, StoreError, WithdrawApproval,
};
use tokio::{
    sync::{Notify, watch},
    time::Sleep,
};
use tracing::{error, info, warn};

use crate::{alerts::Raised, bus::Fatal};

mod single;

pub(crate) use single::{Reply, waiting_helps};

/// The most entries that one commit takes.
const TOGETHER_MAX: usize = 32;
/// How long a usage record waits for the turn's end, which usually follows, so that both share a
/// commit.
const FOLLOWED_WITHIN: Duration = Duration::from_millis(20);
/// The pause before a failed write is tried again.
const RETRY_EVERY: Duration = Duration::from_secs(2);

/// What is written, in the order of [`Journal::push`].
#[derive(Debug)]
pub(crate) enum Record {
    /// Written in one commit with the entries beside it. Of them an [`Entry::End`] and an
    /// [`Entry::Whisper`] have a reply, [`Reply::Rescan`], and an [`Entry::Delivered`] has
    /// [`Reply::Delivered`].
    Entry(Entry),
    /// Written alone; its reply reaches the loop.
    Single(Box<Single>),
}

/// A record that is written alone.
#[derive(Debug)]
pub(crate) enum Single {
    /// T1.
    Take { turn: TurnId, messages: Vec<MessageId>, prompt_uuid: String },
    /// Ends a turn whose T1 may or may not have been written.
    Undo(EndTurn),
    /// Messages join the open turn: they were read, or are to be given to it.
    Join { turn: TurnId, messages: Vec<MessageId>, prompt_uuid: String, how: How },
    /// An approval and its announcement.
    Approval(Box<OpenApproval>),
    /// An approval that the backend has withdrawn.
    Withdraw(Box<WithdrawApproval>),
    /// A pause, stored over restarts.
    Pause(Box<NewPause>),
    /// A pause is over; with a time, only one that ends then.
    Unpause { reason: PauseReason, until: Option<UnixMicros> },
    /// Reads what the store has of pauses, after what was written before.
    LookAtPause { words: u64 },
}

impl From<Entry> for Record {
    fn from(entry: Entry) -> Self {
        Self::Entry(entry)
    }
}

impl From<Single> for Record {
    fn from(single: Single) -> Self {
        Self::Single(Box::new(single))
    }
}

/// What the journal writes with, and whom it tells of a commit.
#[derive(Clone)]
pub(crate) struct JournalDeps {
    pub(crate) agent: AgentName,
    pub(crate) epoch: Epoch,
    pub(crate) store: Store,
    pub(crate) paths: Paths,
    /// Told when a commit put lines into the outbox.
    pub(crate) outbox: Arc<Notify>,
    /// Told when a commit raised an alert.
    pub(crate) alerts: Raised,
    /// Counts what this daemon has committed, for those who read along.
    pub(crate) committed: watch::Sender<u64>,
    /// How many turns one root cause may have.
    pub(crate) turns_per_cause: i64,
}

/// The ordered queue of records and the write that runs.
pub(crate) struct Journal {
    deps: Arc<JournalDeps>,
    queue: VecDeque<Record>,
    state: State,
    /// What the loop has yet to be told.
    replies: VecDeque<Reply>,
    degraded: bool,
}

/// A write that runs.
type Write = Pin<Box<dyn Future<Output = Result<Wrote, Fatal>> + Send>>;

enum State {
    Idle,
    /// Only usage waits.
    Lingering(Pin<Box<Sleep>>),
    Writing(Write),
    /// A write failed; what failed is at the head of the queue.
    Retrying(Pin<Box<Sleep>>),
    /// The store cannot be used any more.
    Failed,
}

/// The result of one write.
#[derive(Default)]
struct Wrote {
    /// To be written again, first of all, and why.
    again: Option<(Vec<Record>, StoreError)>,
    replies: Vec<Reply>,
    committed: bool,
}

impl Journal {
    pub(crate) fn new(deps: JournalDeps) -> Self {
        Self {
            deps: Arc::new(deps),
            queue: VecDeque::new(),
            state: State::Idle,
            replies: VecDeque::new(),
            degraded: false,
        }
    }

    /// Adds a record; it is written by the polls of [`Journal::next`] that follow.
    pub(crate) fn push(&mut self, record: impl Into<Record>) {
        let record = record.into();
        if matches!(self.state, State::Lingering(_)) && !is_usage(&record) {
            self.state = State::Idle;
        }
        self.queue.push_back(record);
    }

    /// Adds what the daemon says of itself.
    pub(crate) fn agent(&mut self, update: AgentUpdate) {
        self.push(Entry::Agent(self.deps.agent.clone(), self.deps.epoch, update));
    }

    /// Returns how many records wait, the write that runs not counted.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Returns what waits, and forgets it.
    #[cfg(test)]
    pub(crate) fn take_waiting(&mut self) -> Vec<Record> {
        self.queue.drain(..).collect()
    }

    /// Says whether everything is written and told.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.replies.is_empty() && !matches!(self.state, State::Writing(_))
    }

    /// Writes until there is something to tell the loop; pending while nothing waits.
    ///
    /// Cancel-safe: yes; the write that runs is a field.
    pub(crate) async fn next(&mut self) -> Reply {
        loop {
            if let Some(reply) = self.replies.pop_front() {
                return reply;
            }
            self.step().await;
        }
    }

    /// Writes all that waits, and drops what the loop would be told of it.
    ///
    /// Cancel-safe: yes.
    ///
    /// # Errors
    /// The store cannot be used any more.
    pub(crate) async fn flush(&mut self) -> Result<(), Fatal> {
        loop {
            while let Some(reply) = self.replies.pop_front() {
                if let Reply::Fatal(fatal) = reply {
                    return Err(fatal);
                }
            }
            if self.is_empty() {
                return Ok(());
            }
            self.step().await;
        }
    }

    /// Goes one state further; pending while nothing waits. Cancel-safe: the state changes after the
    /// only wait.
    async fn step(&mut self) {
        match &mut self.state {
            State::Idle if self.queue.is_empty() => std::future::pending().await,
            State::Idle => self.begin(),
            State::Writing(write) => {
                let wrote = write.await;
                self.state = State::Idle;
                self.finish(wrote);
            }
            State::Lingering(until) | State::Retrying(until) => {
                until.await;
                self.state = State::Idle;
                self.write();
            }
            State::Failed => std::future::pending().await,
        }
    }

    /// Begins the next write, if there is one and it has not to wait.
    fn begin(&mut self) {
        if self.queue.iter().all(is_usage) {
            let until = tokio::time::sleep(FOLLOWED_WITHIN);
            self.state = State::Lingering(Box::pin(until));
            return;
        }
        self.write();
    }

    fn write(&mut self) {
        let deps = Arc::clone(&self.deps);
        let entries = self.leading_entries();
        if !entries.is_empty() {
            self.state = State::Writing(Box::pin(write_together(deps, entries)));
        } else if let Some(Record::Single(single)) = self.queue.pop_front() {
            self.state = State::Writing(Box::pin(single::write(deps, single)));
        }
    }

    fn leading_entries(&mut self) -> Vec<Entry> {
        let mut entries = Vec::new();
        while entries.len() < TOGETHER_MAX {
            match self.queue.pop_front() {
                Some(Record::Entry(entry)) => entries.push(entry),
                Some(single @ Record::Single(_)) => {
                    self.queue.push_front(single);
                    break;
                }
                None => break,
            }
        }
        entries
    }

    fn finish(&mut self, wrote: Result<Wrote, Fatal>) {
        let wrote = match wrote {
            Ok(wrote) => wrote,
            Err(fatal) => {
                error!(?fatal, "the store cannot be used any more");
                self.state = State::Failed;
                return self.replies.push_back(Reply::Fatal(fatal));
            }
        };
        if wrote.committed {
            self.deps.committed.send_modify(|count| *count += 1);
        }
        self.replies.extend(wrote.replies);
        if let Some((again, error)) = wrote.again {
            warn!(%error, "the store cannot write");
            for record in again.into_iter().rev() {
                self.queue.push_front(record);
            }
            self.state = State::Retrying(Box::pin(tokio::time::sleep(RETRY_EVERY)));
            self.degraded = true;
            self.replies.push_back(Reply::Degraded(error.to_string()));
        } else if std::mem::take(&mut self.degraded) {
            self.replies.push_back(Reply::Healthy);
        }
    }
}

fn is_usage(record: &Record) -> bool {
    matches!(record, Record::Entry(Entry::Usage(_)))
}

/// Writes the entries in one commit.
async fn write_together(deps: Arc<JournalDeps>, entries: Vec<Entry>) -> Result<Wrote, Fatal> {
    let results = match deps.store.together(entries.clone()).await {
        Ok(results) => results,
        Err(error) if waiting_helps(&error) => {
            let again = entries.into_iter().map(Record::Entry).collect();
            return Ok(Wrote { again: Some((again, error)), ..Wrote::default() });
        }
        Err(error) => return Err(single::fatal(error)),
    };
    let mut wrote = Wrote { committed: true, ..Wrote::default() };
    let (mut again, mut why) = (Vec::new(), None);
    for (entry, result) in entries.into_iter().zip(results) {
        match result {
            Ok(notify) => {
                notify_all(&deps.paths, &notify);
                wrote.replies.extend(after_commit(&deps, &entry));
            }
            // An earlier try had ended the turn after all: of its result only what it sent is known.
            Err(StoreError::TurnNotOpen { .. }) => {
                notify_all(&deps.paths, &sent_to(&entry));
                wrote.replies.extend(after_commit(&deps, &entry));
            }
            Err(error) if waiting_helps(&error) => {
                again.push(Record::Entry(entry));
                why = Some(error);
            }
            Err(error) => return Err(single::fatal(error)),
        }
    }
    wrote.again = why.map(|why| (again, why));
    Ok(wrote)
}

/// Wakes other agents.
pub(crate) fn notify_all(paths: &Paths, agents: &[AgentName]) {
    for agent in agents {
        change_notice::notify(&paths.change_notice(agent.as_str()));
    }
}

/// Returns the agents that the turn sends messages to.
fn sent_to(entry: &Entry) -> Vec<AgentName> {
    let Entry::End(end) = entry else { return Vec::new() };
    let messages = end.sends.iter().filter_map(|send| send.deliver.as_ref());
    messages.map(|message| message.agent.clone()).collect()
}

/// Wakes the tasks that act on what was written; returns the reply to the loop.
fn after_commit(deps: &JournalDeps, entry: &Entry) -> Option<Reply> {
    match entry {
        Entry::End(_) => {
            deps.outbox.notify_one();
            // Messages that went back wait again.
            Some(Reply::Rescan)
        }
        Entry::Send(_) => {
            deps.outbox.notify_one();
            None
        }
        Entry::Agent(_, _, update) if update.ready => {
            info!("ready");
            change_notice::notify(&deps.paths.change_notice("hub"));
            None
        }
        Entry::Whisper(_) => Some(Reply::Rescan),
        Entry::Delivered(number) => Some(Reply::Delivered { number: *number }),
        Entry::Alert(_) | Entry::AlertUnlessAsked { .. } | Entry::Finding(_) => {
            deps.alerts.tell();
            None
        }
        Entry::Events(_)
        | Entry::Usage(_)
        | Entry::Agent(..)
        | Entry::FindingResolved(..)
        | Entry::SessionDone(..)
        | Entry::Resumed(..)
        | Entry::WhispersDelivered(_) => None,
    }
}

#[cfg(test)]
mod tests;
