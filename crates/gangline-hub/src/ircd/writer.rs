//! The thread that owns `irc.db`: one call after the other, each a transaction.

use std::sync::Arc;

use gangline_irc::server::store::{
    Account, Accounts, Appended, FindLine, HistoryQuery, NewLine, StoreError, StoredLine,
    TargetRow, TargetsQuery, Topic,
};
use gangline_os::{failpoint, lock::FileLock};
use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    history::{HistoryOptions, OpenError},
    rows::{self, Numbering},
    schema,
};

/// Where an answer goes.
pub(super) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// What can be asked of the thread.
pub(super) enum Job {
    Append(Vec<Arc<NewLine>>, Reply<Vec<Appended>>),
    History(HistoryQuery, Reply<Vec<StoredLine>>),
    Targets(TargetsQuery, Reply<Vec<TargetRow>>),
    Find(FindLine, Reply<Option<StoredLine>>),
    PutAccount(Account, Reply<()>),
    Topics(Reply<Vec<Topic>>),
    PutTopic(Topic, Reply<()>),
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
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return answer(opened, Err(OpenError::Thread(error))),
    };
    let closed = runtime.block_on(live(options, jobs, opened));
    if let Err(error) = lock.release() {
        tracing::warn!(%error, "the lock of the IRC history was not given back");
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

async fn live(
    options: HistoryOptions,
    mut jobs: mpsc::Receiver<Job>,
    opened: Opened,
) -> Option<oneshot::Sender<()>> {
    let mut writer = match Writer::open(&options).await {
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
    while let Some(job) = jobs.recv().await {
        if let Job::Close(done) = job {
            closed = Some(done);
            break;
        }
        writer.work(job).await;
    }
    // What is asked from now on fails at once.
    drop(jobs);
    if let Err(error) = writer.db.close().await {
        tracing::warn!(%error, "the IRC history was not closed cleanly");
    }
    closed
}

struct Writer {
    db: SqliteConnection,
    numbering: Numbering,
    accounts: watch::Sender<Arc<Accounts>>,
}

impl Writer {
    async fn open(options: &HistoryOptions) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Sqlite { path: options.path.clone(), source };
        let mut db = schema::open(&options.path, options.busy).await?;
        let now = options.clock.now();
        let (opening, last) = schema::begin(&mut db, now).await.map_err(failed)?;
        let accounts = rows::accounts(&mut db).await.map_err(failed)?;
        let numbering = Numbering { opening, last, keep: i64::from(options.keep.max(1)) };
        Ok(Self { db, numbering, accounts: watch::Sender::new(Arc::new(accounts)) })
    }

    async fn work(&mut self, job: Job) {
        match job {
            Job::Append(batch, reply) => {
                let done = self.append(&batch).await;
                answer(reply, done.map_err(|error| failed(&error)));
            }
            Job::History(query, reply) => {
                let done = rows::history(&mut self.db, &query).await;
                answer(reply, done.map_err(|error| failed(&error)));
            }
            Job::Targets(query, reply) => {
                let done = rows::targets(&mut self.db, &query).await;
                answer(reply, done.map_err(|error| failed(&error)));
            }
            Job::Find(query, reply) => {
                let done = rows::find(&mut self.db, &query).await;
                answer(reply, done.map_err(|error| failed(&error)));
            }
            Job::PutAccount(account, reply) => {
                let done = rows::put_account(&mut self.db, &account).await;
                if done.is_ok() {
                    self.accounts.send_modify(|accounts| Arc::make_mut(accounts).put(account));
                }
                answer(reply, done.map_err(|error| failed(&error)));
            }
            Job::Topics(reply) => {
                let done = rows::topics(&mut self.db).await;
                answer(reply, done.map_err(|error| failed(&error)));
            }
            Job::PutTopic(topic, reply) => {
                let done = rows::put_topic(&mut self.db, &topic).await;
                answer(reply, done.map_err(|error| failed(&error)));
            }
            Job::Close(done) => answer(done, ()),
        }
    }

    async fn append(&mut self, batch: &[Arc<NewLine>]) -> sqlx::Result<Vec<Appended>> {
        if failpoint::fails("ircd.append") {
            return Err(sqlx::Error::Protocol("the fail point ircd.append is armed".to_owned()));
        }
        sqlx::query("BEGIN IMMEDIATE").execute(&mut self.db).await?;
        let mut done = rows::append(&mut self.db, &mut self.numbering, batch).await;
        if done.is_ok() {
            failpoint::hit("ircd.append.before_commit");
            if let Err(error) = sqlx::query("COMMIT").execute(&mut self.db).await {
                done = Err(error);
            }
        }
        match &done {
            Ok(_) => failpoint::hit("ircd.append.after_commit"),
            Err(_) => {
                // SQLite may have rolled back by itself; then this is an error that means nothing.
                if let Err(error) = sqlx::query("ROLLBACK").execute(&mut self.db).await {
                    tracing::debug!(%error, "nothing to roll back");
                }
            }
        }
        done
    }
}

/// Says what went wrong in the words of whoever must help.
fn failed(error: &sqlx::Error) -> StoreError {
    tracing::error!(%error, "the IRC history failed");
    let why = match error {
        sqlx::Error::Database(database) => database.message().to_owned(),
        other => other.to_string(),
    };
    StoreError { why }
}
