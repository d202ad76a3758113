//! The thread that owns `irc.db`: one call after the other, each a transaction.

use std::sync::Arc;

use gangline_core::ChannelName;
use gangline_irc::server::{
    events::{NewEvent, WAITING_MAX},
    store::{
        Account, Accounts, Appended, Commit, Entry, FindLine, HistoryError, HistoryQuery, Marker,
        Marks, Missed, MissedQuery, NewLine, ReadMark, RoomRow, StoredLine, TargetRow,
        TargetsQuery, Topic,
    },
    unkept::UnkeptMarks,
};
use gangline_os::{failpoint, lock::FileLock};
use rusqlite::{Connection, ErrorCode};
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    events, markers, marks,
    opening::{HistoryOptions, OpenError},
    rooms,
    rows::{self, Numbering, With},
    schema,
};

/// Where an answer goes.
pub(super) type Reply<T> = oneshot::Sender<Result<T, HistoryError>>;

/// What can be asked of the thread.
pub(super) enum Job {
    Append(Vec<Arc<NewLine>>, Reply<Vec<Appended>>),
    History(HistoryQuery, Reply<Vec<StoredLine>>),
    Playback(HistoryQuery, Reply<Vec<Entry>>),
    PutEvents(Vec<NewEvent>, Commit, Reply<()>),
    Line(String, Reply<Option<StoredLine>>),
    Targets(TargetsQuery, Reply<Vec<TargetRow>>),
    Find(FindLine, Reply<Option<StoredLine>>),
    Missed(MissedQuery, Reply<Vec<Missed>>),
    Marks(Reply<Marks>),
    PutMarks(Vec<ReadMark>, Commit, Reply<()>),
    PutAccount(Account, Reply<()>),
    Topics(Reply<Vec<Topic>>),
    PutTopic(Topic, Reply<()>),
    ForgetTopic(ChannelName, Reply<()>),
    Markers(Reply<Vec<Marker>>),
    PutMarker(Marker, Reply<()>),
    Redact(i64, Reply<()>),
    Rooms(Reply<Vec<RoomRow>>),
    PutRoom(RoomRow, Reply<()>),
    ForgetRoom(ChannelName, Reply<()>),
    Close(oneshot::Sender<()>),
}

type Opened = oneshot::Sender<Result<watch::Receiver<Arc<Accounts>>, OpenError>>;

/// The thread's life: open, work, close, unlock.
pub(super) fn run(
    options: HistoryOptions,
    lock: FileLock,
    jobs: mpsc::Receiver<Job>,
    opened: Opened,
) {
    let closed = live(&options, jobs, opened);
    if let Err(error) = lock.release() {
        tracing::warn!(%error, "the lock of the IRC history was not released");
    }
    if let Some(closed) = closed {
        answer(closed, ());
    }
}

/// An asker that has gone needs no answer.
fn answer<T>(to: oneshot::Sender<T>, value: T) {
    if to.send(value).is_err() {
        tracing::trace!("nobody waits for this answer of the IRC history");
    }
}

/// Answers with what was done; a failure is logged too.
fn finish<T>(to: Reply<T>, done: rusqlite::Result<T>) {
    answer(to, done.map_err(|error| failed(&error)));
}

fn live(
    options: &HistoryOptions,
    mut jobs: mpsc::Receiver<Job>,
    opened: Opened,
) -> Option<oneshot::Sender<()>> {
    let mut writer = match Writer::open(options) {
        Ok(writer) => {
            answer(opened, Ok(writer.accounts.subscribe()));
            writer
        }
        Err(error) => {
            answer(opened, Err(error));
            return None;
        }
    };
    let mut closed = None;
    while let Some(job) = jobs.blocking_recv() {
        if let Job::Close(done) = job {
            closed = Some(done);
            break;
        }
        writer.work(job);
    }
    writer.keep_noted();
    // What is asked from now on fails at once.
    drop(jobs);
    if let Err((_, error)) = writer.db.close() {
        tracing::warn!(%error, "the IRC history was not closed cleanly");
    }
    closed
}

struct Writer {
    db: Connection,
    numbering: Numbering,
    /// Marks that are kept with the next lines.
    marks: UnkeptMarks,
    /// Events that are.
    events: Vec<NewEvent>,
    accounts: watch::Sender<Arc<Accounts>>,
}

impl Writer {
    fn open(options: &HistoryOptions) -> Result<Self, OpenError> {
        let failed = |source| OpenError::of(&options.path, source);
        let db = schema::open(&options.path, options.busy)?;
        let now = options.clock.now();
        let (opening, last) = schema::begin(&db, now).map_err(failed)?;
        let accounts = rows::accounts(&db).map_err(failed)?;
        let numbering = Numbering { opening, last, keep: i64::from(options.keep.max(1)) };
        Ok(Self {
            db,
            numbering,
            marks: UnkeptMarks::default(),
            events: Vec::new(),
            accounts: watch::Sender::new(Arc::new(accounts)),
        })
    }

