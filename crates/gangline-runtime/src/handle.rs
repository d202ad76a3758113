//! What is known of an adapter's session from outside: kept by its task, read by the adapter.

use std::sync::atomic::AtomicBool;

use gangline_os::{
    clock::{self, SharedClock},
    proc,
};
use tokio::sync::watch;

use crate::{RuntimeEvent, SessionHandle, SessionId, StartOptions};

/// What an adapter knows of its task without asking it.
#[derive(Default)]
pub(crate) struct Flags {
    /// Prompts are taken.
    pub(crate) ready: AtomicBool,
    /// A turn is open.
    pub(crate) busy: AtomicBool,
}

/// The only writer of a session's handle; see the module.
pub(crate) struct HandleKeeper {
    sender: watch::Sender<SessionHandle>,
    clock: SharedClock,
}

impl HandleKeeper {
    /// Begins a handle with what is known at the start.
    pub(crate) fn begin(
        runtime: &'static str,
        options: &StartOptions,
        session: Option<SessionId>,
        pid: Option<u32>,
    ) -> Self {
        let clock = clock::system();
        let handle = SessionHandle {
            runtime,
            session,
            workdir: options.workdir.clone(),
            pid,
            pid_start: pid.and_then(proc::start_time),
            started_at: clock.now(),
            ready_at: None,
        };
        Self { sender: watch::channel(handle).0, clock }
    }

    /// Returns where the handle can be read.
    pub(crate) fn reader(&self) -> watch::Receiver<SessionHandle> {
        self.sender.subscribe()
    }

    /// Takes another child, or none: of a backend whose program lives for a turn only.
    pub(crate) fn child(&self, pid: Option<u32>) {
        self.sender.send_modify(|handle| {
            handle.pid = pid;
            handle.pid_start = pid.and_then(proc::start_time);
        });
    }

    /// Returns the session's id, once it is known.
    pub(crate) fn session(&self) -> Option<SessionId> {
        self.sender.borrow().session.clone()
    }

    /// Takes from an event what it says about the session.
    pub(crate) fn see(&self, event: &RuntimeEvent) {
        let (session, ready) = match event {
            RuntimeEvent::Ready { session } => (session, true),
            RuntimeEvent::Session { session } => (session, false),
            _ => return,
        };
        self.sender.send_modify(|handle| {
            handle.session = Some(session.clone());
            if ready && handle.ready_at.is_none() {
                handle.ready_at = Some(self.clock.now());
            }
        });
    }
}
