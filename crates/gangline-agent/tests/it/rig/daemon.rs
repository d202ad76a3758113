//! The daemon of a story, and what a test does with it from outside.

use std::{os::unix::net::UnixListener, path::PathBuf, sync::mpsc};

use gangline_agent::Ended;
use gangline_store::Syncs;
use serde_json::{Value, json};

use super::{Held, Ipc, Part};

/// The daemon, as long as it runs. Dropped, it is killed.
pub(crate) struct Daemon {
    pub(super) part: Part<Ended>,
    pub(super) socket: PathBuf,
    /// The owner's.
    pub(crate) token: String,
    pub(super) syncs: mpsc::Receiver<Syncs>,
}

impl Daemon {
    pub(crate) fn dial(&self) -> Ipc {
        Ipc::dial(&self.socket)
    }

    /// Returns a connection unless nobody listens.
    pub(crate) fn try_dial(&self) -> Option<Ipc> {
        Ipc::try_dial(&self.socket)
    }

    /// Returns the count of its store's syncs. Once.
    pub(crate) fn syncs(&self) -> Syncs {
        self.syncs.recv().expect("a store")
    }

    /// Makes the whole daemon stand still: none of its tasks runs, while its store, the native
    /// loop, the chat server and the model go on.
    pub(crate) fn hold(&self) -> Held {
        self.part.hold()
    }

    /// Asks for something that only the owner may.
    pub(crate) fn owner(&self, command: &str) -> Value {
        self.dial().ok(self.signed(json!({"type": command})))
    }

    /// Returns the request with the owner's token.
    pub(crate) fn signed(&self, mut request: Value) -> Value {
        request["token"] = self.token.clone().into();
        request
    }

    /// Kills it: what it had not written is gone, and its socket stays behind.
    pub(crate) fn kill(self) {
        let socket = self.socket.clone();
        drop(self);
        // A process that is killed removes nothing; a listener of std's does not either.
        drop(UnixListener::bind(socket).unwrap());
    }

    /// Kills it while it stands still: it does not take one step more.
    pub(crate) fn kill_held(self, held: Held) {
        self.part.is_to_die();
        drop(held);
    }

    /// Asks it to end and waits for that.
    pub(crate) fn stop(self) -> Ended {
        self.owner("shutdown");
        self.ended()
    }

    /// Returns whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.part.is_over()
    }

    /// Waits for its end.
    pub(crate) fn ended(self) -> Ended {
        self.part.join().expect("an end of its own")
    }
}
