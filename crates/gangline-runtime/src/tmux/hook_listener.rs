//! Where a program's hooks report to: a socket of the session, to which each of them brings one JSON
//! object and no more.
//!
//! A hook waits until its object was taken, so what happens one after the other is heard in that
//! order. Start at [`HookListener::open`]; what an object means is told by [`super::hooks`].

use std::{io, path::Path, time::Duration};

use gangline_os::{json, task::TaskGroup};
use serde_json::Value;
use tokio::{
    io::AsyncReadExt,
    net::{UnixListener, UnixStream},
    sync::mpsc,
    time,
};
use tracing::{debug, warn};

use crate::toolserver::socket::{self, SocketFile};

/// The folder of the socket, below that for files of no use tomorrow.
const FOLDER: &str = "hooks";
/// Longest object that is taken, in bytes; the screen tells what it says.
const OBJECT_MAX: u64 = 1 << 20;
/// An object must be whole within this. The next one waits as long.
const WHOLE_WITHIN: Duration = Duration::from_secs(3);
/// When no connection can be taken, it is tried again after this.
const AGAIN: Duration = Duration::from_millis(100);
/// Objects that wait to be heard; the next one lets its hook wait.
const QUEUE: usize = 16;

/// See the module. Dropping it closes and removes the socket.
#[derive(Debug)]
pub(super) struct HookListener {
    heard: mpsc::Receiver<Value>,
    socket: SocketFile,
    _tasks: TaskGroup,
}

impl HookListener {
    /// Listens at a socket of its own below `tmp_dir`. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When the socket cannot be had, for instance because its path is too long.
    pub(super) fn open(tmp_dir: &Path) -> io::Result<Self> {
        let (listener, socket) = socket::listen(&tmp_dir.join(FOLDER))?;
        let (hear, heard) = mpsc::channel(QUEUE);
        let mut tasks = TaskGroup::new("hooks");
        tasks.spawn("hooks", listen(listener, hear));
        Ok(Self { heard, socket, _tasks: tasks })
    }

    /// Returns the words that bring their standard input here: `bridge`, with the socket behind it.
    pub(super) fn words(&self, bridge: &[String]) -> Vec<String> {
        let mut words = bridge.to_vec();
        words.push(self.socket.path().display().to_string());
        words
    }

    /// Returns the next object. Cancel-safe: yes, nothing is taken before it is returned.
    pub(super) async fn next(&mut self) -> Value {
        match self.heard.recv().await {
            Some(object) => object,
            // The task ends with this only, unless it panicked: then the screen tells the rest.
            None => std::future::pending().await,
        }
    }
}

async fn listen(listener: UnixListener, hear: mpsc::Sender<Value>) {
    loop {
        match listener.accept().await {
            Ok((mut stream, _)) => {
                if let Some(object) = take(&mut stream).await {
                    let _ = hear.send(object).await;
                }
                // Only now the hook ends, and with it what waits for it.
                drop(stream);
            }
            Err(error) => {
                warn!(%error, "no hook can be heard");
                // sleep: the system tells nobody when it has room again.
                time::sleep(AGAIN).await;
            }
        }
    }
}

/// Reads until the other end says nothing more. Something else than an object is nothing.
async fn take(stream: &mut UnixStream) -> Option<Value> {
    let mut bytes = Vec::new();
    let mut bounded = stream.take(OBJECT_MAX + 1);
    match time::timeout(WHOLE_WITHIN, bounded.read_to_end(&mut bytes)).await {
        Ok(Ok(_)) if bytes.len() as u64 > OBJECT_MAX => {
            debug!("a hook says more than is heard");
            None
        }
        Ok(Ok(_)) => json::from_slice(&bytes).ok().filter(Value::is_object),
        Ok(Err(_)) | Err(_) => {
            debug!("a hook broke off");
            None
        }
    }
}

#[cfg(test)]
mod tests;
