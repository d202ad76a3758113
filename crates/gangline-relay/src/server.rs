//! The listener and its connections.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use gangline_core::price::Prices;
use gangline_os::{
    CancellationToken,
    accept::{self, Connections},
    clock::SharedClock,
    secret::Secret,
};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
};
use tracing::debug;

use crate::{
    CONNECTIONS_MAX, admit,
    client::Client,
    credential::Credential,
    forward::Shared,
    totals::{Ledger, Limits, Report, Totals},
    upstream::Upstream,
};

/// The next request of a connection must begin within this: longer than clients keep one that idles.
const HEAD_WITHIN: Duration = Duration::from_secs(180);

/// What a relay needs.
pub struct Options {
    /// The socket; on loopback.
    pub listener: TcpListener,
    /// The API.
    pub upstream: Upstream,
    /// The client for it.
    pub client: Client,
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
    /// Where each call is noted before it is made.
    pub ledger: Arc<dyn Ledger>,
    /// Who is told what each call came to; a full queue holds up the end of a response.
    pub reports: mpsc::Sender<Report>,
    /// The time.
    pub clock: SharedClock,
}

/// Serves until `stop`; then responses under way are cut. Not cancel-safe.
///
/// # Errors
/// The listener is not on loopback.
pub async fn run(options: Options, stop: CancellationToken) -> io::Result<()> {
    let address = options.listener.local_addr()?;
    if !address.ip().is_loopback() {
        return Err(io::Error::other(format!(
            "the relay listens on loopback only, not on {address}"
        )));
    }
    let Options {
        listener,
        upstream,
        client,
        token,
        credential,
        prices,
        totals,
        limits,
        ledger,
        reports,
        clock,
    } = options;
    let hosts = admit::hosts(address.port());
    let shared = Arc::new(Shared {
        client,
        upstream,
        token,
        credential,
        prices,
        totals,
        limits,
        ledger,
        reports,
        clock,
        hosts,
    });
    let connections = Connections { most: CONNECTIONS_MAX, of: "relay" };
    let serving = accept::each(listener, connections, |stream| serve(stream, Arc::clone(&shared)));
    let _ = stop.run_until_cancelled(serving).await;
    Ok(())
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
