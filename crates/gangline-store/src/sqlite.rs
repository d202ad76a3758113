//! The SQLite engine: one writing thread and one reading thread per process.
//!
//! [`Sqlite`] is the pair of queues that the public handle holds; [`writer`] owns the write lock,
//! the writing connection and the sync; [`reader`] owns the reading connection and checkpoints.
//! The other modules are the statements, one module per topic.

pub(crate) mod acts;
pub(crate) mod agents;
pub(crate) mod alerts;
mod announced;
pub(crate) mod applied;
pub(crate) mod approvals;
pub(crate) mod asked;
pub(crate) mod attention;
pub(crate) mod budgets;
pub(crate) mod causes;
pub(crate) mod changes;
pub(crate) mod choices;
mod commit;
mod connect;
pub(crate) mod events;
pub(crate) mod fault;
mod fence;
mod files;
pub(crate) mod findings;
pub(crate) mod folder_trust;
mod job;
pub(crate) mod letters;
pub(crate) mod messages;
mod numbers;
pub(crate) mod orders;
pub(crate) mod outbox;
pub(crate) mod pauses;
pub(crate) mod places;
pub(crate) mod question_places;
pub(crate) mod questions;
mod reader;
pub(crate) mod reminders;
pub(crate) mod removed;
pub(crate) mod restarts;
mod rows;
pub(crate) mod rules;
pub(crate) mod send;
mod soon;
mod sql;
mod statements;
pub(crate) mod tokens;
pub(crate) mod trace;
pub(crate) mod turn_orders;
pub(crate) mod turns;
pub(crate) mod wakes;
pub(crate) mod whispers;
mod writer;

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use gangline_core::AgentName;
use gangline_os::clock::SharedClock;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

pub(crate) use self::job::OnDone;
pub(crate) use self::statements::Writer;
use self::{
    fault::Fault,
    files::Files,
    job::{ReadJob, Stage, Write, WriteJob},
    reader::ReadRequest,
    writer::WriteRequest,
};
use crate::{
    error::{OpenError, StoreError, Written},
    op::Op,
    opening::{OpenOptions, Tuning},
    types::{AgentRow, FolderTrustRow, Health, Order, Syncs},
};

/// The statements of a write that only says which other agents have something of it.
pub(crate) type Work = Box<dyn FnOnce(&mut Writer) -> Result<Vec<AgentName>, Fault> + Send>;

/// Requests that wait for the writing thread; more wait at their callers.
const WRITES: usize = 256;
/// Requests that wait for the reading thread.
const READS: usize = 256;

/// What both threads and all handles know.
pub(crate) struct Setup {
    pub(crate) path: PathBuf,
    pub(crate) files: Files,
    pub(crate) clock: SharedClock,
    pub(crate) tuning: Tuning,
    pub(crate) health: watch::Sender<Health>,
    /// Whether the reading thread may have a connection.
    pub(crate) readable: AtomicBool,
    /// Whether most of the log has been moved, and the rest waits for a moment without writers.
    pub(crate) tail_due: AtomicBool,
    pub(crate) syncs: Syncs,
}

impl Setup {
    fn new(options: OpenOptions, tuning: Tuning) -> Result<Self, OpenError> {
        let OpenOptions { path, clock } = options;
        let io =
            |source: std::io::Error| OpenError::Io { path: path.clone(), source: source.into() };
        let path = std::path::absolute(&path).map_err(io)?;
        Ok(Self {
            files: Files::beside(&path),
            path,
            clock,
            tuning,
            health: watch::Sender::new(Health::default()),
            readable: AtomicBool::new(false),
            tail_due: AtomicBool::new(false),
            syncs: Syncs::default(),
        })
    }

    /// Notes a failure of the storage.
    pub(crate) fn degrade(&self, cause: &str) {
        let now = self.clock.now();
        self.health.send_modify(|health| {
            if health.degraded.is_none() {
                health.since = Some(now);
            }
            health.degraded = Some(cause.to_owned());
            health.failed_writes += 1;
        });
        tracing::error!(path = %self.path.display(), cause, "the store is degraded");
    }

    /// Notes a success of the storage.
    pub(crate) fn recover(&self) {
        self.health.send_if_modified(|health| {
            health.since = None;
            health.degraded.take().is_some()
        });
    }
}

/// The queues to this process's store.
#[derive(Clone)]
pub(crate) struct Sqlite {
    setup: Arc<Setup>,
    installation_id: Arc<str>,
    writes: mpsc::Sender<WriteRequest>,
    reads: mpsc::Sender<ReadRequest>,
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite").field("path", &self.setup.path).finish_non_exhaustive()
    }
}

impl Sqlite {
    pub(crate) async fn open(options: OpenOptions, tuning: Tuning) -> Result<Self, OpenError> {
        let setup = Arc::new(Setup::new(options, tuning)?);
        let path = setup.path.clone();
        let io =
            |source: std::io::Error| OpenError::Io { path: path.clone(), source: source.into() };
        let (writes, write_queue) = mpsc::channel(WRITES);
        let (reads, read_queue) = mpsc::channel(READS);
        let (opened, answer) = oneshot::channel();
        writer::start(setup.clone(), write_queue, reads.clone(), opened).map_err(io)?;
        let wait = setup.tuning.lock_wait;
        let installation_id = match tokio::time::timeout(wait, answer).await {
            Ok(Ok(result)) => result?,
            Ok(Err(_)) => return Err(io(std::io::Error::other("the store's thread ended"))),
            Err(_) => {
                let holder = setup.files.holder();
                return Err(OpenError::Busy { path, waited: wait, holder });
            }
        };
        reader::start(setup.clone(), read_queue).map_err(io)?;
        Ok(Self { setup, installation_id: installation_id.into(), writes, reads })
    }

