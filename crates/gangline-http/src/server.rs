//! The listener and its connections: a bounded number, within bounds of time. A connection is kept for some
//! seconds after a response, since clients send their next request on it.
//!
//! A port that is taken is no reason for the hub to end: it is said, and tried again.

use std::{
    fmt, io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, HttpBody},
};
use gangline_os::{
    CancellationToken,
    clock::SharedClock,
    dial::own_uid,
    paths::Paths,
    peer,
    secret::Secret,
    task::{HowEnded, TaskEnd, TaskGroup},
};
use gangline_store::Store;
use hyper::{
    body::{Frame, SizeHint},
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
};
use tracing::{debug, error, info, warn};

use crate::{
    WATCHERS_MAX,
    calls::Calls,
    crowd::{Crowded, Origin, Seat, Serving},
    daemons::Daemons,
    router::router,
    shared::Shared,
};

/// A request's head must be whole within this, also the next one of a connection.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// The pause after a connection that could not be taken: out of descriptors, the same error would come at once.
const AGAIN: Duration = Duration::from_millis(100);
/// A port that cannot be had is tried again after this.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// What is served.
pub struct Options {
    /// Where to listen: an address of loopback.
    pub address: SocketAddr,
    /// The configured name of that address, which a request may call it by.
    pub host: String,
    /// The owner's token.
    pub owner: Secret,
    /// Where the daemons hear of changes.
    pub paths: Paths,
    /// The store.
    pub store: Store,
    /// The time.
    pub clock: SharedClock,
    /// Whoever knows the daemons.
    pub daemons: Arc<dyn Daemons>,
}

/// How the interface stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Standing {
    /// There is none, or it has not tried to listen yet.
    #[default]
    Off,
    /// It listens here.
    Listening(SocketAddr),
    /// It cannot listen here, for this reason; it tries again.
    Waiting(SocketAddr, String),
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Listening(address) => write!(f, "http://{address}"),
            Self::Waiting(address, why) => write!(f, "cannot listen on {address}: {why}"),
        }
    }
}

/// Why it is no longer served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was asked to stop.
    Stopped,
}

/// Serves until `stop`; requests under way are dropped then. `standing` is told where it listens, and
/// why it cannot.
pub async fn run(
    options: Options,
    standing: watch::Sender<Standing>,
    stop: CancellationToken,
) -> Ended {
    let Some((listener, address)) = stop.run_until_cancelled(listen(&options, &standing)).await
    else {
        return Ended::Stopped;
    };
    let Options { host, owner, paths, store, clock, daemons, .. } = options;
    let calls = Calls::new();
    let port = address.port();
    let watchers = Arc::new(Semaphore::new(WATCHERS_MAX));
    let crowded = Crowded::new(SharedClock::clone(&clock));
    let shared = Shared { host, port, owner, paths, store, clock, daemons, calls, watchers };
    info!(%address, "the HTTP interface listens");
    standing.send_replace(Standing::Listening(address));
    let app = router(Arc::new(shared));
    let _ = stop.run_until_cancelled(each(listener, crowded, app)).await;
    Ended::Stopped
}

/// Listens; tries until it can.
async fn listen(
    options: &Options,
    standing: &watch::Sender<Standing>,
) -> (TcpListener, SocketAddr) {
    loop {
        let bound = match TcpListener::bind(options.address).await {
            Ok(listener) => listener.local_addr().map(|address| (listener, address)),
            Err(error) => Err(error),
        };
        let error = match bound {
            Ok(bound) => return bound,
            Err(error) => error,
        };
        let now = Standing::Waiting(options.address, why(&error));
        if *standing.borrow() != now {
            warn!(address = %options.address, %error, "the HTTP interface cannot listen");
            standing.send_replace(now);
        }
        tokio::time::sleep(TRY_AGAIN).await;
    }
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => "another program has the port".to_owned(),
        _ => error.to_string(),
    }
}

enum Event {
    Taken(io::Result<(TcpStream, SocketAddr)>),
    Ended(TaskEnd),
}

/// Serves each connection. Never returns: dropping it ends every connection.
async fn each(listener: TcpListener, crowded: Arc<Crowded>, app: Router) {
    let mut group = TaskGroup::new("http");
    loop {
        let next = async {
            crowded.room().await;
            listener.accept().await
        };
        let event = tokio::select! {
            taken = next => Event::Taken(taken),
            Some(end) = group.next_end() => Event::Ended(end),
        };
        match event {
            Event::Taken(Ok((stream, peer))) => {
                // Closed at once: its user's requests are being served, as many as one may have.
                let Some(seat) = crowded.comes(origin(&stream, peer)) else { continue };
                group.spawn("connection", serve(stream, app.clone(), seat));
            }
            Event::Taken(Err(error)) => {
                warn!(%error, "an HTTP connection cannot be taken");
                tokio::time::sleep(AGAIN).await;
            }
            Event::Ended(TaskEnd { how: HowEnded::Panicked(why), .. }) => {
                error!(why, "an HTTP connection panicked");
            }
            Event::Ended(TaskEnd { how: HowEnded::Finished | HowEnded::Cancelled, .. }) => {}
        }
    }
}

fn origin(stream: &TcpStream, peer: SocketAddr) -> Origin {
    let uid = stream.local_addr().and_then(|local| peer::tcp_peer_uid(local, peer));
    match uid {
        Ok(Some(uid)) if uid == own_uid() => Origin::Own,
        Ok(Some(uid)) => Origin::Other(uid),
        Ok(None) | Err(_) => Origin::Unknown,
    }
}

/// Serves a connection until its client closes it, is late, or it has to give way to another.
async fn serve(stream: TcpStream, app: Router, seat: Seat) {
    let app = TowerToHyperService::new(app);
    let service = service_fn(|request| {
        let (serving, answer) = (seat.serves(), app.call(request));
        async move { answer.await.map(|response| response.map(|body| Held { body, _serving: serving })) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .serve_connection(TokioIo::new(stream), service);
    match seat.end.run_until_cancelled(served).await {
        Some(Err(error)) => debug!(%error, "an HTTP connection ended badly"),
        Some(Ok(())) => {}
        None => debug!("an HTTP connection without a request gave way to another"),
    }
}

/// A response's body, with which the connection stays.
struct Held {
    body: Body,
    _serving: Serving,
}

impl HttpBody for Held {
    type Data = <Body as HttpBody>::Data;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
