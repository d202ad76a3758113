//! The writing thread: it alone takes the write lock, commits, syncs, and then answers.
//!
//! Writes that wait are made in one transaction, each in a savepoint of its own. While the lock is
//! held the thread waits for nothing but SQLite, and no caller can cancel it. Blocking system calls
//! (the lock, the sync) are made on this thread: it has nothing else to do.
//!
//! Who wants to go on from a write may hear of its commit before its sync ([`Write::tell`]). What
//! that gives rise to is waited for, shortly, and one sync serves both.

use std::{
    collections::HashMap,
    fs::File,
    io,
    sync::{Arc, atomic::Ordering},
};

use gangline_core::{AgentName, Epoch};
use gangline_os::failpoint;
use tokio::sync::{mpsc, oneshot};

use super::{
    LOOK_EVERY, Setup,
    commit::{Group, Outcome, transaction},
    connect, degraded,
    fault::{self, Fault},
    files::{self, OpenBy, UseLock, WriteLock},
    job::{Stage, Write},
    reader::ReadRequest,
    soon, sql,
    statements::Writer,
};
use crate::error::{OpenError, StoreError, Written};

/// So many writes that wait share a commit; the last ones may come with others that were asked for
/// together with them.
const GROUP_MAX: usize = 256;

/// What the writing thread is asked.
pub(crate) enum WriteRequest {
    /// In this order, in one commit.
    Writes(Vec<Box<dyn Write>>),
    Close(Stage, oneshot::Sender<Result<(), StoreError>>),
}

/// Why the connection cannot be used any more.
enum Loss {
    /// The connection itself.
    Connection,
    /// The log was taken away: nobody may go on with the old one.
    Log { generation: u64 },
}

struct Core {
    setup: Arc<Setup>,
    reads: mpsc::Sender<ReadRequest>,
    lock: WriteLock,
    used: Option<UseLock>,
    generation: u64,
    wal: Option<File>,
    writer: Option<Writer>,
    epochs: HashMap<AgentName, Epoch>,
    loss: Option<Loss>,
    /// A sync failed: what the log holds is not known to be on disk, so it must go into the
    /// database as a whole before anything is acknowledged again.
    doubtful: bool,
    commits: u32,
}

pub(crate) fn start(
    setup: Arc<Setup>,
    queue: mpsc::Receiver<WriteRequest>,
    reads: mpsc::Sender<ReadRequest>,
    opened: oneshot::Sender<Result<String, OpenError>>,
) -> io::Result<()> {
    let work = move || match Core::open(setup, reads) {
        Ok((core, id)) => {
            // Nobody waits any more: then nobody holds a queue either, and we close.
            drop(opened.send(Ok(id)));
            core.serve(queue);
        }
        Err(error) => drop(opened.send(Err(error))),
    };
    gangline_os::task::thread("gangline-store", work)?;
    Ok(())
}

impl Core {
    fn open(
        setup: Arc<Setup>,
        reads: mpsc::Sender<ReadRequest>,
    ) -> Result<(Self, String), OpenError> {
        let io =
            |source: io::Error| OpenError::Io { path: setup.path.clone(), source: source.into() };
        if let Some(folder) = setup.path.parent() {
            gangline_os::fsio::private_dir(folder).map_err(io)?;
        }
        let lock = WriteLock::open(&setup.files.wlock).map_err(io)?;
        lock.take().map_err(io)?;
        let mut core = Self {
            setup: setup.clone(),
            reads,
            lock,
            used: None,
            generation: 0,
            wal: None,
            writer: None,
            epochs: HashMap::new(),
            loss: None,
            doubtful: false,
            commits: 0,
        };
        let result = core.connect();
        core.lock.release();
        result.map(|id| (core, id))
    }

    /// Opens the database, the write lock being held.
    fn connect(&mut self) -> Result<String, OpenError> {
        let setup = self.setup.clone();
        let io =
            |source: io::Error| OpenError::Io { path: setup.path.clone(), source: source.into() };
        let (mut used, open_by) = UseLock::take(&setup.files.used).map_err(io)?;
        connect::not_emptied(&setup)?;
        files::make_private(&setup.path).map_err(io)?;
        let generation = used.generation().map_err(io)?;
        if open_by == OpenBy::OthersToo && !setup.files.wal.exists() {
            let gone = "the write-ahead log was deleted while others use the database: stop them";
            return Err(io(io::Error::other(gone)));
        }
        let opened = connect::open(&setup)?;
        used.mark().map_err(io)?;
        let installation_id = opened.installation_id.clone();
        self.writer = Some(Writer {
            connection: opened.connection,
            installation_id: opened.installation_id,
            now: setup.clock.now(),
            epochs: std::mem::take(&mut self.epochs),
        });
        self.wal = Some(opened.wal);
        self.used = Some(used);
        self.generation = generation;
        setup.readable.store(true, Ordering::Release);
        Ok(installation_id)
    }

