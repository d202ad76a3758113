//! Signals that ask us to stop, and the further requests to a process that keeps others.

use std::io::{self, IsTerminal as _};

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

/// What a process that keeps others is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// To stop.
    Stop(ShutdownSignal),
    /// SIGUSR1: to stop and to leave those that it keeps as they are.
    Leave,
    /// SIGHUP: to read the configuration again.
    Reload,
    /// SIGHUP because the terminal is gone that it was started in front of.
    HungUp,
}

/// The requests of a process that keeps others, one after the other. From its making on none of
/// them ends the process.
#[derive(Debug)]
pub struct Requests {
    stop: Signals,
    leave: unix::Signal,
    hangup: unix::Signal,
    /// Which of the standard streams were a terminal at the start.
    terminals: [bool; 3],
}

impl Requests {
    /// Begins to listen. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            stop: Signals::new()?,
            leave: unix::signal(SignalKind::user_defined1())?,
            hangup: unix::signal(SignalKind::hangup())?,
            terminals: terminals(),
        })
    }

    /// Waits for the next request. Equal ones in quick succession may count as one.
    ///
    /// Cancel-safe: yes; a request that was not returned is returned by the next call.
    pub async fn next(&mut self) -> Request {
        tokio::select! {
            signal = self.stop.next() => Request::Stop(signal),
            Some(()) = self.leave.recv() => Request::Leave,
            Some(()) = self.hangup.recv() => {
                // A terminal that was hung up is none any more.
                let gone = |(before, now): (bool, bool)| before && !now;
                match self.terminals.into_iter().zip(terminals()).any(gone) {
                    true => Request::HungUp,
                    false => Request::Reload,
                }
            }
        }
    }
}

fn terminals() -> [bool; 3] {
    [io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()]
}
