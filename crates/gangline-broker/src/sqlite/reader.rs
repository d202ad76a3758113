//! The reading thread: one connection for reads, concurrent with writes, and for checkpoints.
//!
//! Each read runs to its end on this thread, so that no slow caller keeps a read transaction open
//! (which would keep the log from being reset).

use std::{
    io,
    sync::{Arc, atomic::Ordering},
};

use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

use super::{
    Setup, WAL_ALARM, connect,
    fault::{self, Kind},
    files,
    job::Read,
};

/// What the reading thread is asked.
pub(crate) enum ReadRequest {
    /// A read.
    Read(Box<dyn Read>),
    /// The log is large: move it into the database, if that is due and nobody else does it.
    Checkpoint,
    /// Close the connection; a later read opens it again if that is allowed then.
    Release(oneshot::Sender<()>),
}

pub(crate) fn start(setup: Arc<Setup>, queue: mpsc::Receiver<ReadRequest>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let reader = Reader { setup, connection: None };
    gangline_os::task::thread("gangline-read", move || runtime.block_on(reader.serve(queue)))?;
    Ok(())
}

struct Reader {
    setup: Arc<Setup>,
    connection: Option<SqliteConnection>,
}

impl Reader {
    async fn serve(mut self, mut queue: mpsc::Receiver<ReadRequest>) {
        while let Some(request) = queue.recv().await {
            match request {
                ReadRequest::Read(job) => self.read(job).await,
                ReadRequest::Checkpoint => self.checkpoint().await,
                ReadRequest::Release(done) => {
                    self.release().await;
                    // Whoever asked may have gone.
                    done.send(()).ok();
                }
            }
        }
        self.release().await;
    }

    async fn release(&mut self) {
        if let Some(connection) = self.connection.take()
            && let Err(error) = connection.close().await
        {
            tracing::debug!(%error, "the reading connection did not close well");
        }
    }

    async fn connected(&mut self) -> Result<&mut SqliteConnection, String> {
        if !self.setup.readable.load(Ordering::Acquire) {
            return Err("the store is closed, or its log is lost".to_owned());
        }
        if self.connection.is_none() {
            let options = connect::options(&self.setup).pragma("query_only", "1");
            let connection = options.connect().await.map_err(|error| fault::chain(&error))?;
            self.connection = Some(connection);
        }
        self.connection.as_mut().ok_or_else(|| "no connection".to_owned())
    }

    async fn read(&mut self, job: Box<dyn Read>) {
        let busy = self.setup.tuning.busy_timeout;
        let kind = match self.connected().await {
            Ok(connection) => job.run(connection, busy).await,
            Err(cause) => return job.refuse(&cause),
        };
        if kind == Kind::Storage {
            self.release().await;
        }
    }

    async fn checkpoint(&mut self) {
        let setup = self.setup.clone();
        let lock = match files::checkpoint_lock(&setup.files.ckpt) {
            Ok(Some(lock)) => lock,
            Ok(None) => return,
            Err(error) => return tracing::warn!(%error, "cannot lock for a checkpoint"),
        };
        let Ok(connection) = self.connected().await else { return };
        match move_log(connection, setup.tuning.checkpoint_bytes).await {
            Ok(None) => {}
            Ok(Some(left)) => {
                // What writers have added meanwhile (it is not in the numbers) keeps the log from
                // being reset. The next commit of this process moves it while nobody else writes.
                setup.tail_due.store(true, Ordering::Release);
                let alarm = left > WAL_ALARM;
                setup.health.send_if_modified(|health| {
                    std::mem::replace(&mut health.wal_alarm, alarm) != alarm
                });
            }
            Err(error) => tracing::warn!(%error, "a checkpoint failed"),
        }
        drop(lock);
    }
}

/// Moves the log into the database if more than `limit` bytes wait. Returns how many are left, or
/// nothing if it was not due.
async fn move_log(
    connection: &mut SqliteConnection,
    limit: u64,
) -> Result<Option<u64>, sqlx::Error> {
    if waiting(connection, "PRAGMA wal_checkpoint(NOOP)").await? <= limit {
        return Ok(None);
    }
    waiting(connection, "PRAGMA wal_checkpoint(PASSIVE)").await.map(Some)
}

async fn waiting(connection: &mut SqliteConnection, how: &'static str) -> Result<u64, sqlx::Error> {
    let row = sqlx::query(how).fetch_one(&mut *connection).await?;
    let (log, moved): (i64, i64) = (row.get(1), row.get(2));
    let page: i64 = sqlx::query_scalar("PRAGMA page_size").fetch_one(connection).await?;
    Ok(u64::try_from((log - moved).saturating_mul(page)).unwrap_or(0))
}
