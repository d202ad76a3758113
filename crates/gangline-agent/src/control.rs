//! Control: the unix socket on which the agent's own shell, people's commands and programs speak to
//! the daemon (R0-38 … R0-55, R1-12 … R1-25).
//!
//! Owns the listener and the table of connections; each connection is a task of its own
//! (`connection.rs`), and [`requests::Requests`] answers its requests. Every bound is a constant
//! here or in [`gangline_api::ipc`]. Start at [`run`].

mod connection;
mod folder;
mod lines;
mod mentions;
mod operate;
mod places;
pub(crate) mod readable;
pub(crate) mod requests;
mod say;
pub(crate) mod socket;
mod wake;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use gangline_api::ipc::{CONNECTIONS_MAX, Frame, Response};
use gangline_os::{
    CancellationToken, dial, peer,
    task::{HowEnded, TaskGroup},
};
use tokio::{net::UnixStream, sync::watch};
use tracing::{debug, warn};

use connection::Connection;
use requests::Requests;
use socket::Socket;

/// How long a connection that must end may take to finish its responses.
const END_WITHIN: Duration = Duration::from_secs(1);
/// How long no connection is taken when the system has no room for one.
const NO_ROOM_WAIT: Duration = Duration::from_millis(100);

/// What the table knows of one connection while its task serves it.
#[derive(Debug)]
pub(super) struct Activity {
    /// A request is under way, or events are being read.
    pub(super) busy: AtomicBool,
    /// Since when it asks nothing: the monotonic time in milliseconds.
    pub(super) idle_since: AtomicU64,
}

struct Entry {
    activity: Arc<Activity>,
    end: CancellationToken,
}

/// Why the socket is no longer served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControlEnd {
    /// It was stopped, and every connection has ended.
    Stopped,
    /// It was stopped, and so many connections did not end in time: they were cut.
    Cut(usize),
}

enum Event {
    Came(std::io::Result<UnixStream>),
    Ended(String),
    Tick,
    Stop,
}

/// Serves until it is stopped, then ends every connection and removes the socket. Cancel-safe: the
/// socket is removed when it is dropped too.
pub(crate) async fn run(
    mut socket: Socket,
    requests: Arc<Requests>,
    mut ticks: watch::Receiver<u64>,
    stop: CancellationToken,
) -> ControlEnd {
    let mut table: HashMap<String, Entry> = HashMap::new();
    let mut group = TaskGroup::new("control");
    let mut count: u64 = 0;
    loop {
        let event = tokio::select! {
            came = socket.listener.accept() => Event::Came(came.map(|(stream, _)| stream)),
            Some(end) = group.next_end(), if !group.is_empty() => Event::Ended(end.name),
            Ok(()) = ticks.changed() => Event::Tick,
            () = stop.cancelled() => Event::Stop,
        };
        match event {
            Event::Came(Ok(stream)) => {
                if !may_come(&stream) || !has_place(&mut table, &stream) {
                    continue;
                }
                count += 1;
                let name = format!("connection {count}");
                let activity = Arc::new(Activity {
                    busy: AtomicBool::new(false),
                    idle_since: AtomicU64::new(requests.millis()),
                });
                let end = CancellationToken::new();
                let entry = Entry { activity: Arc::clone(&activity), end: end.clone() };
                table.insert(name.clone(), entry);
                let connection = Connection::new(stream, Arc::clone(&requests), activity);
                group.spawn(name, async move {
                    let end = connection.run(end).await;
                    debug!(count, ?end, "a connection ended");
                });
            }
            Event::Came(Err(error)) => {
                warn!(%error, "cannot take a connection");
                tokio::time::sleep(NO_ROOM_WAIT).await;
            }
            Event::Ended(name) => {
                table.remove(&name);
            }
            Event::Tick => match socket.renew() {
                Ok(true) => warn!("the socket was gone; it was made again"),
                Ok(false) => {}
                Err(error) => warn!(%error, "the socket is gone"),
            },
            Event::Stop => break,
        }
    }
    drop(socket);
    for entry in table.into_values() {
        entry.end.cancel();
    }
    let cut =
        group.stop(END_WITHIN).await.iter().filter(|end| end.how == HowEnded::Cancelled).count();
    if cut == 0 { ControlEnd::Stopped } else { ControlEnd::Cut(cut) }
}

/// Only this user and root come in (C21).
fn may_come(stream: &UnixStream) -> bool {
    match peer::unix_peer_uid(stream) {
        Ok(uid) if uid == 0 || uid == dial::own_uid() => true,
        Ok(uid) => {
            warn!(uid, "somebody else's connection is refused");
            false
        }
        Err(error) => {
            debug!(%error, "the user of a connection is unknown");
            false
        }
    }
}

/// Makes room if needed, by closing the connection that has been silent longest.
/// Returns false if all are busy; then the newcomer is refused.
fn has_place(table: &mut HashMap<String, Entry>, newcomer: &UnixStream) -> bool {
    if table.len() < CONNECTIONS_MAX {
        return true;
    }
    let idle = table.iter().filter(|(_, entry)| !entry.activity.busy.load(Ordering::Relaxed));
    let longest = idle.min_by_key(|(_, entry)| entry.activity.idle_since.load(Ordering::Relaxed));
    let Some(name) = longest.map(|(name, _)| name.clone()) else {
        let text = format!("{CONNECTIONS_MAX} connections are busy already; try again");
        let frame = Frame::Response(Response::failed(None, text));
        if let Ok(line) = frame.encode() {
            // A fresh socket's buffer holds a line; if not, the end alone tells.
            let _ = newcomer.try_write(&line);
        }
        return false;
    };
    if let Some(entry) = table.remove(&name) {
        entry.end.cancel();
    }
    true
}

#[cfg(test)]
mod tests;
