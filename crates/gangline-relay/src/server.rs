//! The listener and its connections.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use gangline_core::price::Prices;
use gangline_os::{
    CancellationToken,
    clock::SharedClock,
    secret::Secret,
    task::{HowEnded, TaskEnd, TaskGroup},
};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch},
};
use tracing::{debug, error, warn};

use crate::{
    CONNECTIONS_MAX,
    credential::Credential,
    forward::{Shared, client},
    totals::{Limits, Report, Totals},
    upstream::Upstream,
};

/// The next request of a connection must begin within this: longer than clients keep one that idles.
const HEAD_WITHIN: Duration = Duration::from_secs(180);
/// When no connection can be taken, it is tried again after this.
const AGAIN: Duration = Duration::from_millis(100);

/// What a relay needs.
pub struct Options {
    /// The socket; on loopback.
    pub listener: TcpListener,
    /// The API.
    pub upstream: Upstream,
    /// The token that a request must carry.
    pub token: Secret,
    /// The credentials.
    pub credential: Credential,
    /// What models cost.
    pub prices: Prices,
    /// The running sums.
    pub totals: Totals,
    /// Where to stop.
    pub limits: watch::Receiver<Limits>,
    /// Who is told what each call came to; a full queue holds up the end of a response.
    pub reports: mpsc::Sender<Report>,
    /// The time.
    pub clock: SharedClock,
}

/// Serves until `stop`; then responses under way are cut. Not cancel-safe.
///
/// # Errors
/// The listener is not on loopback, or no HTTP client can be made.
pub async fn run(options: Options, stop: CancellationToken) -> io::Result<()> {
    let address = options.listener.local_addr()?;
    if !address.ip().is_loopback() {
        return Err(io::Error::other(format!(
            "the relay listens on loopback only, not on {address}"
        )));
    }
    let Options { listener, upstream, token, credential, prices, totals, limits, reports, clock } =
        options;
    let client = client(&upstream)?;
    let port = address.port();
    let shared = Arc::new(Shared {
        client,
        upstream,
        token,
        credential,
        prices,
        totals,
        limits,
        reports,
        clock,
        port,
    });
    let _ = stop.run_until_cancelled(accept(listener, shared)).await;
    Ok(())
}

enum Event {
    Taken(io::Result<(TcpStream, OwnedSemaphorePermit)>),
    Ended(TaskEnd),
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut group = TaskGroup::new("relay connections");
    loop {
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|(stream, _)| (stream, place))
        };
        let event = tokio::select! {
            taken = next => Event::Taken(taken),
            Some(end) = group.next_end() => Event::Ended(end),
        };
        match event {
            Event::Taken(Ok((stream, place))) => {
                let shared = Arc::clone(&shared);
                group.spawn("connection", async move {
                    serve(stream, shared).await;
                    drop(place);
                });
            }
            Event::Taken(Err(error)) => {
                warn!(%error, "the relay cannot take a connection");
                tokio::time::sleep(AGAIN).await;
            }
            Event::Ended(TaskEnd { how: HowEnded::Panicked(why), .. }) => {
                error!(why, "a connection of the relay panicked");
            }
            Event::Ended(TaskEnd { how: HowEnded::Finished | HowEnded::Cancelled, .. }) => {}
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Each event is to leave as it comes.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(shared.answer(request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        debug!(%error, "a connection of the relay ended badly");
    }
}