    pub(crate) fn installation_id(&self) -> &str {
        &self.installation_id
    }

    pub(crate) fn health(&self) -> Health {
        self.setup.health.borrow().clone()
    }

    pub(crate) fn syncs(&self) -> Syncs {
        self.setup.syncs.clone()
    }

    /// Queues a write and waits for its synced commit. Waits without limit once it has begun;
    /// before that, at most as long as [`Tuning::lock_wait`].
    pub(crate) async fn write<T, F>(&self, op: &'static Op, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Writer) -> Result<T, Fault> + Send + 'static,
    {
        self.write_and_notify(op, work, None).await
    }

    /// As [`Sqlite::write`]; tells the result once the write is committed, which is before it is synced.
    pub(crate) async fn write_and_notify<T, F>(
        &self,
        op: &'static Op,
        work: F,
        tell: Option<OnDone<T>>,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Writer) -> Result<T, Fault> + Send + 'static,
    {
        let stage = Stage::waiting();
        let (job, answer) = WriteJob::new(op, stage.clone(), (work, tell));
        let request = WriteRequest::Writes(vec![Box::new(job)]);
        self.queued(request, stage, async { answer.await.map_err(|_| StoreError::Closed) }).await?
    }

    /// As [`Sqlite::write`], of several in one commit. Returns what became of each.
    pub(crate) async fn write_together(
        &self,
        writes: Vec<(&'static Op, Work)>,
    ) -> Result<Vec<Result<Vec<AgentName>, StoreError>>, StoreError> {
        let stage = Stage::waiting();
        let (mut jobs, mut answers): (Vec<Box<dyn Write>>, Vec<_>) = (Vec::new(), Vec::new());
        for (op, work) in writes {
            let (job, answer) = WriteJob::new(op, stage.clone(), (work, None));
            jobs.push(Box::new(job));
            answers.push(answer);
        }
        let all = async {
            let mut results = Vec::new();
            for answer in answers {
                results.push(answer.await.map_err(|_| StoreError::Closed)?);
            }
            Ok(results)
        };
        self.queued(WriteRequest::Writes(jobs), stage, all).await
    }

    async fn queued<T>(
        &self,
        request: WriteRequest,
        stage: Stage,
        answer: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let waited = self.setup.tuning.lock_wait;
        let mut answer = std::pin::pin!(answer);
        let both = async {
            self.writes.send(request).await.map_err(|_| StoreError::Closed)?;
            answer.as_mut().await
        };
        if let Ok(result) = tokio::time::timeout(waited, both).await {
            return result;
        }
        if stage.expire() {
            self.setup.degrade(&format!("locked by {}", self.setup.files.holder()));
            return Err(StoreError::Busy { waited });
        }
        answer.await
    }

    /// Runs a read on the reading thread.
    pub(crate) async fn read<T, F>(&self, op: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        if self.writes.is_closed() {
            return Err(StoreError::Closed);
        }
        let (job, answer) = ReadJob::new(op, work);
        let request = ReadRequest::Read(Box::new(job));
        self.reads.send(request).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        let stage = Stage::waiting();
        let (done, answer) = oneshot::channel();
        let closed = async { answer.await.map_err(|_| StoreError::Closed) };
        self.queued(WriteRequest::Close(stage.clone(), done), stage, closed).await?
    }
}

/// Looks at a database that is there, and changes nothing in it. Returns its schema.
pub(crate) fn look(options: OpenOptions, tuning: Tuning) -> Result<i64, OpenError> {
    let setup = Setup::new(options, tuning)?;
    let size = std::fs::metadata(&setup.path).map_or(0, |file| file.len());
    connect::look(&setup, size <= LOOKED_THROUGH)
}

/// Returns the orders of a database that is there, and changes nothing in it.
pub(crate) fn look_at_orders(
    options: OpenOptions,
    tuning: Tuning,
) -> Result<Vec<Order>, OpenError> {
    connect::rows(&Setup::new(options, tuning)?, orders::read)
}

/// Returns the agents of a database that is there, and changes nothing in it.
pub(crate) fn look_at_agents(
    options: OpenOptions,
    tuning: Tuning,
) -> Result<Vec<AgentRow>, OpenError> {
    connect::rows(&Setup::new(options, tuning)?, agents::all)
}

/// Returns the words about folders of a database that is there, and changes nothing in it.
pub(crate) fn look_at_folders(
    options: OpenOptions,
    tuning: Tuning,
) -> Result<Vec<FolderTrustRow>, OpenError> {
    connect::rows(&Setup::new(options, tuning)?, folder_trust::all)
}

/// The largest database that is looked through for damage, in bytes: it takes about a second.
const LOOKED_THROUGH: u64 = 256 << 20;

/// Tells what a failed write of a broken storage means.
pub(crate) fn degraded(op: &'static str, cause: &str, written: Written) -> StoreError {
    StoreError::Degraded { op, cause: cause.to_owned(), written }
}

/// How long a thread waits before it looks at the log's size again, in commits.
const LOOK_EVERY: u32 = 16;
/// The log's size from which [`Health::wal_alarm`] is set.
const WAL_ALARM: u64 = 256 << 20;
