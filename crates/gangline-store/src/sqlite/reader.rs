//! The reading thread: one connection for reads, concurrent with writes, and for checkpoints.
//!
//! Each read runs to its end on this thread, so that no slow caller keeps a read transaction open
//! (which would keep the log from being reset).

use std::{
    io,
    sync::{Arc, atomic::Ordering},
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::{
    Setup, WAL_ALARM, connect,
    fault::{self, Kind},
    files,
    job::Read,
    sql,
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
    let reader = Reader { setup, connection: None };
    gangline_os::task::thread("gangline-read", move || reader.serve(queue))?;
    Ok(())
}

struct Reader {
    setup: Arc<Setup>,
    connection: Option<Connection>,
}

impl Reader {
    fn serve(mut self, mut queue: mpsc::Receiver<ReadRequest>) {
        while let Some(request) = queue.blocking_recv() {
            match request {
                ReadRequest::Read(job) => self.read(job),
                ReadRequest::Checkpoint => self.checkpoint(),
                ReadRequest::Release(done) => {
                    self.release();
                    // Whoever asked may have gone.
                    done.send(()).ok();
                }
            }
        }
        self.release();
    }

    fn release(&mut self) {
        if let Some(connection) = self.connection.take()
            && let Err((_, error)) = connection.close()
        {
            tracing::debug!(%error, "the reading connection did not close well");
        }
    }

    fn connected(&mut self) -> Result<&Connection, String> {
        if !self.setup.readable.load(Ordering::Acquire) {
            return Err("the store is closed, or its log is lost".to_owned());
        }
        if self.connection.is_none() {
            let connect = || -> rusqlite::Result<_> {
                let connection = connect::connection(&self.setup)?;
                connection.execute_batch("PRAGMA query_only = 1")?;
                Ok(connection)
            };
            self.connection = Some(connect().map_err(|error| fault::chain(&error))?);
        }
        self.connection.as_ref().ok_or_else(|| "no connection".to_owned())
    }

    fn read(&mut self, job: Box<dyn Read>) {
        let busy = self.setup.tuning.busy_timeout;
        let kind = match self.connected() {
            Ok(connection) => job.run(connection, busy),
            Err(cause) => return job.refuse(&cause),
        };
        if kind == Kind::Storage {
            self.release();
        }
    }

    fn checkpoint(&mut self) {
        let setup = self.setup.clone();
        let lock = match files::checkpoint_lock(&setup.files.ckpt) {
            Ok(Some(lock)) => lock,
            Ok(None) => return,
            Err(error) => return tracing::warn!(%error, "cannot lock for a checkpoint"),
        };
        let Ok(connection) = self.connected() else { return };
        match move_log(connection, setup.tuning.checkpoint_bytes) {
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
fn move_log(connection: &Connection, limit: u64) -> rusqlite::Result<Option<u64>> {
    if waiting(connection, "PRAGMA wal_checkpoint(NOOP)")? <= limit {
        return Ok(None);
    }
    waiting(connection, "PRAGMA wal_checkpoint(PASSIVE)").map(Some)
}

fn waiting(connection: &Connection, how: &'static str) -> rusqlite::Result<u64> {
    let numbers = |row: &rusqlite::Row<'_>| Ok((row.get(1)?, row.get(2)?));
    let (log, moved): (i64, i64) = sql::one(connection, how, [], numbers)?;
    let page: i64 = sql::one(connection, "PRAGMA page_size", [], sql::column)?;
    Ok(u64::try_from((log - moved).saturating_mul(page)).unwrap_or(0))
}
