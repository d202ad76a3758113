//! `irc.db`: the history, accounts and topics of the embedded server, on disk.
//!
//! One thread owns the only connection; calls reach it by a queue, in order, and are finished even
//! if their caller has gone. `synchronous=FULL`: what is answered is on the disk. Start at
//! [`SqliteHistory::open`].

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use gangline_core::{ChannelName, Nick, Tier};
use gangline_irc::server::{
    events::NewEvent,
    store::{
        Account, Accounts, Appended, BoxFuture, Commit, Entry, FindLine, HistoryError,
        HistoryQuery, HistoryStore, Marker, Marks, Missed, MissedQuery, NewLine, ReadMark, RoomRow,
        StoredLine, TargetRow, TargetsQuery, Topic,
    },
};
use gangline_os::lock::FileLock;
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    look::Look,
    opening::{HistoryOptions, OpenError},
    schema,
    writer::{self, Job},
};

/// Calls that may wait for the thread.
const QUEUE: usize = 256;

/// How long a look waits for who writes.
const LOOK_BUSY: Duration = Duration::from_secs(2);

/// Looks through the whole history for damage, without changing it; a server may have it open.
///
/// # Errors
/// [`OpenError::Damaged`], [`OpenError::NewerSchema`], or [`OpenError::Sqlite`] when it cannot be
/// read.
pub fn look(path: &Path) -> Result<(), OpenError> {
    schema::look(path, LOOK_BUSY)
}

/// The history on disk. The thread ends, and the lock is given back, when this is closed or
/// dropped.
pub struct SqliteHistory {
    jobs: mpsc::Sender<Job>,
    accounts: watch::Receiver<Arc<Accounts>>,
    look: Arc<Look>,
}

impl SqliteHistory {
    /// Takes the lock, opens or makes the database, and reads accounts.
    ///
    /// Cancel-safe: no; dropped, it may leave the thread to open the database and close it again.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open(options: HistoryOptions) -> Result<Self, OpenError> {
        let mut lock_path = options.path.clone().into_os_string();
        lock_path.push(".lock");
        let lock = FileLock::take(&PathBuf::from(lock_path), "irc history");
        let lock = lock.map_err(OpenError::Lock)?;
        let look = Arc::new(Look::new(options.path.clone(), LOOK_BUSY));
        let (jobs, queue) = mpsc::channel(QUEUE);
        let (opened, ready) = oneshot::channel();
        let work = move || writer::run(options, lock, queue, opened);
        gangline_os::task::thread("irc-history", work).map_err(OpenError::Thread)?;
        let gone = || OpenError::Thread(std::io::Error::other("it ended at once"));
        let accounts = ready.await.map_err(|_| gone())??;
        Ok(Self { jobs, accounts, look })
    }

    /// Registers an account, or changes its tier and credential. `sha256` is the credential's
    /// SHA-256 in lower-case hexadecimal. Cancel-safe: a call that has begun is finished.
    ///
    /// # Errors
    /// [`HistoryError`] when it could not be committed.
    pub async fn put_account(
        &self,
        name: &Nick,
        tier: Tier,
        sha256: &str,
    ) -> Result<(), HistoryError> {
        let last_nick = self.accounts.borrow().get(name.as_str()).and_then(|a| a.last_nick.clone());
        let credential_sha256 = sha256.to_ascii_lowercase();
        let account = Account { name: name.clone(), tier, credential_sha256, last_nick };
        HistoryStore::put_account(self, account).await
    }

    /// Finishes what was asked, closes the database and gives the lock back. Calls after it fail.
    pub async fn close(&self) {
        // The log goes into the database with the last connection.
        self.look.stop().await;
        let (done, closed) = oneshot::channel();
        if self.jobs.send(Job::Close(done)).await.is_ok() && closed.await.is_err() {
            tracing::error!("the thread of the IRC history ended without closing");
        }
    }

    fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, HistoryError>>) -> Job,
    ) -> BoxFuture<'_, Result<T, HistoryError>> {
        let (reply, answer) = oneshot::channel();
        let job = job(reply);
        let gone = || HistoryError { why: "the history is closed".to_owned() };
        Box::pin(async move {
            self.jobs.send(job).await.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?
        })
    }
}

impl HistoryStore for SqliteHistory {
    fn append(
        &self,
        batch: Vec<Arc<NewLine>>,
    ) -> BoxFuture<'_, Result<Vec<Appended>, HistoryError>> {
        self.ask(|reply| Job::Append(batch, reply))
    }

    fn history(&self, query: HistoryQuery) -> BoxFuture<'_, Result<Vec<StoredLine>, HistoryError>> {
        self.ask(|reply| Job::History(query, reply))
    }

    fn put_events(
        &self,
        events: Vec<NewEvent>,
        when: Commit,
    ) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.ask(|reply| Job::PutEvents(events, when, reply))
    }

    fn playback(&self, query: HistoryQuery) -> BoxFuture<'_, Result<Vec<Entry>, HistoryError>> {
        self.ask(|reply| Job::Playback(query, reply))
    }

    fn line(&self, msgid: String) -> BoxFuture<'_, Result<Option<StoredLine>, HistoryError>> {
        self.ask(|reply| Job::Line(msgid, reply))
    }

    fn targets(&self, query: TargetsQuery) -> BoxFuture<'_, Result<Vec<TargetRow>, HistoryError>> {
        self.ask(|reply| Job::Targets(query, reply))
    }

    fn find(&self, query: FindLine) -> BoxFuture<'_, Result<Option<StoredLine>, HistoryError>> {
        self.ask(|reply| Job::Find(query, reply))
    }

    fn missed(&self, query: MissedQuery) -> BoxFuture<'_, Result<Vec<Missed>, HistoryError>> {
        self.ask(|reply| Job::Missed(query, reply))
    }

    fn marks(&self) -> BoxFuture<'_, Result<Marks, HistoryError>> {
        self.ask(Job::Marks)
    }

    fn put_marks(
        &self,
        marks: Vec<ReadMark>,
        when: Commit,
    ) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.ask(|reply| Job::PutMarks(marks, when, reply))
    }

    fn accounts(&self) -> watch::Receiver<Arc<Accounts>> {
        self.accounts.clone()
    }

    fn put_account(&self, account: Account) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.ask(|reply| Job::PutAccount(account, reply))
    }

    fn topics(&self) -> BoxFuture<'_, Result<Vec<Topic>, HistoryError>> {
        self.ask(Job::Topics)
    }

    fn put_topic(&self, topic: Topic) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.ask(|reply| Job::PutTopic(topic, reply))
    }

    fn forget_topic(&self, channel: ChannelName) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.ask(|reply| Job::ForgetTopic(channel, reply))
    }

    fn markers(&self) -> BoxFuture<'_, Result<Vec<Marker>, HistoryError>> {
        self.ask(Job::Markers)
    }

    fn put_marker(&self, marker: Marker) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.ask(|reply| Job::PutMarker(marker, reply))
    }

    fn redact(&self, seq: i64) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.ask(|reply| Job::Redact(seq, reply))
    }

    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomRow>, HistoryError>> {
        self.ask(Job::Rooms)
    }

    fn put_room(&self, room: RoomRow) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.ask(|reply| Job::PutRoom(room, reply))
    }

    fn forget_room(&self, channel: ChannelName) -> BoxFuture<'_, Result<(), HistoryError>> {
        self.ask(|reply| Job::ForgetRoom(channel, reply))
    }

    fn look(&self) -> BoxFuture<'_, Result<(), HistoryError>> {
        let look = Arc::clone(&self.look);
        Box::pin(async move { look.run().await })
    }
}