    fn work(&mut self, job: Job) {
        match job {
            Job::Append(batch, reply) => finish(reply, self.append(&batch)),
            Job::History(query, reply) => finish(reply, rows::history(&self.db, &query)),
            Job::Playback(query, reply) => {
                finish(reply, rows::entries(&self.db, &query, With::Events))
            }
            Job::PutEvents(events, when, reply) => {
                self.events.extend(events);
                // While nothing can be written, what came last is not.
                self.events.truncate(WAITING_MAX);
                finish(reply, self.noted(when));
            }
            Job::Line(msgid, reply) => finish(reply, rows::line(&self.db, &msgid)),
            Job::Targets(query, reply) => finish(reply, rows::targets(&self.db, &query)),
            Job::Find(query, reply) => finish(reply, rows::find(&self.db, &query)),
            Job::Missed(query, reply) => finish(reply, marks::missed(&self.db, &query)),
            Job::Marks(reply) => finish(reply, marks::marks(&self.db, self.numbering.last)),
            Job::PutMarks(marks, when, reply) => {
                marks.into_iter().for_each(|mark| self.marks.add(mark));
                finish(reply, self.noted(when));
            }
            Job::PutAccount(account, reply) => {
                let done = rows::put_account(&self.db, &account);
                if done.is_ok() {
                    self.accounts.send_modify(|accounts| Arc::make_mut(accounts).put(account));
                }
                finish(reply, done);
            }
            Job::Topics(reply) => finish(reply, rows::topics(&self.db)),
            Job::PutTopic(topic, reply) => finish(reply, rows::put_topic(&self.db, &topic)),
            Job::ForgetTopic(channel, reply) => {
                finish(reply, rows::forget_topic(&self.db, &channel))
            }
            Job::Markers(reply) => finish(reply, markers::all(&self.db)),
            Job::PutMarker(marker, reply) => finish(reply, markers::put(&self.db, &marker)),
            Job::Redact(seq, reply) => finish(reply, rows::redact(&self.db, seq)),
            Job::Rooms(reply) => finish(reply, rooms::all(&self.db)),
            Job::PutRoom(room, reply) => finish(reply, rooms::put(&self.db, &room)),
            Job::ForgetRoom(channel, reply) => finish(reply, rooms::forget(&self.db, &channel)),
            Job::Close(done) => answer(done, ()),
        }
    }

    /// Marks and events were noted: they are kept now, or with the next lines.
    fn noted(&mut self, when: Commit) -> rusqlite::Result<()> {
        match when {
            Commit::WithNext => Ok(()),
            Commit::Now => self.append(&[]).map(drop),
        }
    }

    /// Keeps the marks and events that no lines have taken along. Without these marks lines are shown
    /// twice.
    fn keep_noted(&mut self) {
        let noted = !self.marks.is_empty() || !self.events.is_empty();
        if noted && let Err(error) = self.append(&[]) {
            tracing::warn!(%error, "read positions and rooms' events were not stored");
        }
    }

    fn append(&mut self, batch: &[Arc<NewLine>]) -> rusqlite::Result<Vec<Appended>> {
        // A batch without lines only keeps the marks of what was read, and events.
        let lines = !batch.is_empty();
        self.db.execute_batch("BEGIN IMMEDIATE")?;
        let mut done = rows::append(&self.db, &mut self.numbering, batch);
        if done.is_ok()
            && let Err(error) = marks::put(&self.db, self.marks.iter())
        {
            done = Err(error);
        }
        // Behind the lines: a room has a history from its first line on.
        if done.is_ok()
            && let Err(error) = events::put(&self.db, &self.events, self.numbering.keep)
        {
            done = Err(error);
        }
        if done.is_ok() {
            if lines {
                failpoint::hit("ircd.append.before_commit");
            }
            if let Err(error) = self.db.execute_batch("COMMIT") {
                done = Err(error);
            }
        }
        match &done {
            Ok(_) => {
                self.marks.clear();
                self.events.clear();
                if lines {
                    failpoint::hit("ircd.append.after_commit");
                }
            }
            Err(_) => {
                // SQLite may have rolled back by itself; then this is an error that means nothing.
                if let Err(error) = self.db.execute_batch("ROLLBACK") {
                    tracing::debug!(%error, "nothing to roll back");
                }
            }
        }
        done
    }
}

/// Says what went wrong in words for the person who must fix it.
fn failed(error: &rusqlite::Error) -> HistoryError {
    tracing::error!(%error, "the IRC history failed");
    let is_damaged = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    );
    let why = match is_damaged {
        true => damaged(&error.to_string()),
        false => error.to_string(),
    };
    HistoryError { why }
}

/// Says what to do about a damaged database.
pub(super) fn damaged(seen: &str) -> String {
    format!(
        "irc.db is damaged ({seen}): run `gangline down`, then restore a backup or move the file away \
         with its -wal and -shm"
    )
}
