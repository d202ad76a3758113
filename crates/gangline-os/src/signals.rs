//! Signals that ask us to stop.

use std::io;

use tokio::signal::unix::{self, SignalKind};

/// Which signal asked us to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownSignal {
    /// SIGINT, as from Ctrl-C.
    Int,
    /// SIGTERM, as from the service manager.
    Term,
}

/// The requests to stop, one after the other. From its making on they no longer end the process.
#[derive(Debug)]
pub struct Signals {
    int: unix::Signal,
    term: unix::Signal,
}

impl Signals {
    /// Begins to listen. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn new() -> io::Result<Self> {
        let int = unix::signal(SignalKind::interrupt())?;
        let term = unix::signal(SignalKind::terminate())?;
        Ok(Self { int, term })
    }

    /// Waits for the next request. Equal ones in quick succession may count as one.
    ///
    /// Cancel-safe: yes; a request that was not returned is returned by the next call.
    pub async fn next(&mut self) -> ShutdownSignal {
        tokio::select! {
            Some(()) = self.int.recv() => ShutdownSignal::Int,
            Some(()) = self.term.recv() => ShutdownSignal::Term,
            else => std::future::pending().await,
        }
    }
}

/// Waits for one request to stop; for more than one use [`Signals`]. Waits for ever, and says so,
/// when the handlers cannot be installed.
///
/// Cancel-safe: no; a request between two calls may be lost.
pub async fn shutdown_signal() -> ShutdownSignal {
    match Signals::new() {
        Ok(mut signals) => signals.next().await,
        Err(error) => {
            tracing::error!(%error, "cannot listen to signals");
            std::future::pending().await
        }
    }
}
