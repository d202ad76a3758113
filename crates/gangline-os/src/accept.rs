//! Serving the connections of a listener: a bounded number at the same time, each in a task of its own.
//!
//! What a connection carries is its server's business. Start at [`each`].

use std::{future::Future, io, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
};
use tracing::{error, warn};

use crate::task::{HowEnded, TaskEnd, TaskGroup};

#[cfg(test)]
mod tests;

/// The pause after a connection that could not be taken: out of descriptors, the same error would come
/// at once.
const AGAIN: Duration = Duration::from_millis(100);

/// Where connections come from.
pub trait Listener: Send + 'static {
    /// One connection.
    type Stream: Send + 'static;

    /// Waits for the next connection. Cancel-safe: yes; one that was not returned still waits.
    ///
    /// # Errors
    /// When a connection cannot be accepted, most often for want of descriptors.
    fn take(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn take(&self) -> io::Result<TcpStream> {
        self.accept().await.map(|(stream, _)| stream)
    }
}

impl Listener for UnixListener {
    type Stream = UnixStream;

    async fn take(&self) -> io::Result<UnixStream> {
        self.accept().await.map(|(stream, _)| stream)
    }
}

/// How many connections are served at the same time, and whose they are.
#[derive(Debug, Clone, Copy)]
pub struct Connections {
    /// The bound; one more waits, not accepted, until another has ended.
    pub most: usize,
    /// Their server's name, for the log.
    pub of: &'static str,
}

enum Event<S> {
    Taken(io::Result<(S, OwnedSemaphorePermit)>),
    Ended(TaskEnd),
}

/// Serves each connection by `serve`. Never returns: dropping it ends every connection. A failed accept is
/// logged and tried again, and a connection whose task panics ends alone.
pub async fn each<L, F>(
    listener: L,
    connections: Connections,
    mut serve: impl FnMut(L::Stream) -> F,
) where
    L: Listener,
    F: Future<Output = ()> + Send + 'static,
{
    let Connections { most, of } = connections;
    let room = Arc::new(Semaphore::new(most));
    let mut group = TaskGroup::new(of);
    loop {
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
            listener.take().await.map(|stream| (stream, place))
        };
        let event = tokio::select! {
            taken = next => Event::Taken(taken),
            Some(end) = group.next_end() => Event::Ended(end),
        };
        match event {
            Event::Taken(Ok((stream, place))) => {
                let serving = serve(stream);
                group.spawn("connection", async move {
                    serving.await;
                    drop(place);
                });
            }
            Event::Taken(Err(error)) => {
                warn!(of, %error, "a connection cannot be taken");
                sleep(AGAIN).await;
            }
            Event::Ended(TaskEnd { how: HowEnded::Panicked(why), .. }) => {
                error!(of, why, "a connection panicked");
            }
            Event::Ended(TaskEnd { how: HowEnded::Finished | HowEnded::Cancelled, .. }) => {}
        }
    }
}
