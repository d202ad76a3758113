//! The relay between the backend and its model: made before the backend's start options, run as a task.

use std::sync::Arc;

use gangline_core::{
    AgentName, Epoch,
    budget::{self, Day},
    price::Prices,
};
use gangline_os::{
    CancellationToken,
    clock::{SharedClock, UnixMicros},
    secret::{self, Secret},
};
use gangline_relay::{
    Client, Credential, Ledger, Limits, Noting, Options, REPORTS, Report, Totals, Upstream,
};
use gangline_runtime::StartOptions;
use gangline_store::{NewRelayOpen, Store};
use jiff::{Timestamp, Zoned, tz::TimeZone};
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot, watch},
};
use tracing::error;

use crate::{
    settings::{Ended, Settings},
    texts,
};

/// A relay that listens and is not served yet.
pub(crate) struct Prepared {
    listener: TcpListener,
    upstream: Upstream,
    client: Client,
    credential: Credential,
    token: Secret,
    prices: Prices,
    clock: SharedClock,
    /// Where the backend reaches it.
    address: String,
    /// What it has counted.
    pub(crate) totals: Totals,
}

impl Prepared {
    /// Listens, if the agent has a relay.
    ///
    /// # Errors
    /// How the daemon ends instead: without the relay a budget could not stop.
    pub(crate) async fn new(settings: &Settings) -> Result<Option<Self>, Ended> {
        let Some(address) = &settings.spending.relay_to else { return Ok(None) };
        let unusable = |error: &dyn std::error::Error| Ended {
            code: Ended::HOPELESS,
            why: format!("the relay cannot be used: {error}"),
        };
        let upstream = Upstream::parse(address).map_err(|error| unusable(&error))?;
        let client = Client::of(&upstream).map_err(|error| unusable(&error))?;
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let bound = listener.and_then(|it| it.local_addr().map(|address| (it, address.port())));
        let (listener, port) = bound.map_err(|error| Ended {
            code: Ended::CRASHED,
            why: format!("the relay cannot listen: {error}"),
        })?;
        let credential = settings.api_key.clone().map_or(Credential::Own, Credential::Key);
        let token = secret::random_token();
        Ok(Some(Self {
            address: credential.address(port, &upstream, &token),
            listener,
            upstream,
            client,
            credential,
            token,
            prices: settings.spending.prices.clone(),
            clock: settings.clock.clone(),
            totals: Totals::default(),
        }))
    }

    /// Returns what is masked everywhere.
    pub(crate) fn token(&self) -> Secret {
        self.token.clone()
    }

    /// Gives the backend the relay's address and token in place of the model's.
    pub(crate) fn apply(&self, options: &mut StartOptions) {
        options.base_url = Some(self.address.clone());
        if options.api_key.is_some() {
            options.api_key = Some(self.token.clone());
        }
    }

    /// Serves until `stop`. Returns the task and what it reports.
    pub(crate) fn serve(
        self,
        (limits, ledger): (watch::Receiver<Limits>, Notes),
        stop: CancellationToken,
    ) -> (impl Future<Output = ()> + Send + 'static, mpsc::Receiver<Report>) {
        let (report, reports) = mpsc::channel(REPORTS);
        let options = Options {
            listener: self.listener,
            upstream: self.upstream,
            client: self.client,
            token: self.token,
            credential: self.credential,
            prices: self.prices,
            totals: self.totals,
            limits,
            ledger: Arc::new(ledger),
            reports: report,
            clock: self.clock,
        };
        let run = async move {
            if let Err(error) = gangline_relay::run(options, stop).await {
                error!(%error, "the relay ended");
            }
        };
        (run, reports)
    }
}

/// The notes of calls that begin: rows of the store.
pub(crate) struct Notes {
    pub(crate) store: Store,
    pub(crate) agent: AgentName,
    pub(crate) epoch: Epoch,
    pub(crate) clock: SharedClock,
}

impl Ledger for Notes {
    /// Returns once the row is committed: a killed process has left it then. It is not waited for its sync,
    /// which only a machine without power needs.
    fn begins(&self, bytes: Option<u64>) -> Noting<'_> {
        Box::pin(async move {
            let day = today(self.clock.now()).ok_or("the time cannot be read")?.name;
            let bytes = bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
            let (agent, epoch) = (self.agent.clone(), self.epoch);
            let (tell, told) = oneshot::channel();
            let new = NewRelayOpen { agent, epoch, day, bytes };
            // Nobody waits any more: then the client has gone.
            let write = self.store.relay_begins(new, move |number| _ = tell.send(number));
            tokio::select! {
                biased;
                Ok(number) = told => Ok(number),
                written = write => written.map_err(|error| texts::whole(&error)),
            }
        })
    }
}

/// Returns the day of a time, by the clock on the wall.
pub(crate) fn today(now: UnixMicros) -> Option<Day> {
    let stamp = Timestamp::from_microsecond(now.0).ok()?;
    budget::day(&Zoned::new(stamp, TimeZone::system()))
}
