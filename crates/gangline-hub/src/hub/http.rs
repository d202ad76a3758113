//! The HTTP interface as a part of the hub: begun with it, ended with it.

use std::{net::SocketAddr, sync::Arc};

use gangline_http::{Daemons, Options, Standing};
use gangline_os::{CancellationToken, secret::Secret, task::TaskGroup};
use gangline_store::Store;
use tokio::sync::watch;
use tracing::info;

use super::HubOptions;

/// Where the HTTP interface listens, and who knows the daemons.
pub struct HttpOptions {
    /// An address of loopback.
    pub address: SocketAddr,
    /// The configured name of that address.
    pub host: String,
    /// Whoever knows the daemons.
    pub daemons: Arc<dyn Daemons>,
}

/// Begins to serve, if that is wanted; returns how it stands, and its task.
pub(super) fn serve(
    options: &HubOptions,
    (store, owner): (&Store, &Secret),
    stop: &CancellationToken,
) -> (watch::Receiver<Standing>, TaskGroup) {
    let (standing, stands) = watch::channel(Standing::Off);
    let mut tasks = TaskGroup::new("http");
    if let Some(http) = &options.http {
        let served = Options {
            address: http.address,
            host: http.host.clone(),
            owner: owner.clone(),
            paths: options.paths.clone(),
            store: store.clone(),
            clock: options.clock.clone(),
            daemons: Arc::clone(&http.daemons),
        };
        let stop = stop.clone();
        tasks.spawn("http", async move {
            let end = gangline_http::run(served, standing, stop).await;
            info!(?end, "the HTTP interface ended");
        });
    }
    (stands, tasks)
}

/// Returns the address, if it listens.
pub(super) fn address(standing: &Standing) -> Option<String> {
    match standing {
        Standing::Listening(_) => Some(standing.to_string()),
        Standing::Off | Standing::Waiting(..) => None,
    }
}
