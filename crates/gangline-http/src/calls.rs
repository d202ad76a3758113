//! The calls of tools that are under way, which their clients may take back.

use std::sync::Mutex;

use gangline_os::CancellationToken;
use serde_json::Value;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::CALLS_MAX;

/// The calls under way.
pub(crate) struct Calls {
    /// A name of this server, in the ids of its calls.
    pub(crate) server: String,
    pub(crate) room: Semaphore,
    running: Mutex<Vec<Running>>,
}

/// A call under way: its session, what its client calls it, and what takes it back.
struct Running {
    session: String,
    rpc: Value,
    taken_back: CancellationToken,
}

impl Calls {
    pub(crate) fn new() -> Self {
        let server = Uuid::new_v4().simple().to_string();
        Self { server, room: Semaphore::new(CALLS_MAX), running: Mutex::new(Vec::new()) }
    }

    pub(crate) fn begin(&self, session: &str, rpc: &Value) -> CancellationToken {
        let taken_back = CancellationToken::new();
        if let Ok(mut running) = self.running.lock() {
            let (session, rpc) = (session.to_owned(), rpc.clone());
            running.push(Running { session, rpc, taken_back: taken_back.clone() });
        }
        taken_back
    }

    pub(crate) fn take_back(&self, session: &str, rpc: &Value) {
        let Ok(running) = self.running.lock() else { return };
        for running in running.iter().filter(|it| it.session == session && it.rpc == *rpc) {
            running.taken_back.cancel();
        }
    }
}

/// Ends a call's entry, also when its client went away.
pub(crate) struct Entry<'a>(&'a Calls, CancellationToken);

impl<'a> Entry<'a> {
    pub(crate) fn new(calls: &'a Calls, taken_back: CancellationToken) -> Self {
        Self(calls, taken_back)
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.1.cancel();
        if let Ok(mut running) = self.0.running.lock() {
            running.retain(|it| !it.taken_back.is_cancelled());
        }
    }
}
