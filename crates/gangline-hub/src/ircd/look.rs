//! A look through `irc.db` for damage while the server runs, by a connection of its own.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use gangline_irc::server::store::HistoryError;
use rusqlite::InterruptHandle;
use tokio::sync::{oneshot, watch};

use super::{opening::OpenError, schema, writer};

/// One look at a time, and how it is ended early.
pub(super) struct Look {
    path: PathBuf,
    busy: Duration,
    state: Mutex<Ending>,
    runs: watch::Sender<bool>,
}

#[derive(Default)]
struct Ending {
    stopped: bool,
    interrupt: Option<InterruptHandle>,
}

impl Look {
    pub(super) fn new(path: PathBuf, busy: Duration) -> Self {
        Self { path, busy, state: Mutex::default(), runs: watch::Sender::new(false) }
    }

    /// Looks through the database, which this process has open. Cancel-safe: a look that has begun
    /// goes on to its end.
    ///
    /// # Errors
    /// [`HistoryError`] when it is damaged. A look that could not be made is logged.
    pub(super) async fn run(self: Arc<Self>) -> Result<(), HistoryError> {
        let (done, looked) = oneshot::channel();
        self.runs.send_replace(true);
        let look = Arc::clone(&self);
        let started = gangline_os::task::thread("irc-look", move || {
            let found = look.look();
            look.runs.send_replace(false);
            if done.send(found).is_err() {
                tracing::debug!("nobody waits for the look through the IRC history");
            }
        });
        if let Err(error) = started {
            self.runs.send_replace(false);
            tracing::warn!(%error, "the IRC history was not checked for damage");
            return Ok(());
        }
        match looked.await {
            Ok(Err(OpenError::Damaged { source, .. })) => {
                Err(HistoryError { why: writer::damaged(&source.to_string()) })
            }
            Ok(Err(error)) if !self.is_stopped() => {
                tracing::warn!(%error, "the IRC history was not checked for damage");
                Ok(())
            }
            Ok(Ok(()) | Err(_)) | Err(_) => Ok(()),
        }
    }

    fn look(&self) -> Result<(), OpenError> {
        let begun = |handle: InterruptHandle| {
            let mut state = self.lock();
            if state.stopped {
                handle.interrupt();
            }
            state.interrupt = Some(handle);
        };
        let stopped = self.is_stopped();
        let found = if stopped { Ok(()) } else { schema::look_open(&self.path, self.busy, &begun) };
        self.lock().interrupt = None;
        found
    }

    /// Ends a look early and waits for its end; no other begins after it.
    pub(super) async fn stop(&self) {
        {
            let mut state = self.lock();
            state.stopped = true;
            if let Some(handle) = &state.interrupt {
                handle.interrupt();
            }
        }
        // The sender is our own, so this ends with the look.
        let _ = self.runs.subscribe().wait_for(|runs| !runs).await;
    }

    fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    fn lock(&self) -> MutexGuard<'_, Ending> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