    fn serve(mut self, mut queue: mpsc::Receiver<WriteRequest>) {
        let mut closing = None;
        while closing.is_none()
            && let Some(request) = queue.blocking_recv()
        {
            match request {
                WriteRequest::Writes(first) => closing = self.serve_writes(first, &mut queue),
                WriteRequest::Close(stage, done) => closing = Some((stage, done)),
            }
        }
        queue.close();
        self.shut();
        if let Some((stage, done)) = closing {
            stage.begin();
            drop(done.send(Ok(())));
        }
    }

    /// Closes the database under the write lock: whoever closes last removes the log.
    fn shut(&mut self) {
        self.setup.readable.store(false, Ordering::Release);
        self.release_reader();
        let locked = self.lock.take().is_ok();
        self.disconnect();
        if locked {
            self.lock.release();
        }
    }

    fn release_reader(&self) {
        let (done, released) = oneshot::channel();
        if self.reads.blocking_send(ReadRequest::Release(done)).is_ok() {
            drop(released.blocking_recv());
        }
    }

    fn disconnect(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            self.epochs = std::mem::take(&mut writer.epochs);
            if let Err((_, error)) = writer.connection.close() {
                tracing::warn!(%error, "the writing connection did not close well");
            }
        }
        self.wal = None;
        self.used = None;
    }

    /// Commits the first writes and those that wait, syncs and answers. Returns a request to close
    /// that was among them.
    fn serve_writes(
        &mut self,
        first: Vec<Box<dyn Write>>,
        queue: &mut mpsc::Receiver<WriteRequest>,
    ) -> Option<Closing> {
        let (mut group, mut closing) = self.group(first, queue);
        let followed = group.tell();
        let mut groups = vec![group];
        if followed && closing.is_none() {
            let wait = self.setup.tuning.followed_within;
            match soon::within(wait, &self.setup.clock, queue) {
                Some(WriteRequest::Writes(next)) => {
                    let (mut group, close) = self.group(next, queue);
                    group.tell();
                    groups.push(group);
                    closing = close;
                }
                Some(WriteRequest::Close(stage, done)) => closing = Some((stage, done)),
                None => {}
            }
        }
        let synced = self.sync(&groups);
        for group in groups {
            self.answer(group, synced.as_ref().err());
        }
        if self.loss.is_some() {
            self.let_go();
        }
        self.look_at_log();
        closing
    }

    /// Makes one commit of the first writes and those that wait.
    fn group(
        &mut self,
        first: Vec<Box<dyn Write>>,
        queue: &mut mpsc::Receiver<WriteRequest>,
    ) -> (Group, Option<Closing>) {
        let lock = self.lock.take();
        let mut closing = None;
        let mut jobs = first;
        while jobs.len() < GROUP_MAX
            && closing.is_none()
            && let Ok(request) = queue.try_recv()
        {
            match request {
                WriteRequest::Writes(more) => jobs.extend(more),
                WriteRequest::Close(stage, done) => closing = Some((stage, done)),
            }
        }
        jobs.retain(|job| job.begin());
        let result = match lock {
            Ok(()) => {
                let result = self.commit(&mut jobs);
                self.lock.release();
                result
            }
            Err(error) => Err(degraded("take the write lock", &error.to_string(), Written::No)),
        };
        (Group { jobs, result }, closing)
    }

    /// Runs and commits the writes. Returns, for each, its own failure; or that of all.
    fn commit(&mut self, group: &mut [Box<dyn Write>]) -> Result<Outcome, StoreError> {
        if group.is_empty() {
            return Ok(Outcome::default());
        }
        self.ready()?;
        let busy = self.setup.tuning.busy_timeout;
        let now = self.setup.clock.now();
        let Some(writer) = self.writer.as_mut() else {
            return Err(degraded("write", "no connection", Written::No));
        };
        writer.now = now;
        let result = transaction(writer, group);
        match result {
            Ok(outcome) => {
                if outcome.committed {
                    let lost =
                        self.wal.as_ref().and_then(|f| files::log_lost(f, &self.setup.files.wal));
                    if lost.is_none() && self.setup.tail_due.swap(false, Ordering::AcqRel) {
                        self.move_tail();
                    }
                    if let Some(cause) = lost {
                        self.loss = Some(Loss::Log { generation: self.generation });
                        return Err(degraded("write", &cause, Written::Unknown));
                    }
                }
                Ok(outcome)
            }
            Err(stop) => {
                if !stop.rolled_back {
                    self.loss = Some(Loss::Connection);
                }
                Err(match stop.cause {
                    Fault::Said(error) => error,
                    Fault::Sql(error) => fault::store_error("write", error, busy),
                })
            }
        }
    }

    /// Moves the rest of the log while nobody can add to it, so that the next write begins it
    /// anew. Without this a log that is written to all the time would only grow.
    fn move_tail(&mut self) {
        let Some(writer) = &self.writer else { return };
        let moved = sql::one(&writer.connection, "PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        if let Err(error) = moved {
            tracing::warn!(%error, "a checkpoint failed");
        }
    }

    /// Sees to it that there is a connection that may be written to; the write lock is held.
    fn ready(&mut self) -> Result<(), StoreError> {
        let refused = |cause: String| degraded("write", &cause, Written::No);
        if let Some(loss) = self.loss.take() {
            let result = self.reconnect(&loss);
            if let Err(cause) = result {
                self.disconnect();
                self.loss = Some(loss);
                return Err(refused(cause));
            }
        }
        if self.doubtful {
            let Some(writer) = self.writer.as_mut() else {
                return Err(refused("no connection".to_owned()));
            };
            let moved = "PRAGMA wal_checkpoint(TRUNCATE)";
            match sql::one(&writer.connection, moved, [], sql::column::<i64>) {
                Ok(0) => self.doubtful = false,
                Ok(_) => return Err(refused("the log cannot be moved after a failed sync".into())),
                Err(error) => return Err(refused(fault::chain(&error))),
            }
        }
        Ok(())
    }

    fn reconnect(&mut self, loss: &Loss) -> Result<(), String> {
        if let Loss::Log { generation } = loss {
            let (mut used, open_by) =
                UseLock::take(&self.setup.files.used).map_err(|error| error.to_string())?;
            let now = used.generation().map_err(|error| error.to_string())?;
            if open_by == OpenBy::UsAlone {
                used.raise().map_err(|error| error.to_string())?;
                // Given back for `connect`; the write lock keeps others from coming between.
            } else if now <= *generation {
                return Err("the write-ahead log was taken away; other processes still use the \
                            old one and must notice or end first"
                    .to_owned());
            }
        }
        self.connect().map_err(|error| fault::chain(&error))?;
        let Some(writer) = self.writer.as_mut() else { return Ok(()) };
        if let Loss::Log { .. } = loss {
            connect::check(&writer.connection)?;
        }
        Ok(())
    }

    /// Makes what was committed durable.
    fn sync(&mut self, groups: &[Group]) -> Result<(), StoreError> {
        let committed = || groups.iter().filter(|group| group.committed());
        if committed().next().is_none() {
            return Ok(());
        }
        let broken = committed().any(|group| group.result.as_ref().is_ok_and(|it| it.broken));
        let synced = match &self.wal {
            Some(_) if broken => Err(io::Error::other("broken on purpose")),
            Some(wal) => {
                self.setup.syncs.add();
                wal.sync_data()
            }
            None => Err(io::Error::other("no log is open")),
        };
        if let Err(error) = synced {
            self.doubtful = true;
            let cause = format!("cannot sync the write-ahead log: {error}");
            return Err(degraded("write", &cause, Written::Unknown));
        }
        for job in committed().flat_map(|group| &group.jobs) {
            failpoint::hit(job.op().after_sync);
        }
        Ok(())
    }

    fn answer(&self, group: Group, not_synced: Option<&StoreError>) {
        let not_synced = not_synced.filter(|_| group.committed());
        let Group { jobs, result } = group;
        let result = match not_synced {
            Some(error) => Err(fault::again("write", error)),
            None => result,
        };
        match result {
            Ok(outcome) => {
                if outcome.committed {
                    self.setup.recover();
                }
                for (job, failed) in jobs.into_iter().zip(outcome.failed) {
                    job.answer(failed.map_or(Ok(()), Err));
                }
            }
            Err(error) => {
                self.setup.degrade(&fault::chain(&error));
                for job in jobs {
                    let name = job.op().name;
                    job.answer(Err(fault::again(name, &error)));
                }
            }
        }
    }

    /// Lets go of a database whose log was taken away, or of a connection that is no use. If we
    /// are the last, SQLite saves what it can on closing.
    fn let_go(&mut self) {
        self.setup.readable.store(false, Ordering::Release);
        self.shut();
        if let Some(Loss::Connection) = self.loss {
            self.setup.readable.store(true, Ordering::Release);
        }
    }

    fn look_at_log(&mut self) {
        self.commits = self.commits.wrapping_add(1);
        if self.commits % LOOK_EVERY != 1 {
            return;
        }
        let size = self.wal.as_ref().and_then(|wal| wal.metadata().ok()).map_or(0, |m| m.len());
        if size > self.setup.tuning.checkpoint_bytes {
            // A full queue of reads: the next look tries again.
            drop(self.reads.try_send(ReadRequest::Checkpoint));
        }
    }
}

/// A request to close, and who is told when it is done.
type Closing = (Stage, oneshot::Sender<Result<(), StoreError>>);
