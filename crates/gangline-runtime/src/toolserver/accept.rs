//! Taking connections, a bounded number at a time, each in a task of its own.

use std::{io, sync::Arc, time::Duration};

use gangline_os::task::{HowEnded, TaskEnd, TaskGroup};
use tokio::{
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::Semaphore,
    time::sleep,
};
use tracing::{error, warn};

use super::CONNECTIONS_MAX;

/// When no connection can be taken, it is tried again after this.
const AGAIN: Duration = Duration::from_millis(100);

/// What connections come from. Both are cancel-safe.
pub(super) trait Listener: Send + 'static {
    type Stream: Send + 'static;

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

enum Event<S> {
    Taken(io::Result<S>),
    Ended(TaskEnd),
}

/// Serves each connection by `serve` until this is dropped, which drops them too. One that finds
/// no room waits unserved.
pub(super) async fn each<L, F>(listener: L, mut serve: impl FnMut(L::Stream) -> F)
where
    L: Listener,
    F: Future<Output = ()> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut group = TaskGroup::new("connections to the tools");
    loop {
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await;
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
                warn!(%error, "no connection to the tools can be taken");
                sleep(AGAIN).await;
            }
            Event::Ended(TaskEnd { how: HowEnded::Panicked(why), .. }) => {
                error!(why, "a connection to the tools panicked");
            }
            Event::Ended(TaskEnd { how: HowEnded::Finished | HowEnded::Cancelled, .. }) => {}
        }
    }
}
