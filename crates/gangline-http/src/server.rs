//! The listener and its connections: a bounded number, each for one exchange within bounds of time.
//!
//! A port that is taken is no reason for the hub to end: it is said, and tried again.

use std::{fmt, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use gangline_os::{
    CancellationToken,
    accept::{self, Connections},
    clock::SharedClock,
    paths::Paths,
    secret::Secret,
};
use gangline_store::Store;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
};
use tracing::{debug, info, warn};

use crate::{
    CONNECTIONS_MAX, WATCHERS_MAX, calls::Calls, daemons::Daemons, router::router, shared::Shared,
};

/// A request's head must be whole within this.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
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
    let shared = Shared { host, port, owner, paths, store, clock, daemons, calls, watchers };
    info!(%address, "the HTTP interface listens");
    standing.send_replace(Standing::Listening(address));
    let app = router(Arc::new(shared));
    let connections = Connections { most: CONNECTIONS_MAX, of: "http" };
    let serving = accept::each(listener, connections, |stream| serve(stream, app.clone()));
    let _ = stop.run_until_cancelled(serving).await;
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

/// Serves one exchange: a connection that idles would take the place of another.
async fn serve(stream: TcpStream, app: Router) {
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app))
        .await;
    if let Err(error) = served {
        debug!(%error, "an HTTP connection ended badly");
    }
}
