//! A request's way to the API and its response's way back. Start at [`Shared::answer`].

use std::{error::Error, io, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::stream;
use gangline_core::{
    budget::CallOutcome,
    price::{Prices, Tokens},
    unreached::BY_RELAY,
};
use gangline_os::{clock::SharedClock, secret::Secret};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited, StreamBody, combinators};
use hyper::{
    Request, Response, StatusCode,
    body::{Body as _, Frame, Incoming},
    header::{self, HeaderMap, HeaderName, HeaderValue},
    http::request::Parts,
};
use tokio::sync::{mpsc, watch};
use tracing::warn;

use crate::{
    REQUEST_MAX,
    admit::{self, Found, Stopped},
    client::{self, Client},
    count::Counting,
    credential::Credential,
    headers,
    totals::{Ledger, Limits, Report, Totals},
    upstream::Upstream,
    wire::{Asked, Cost, Wire},
};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Tells the vendors' clients that the same request will not fare better.
const NO_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

type Body = combinators::UnsyncBoxBody<Bytes, io::Error>;

/// What every request needs.
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) upstream: Upstream,
    pub(crate) token: Secret,
    pub(crate) credential: Credential,
    pub(crate) prices: Prices,
    pub(crate) totals: Totals,
    pub(crate) limits: watch::Receiver<Limits>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) reports: mpsc::Sender<Report>,
    pub(crate) clock: SharedClock,
    /// How requests may call the relay.
    pub(crate) hosts: [String; 2],
}

/// Why the relay answers by itself.
struct Refusal {
    status: StatusCode,
    text: String,
}

impl Refusal {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

impl Shared {
    /// Answers one request. Cancel-safe: dropping it ends the request to the API.
    pub(crate) async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        match self.forward(request).await {
            Ok(response) => response,
            Err(Refusal { status, text }) => {
                let body = Wire::likely(&path).refusal(&path, status.as_u16(), &text).to_string();
                let body = Full::from(body).map_err(|never| match never {}).boxed_unsync();
                let mut response = Response::new(body);
                *response.status_mut() = status;
                let headers = response.headers_mut();
                headers.insert(header::CONTENT_TYPE, JSON);
                // An API that cannot be reached may be reached a moment later.
                if status != StatusCode::BAD_GATEWAY {
                    headers.insert(NO_RETRY, HeaderValue::from_static("false"));
                }
                response
            }
        }
    }

    async fn forward(
        self: &Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Refusal> {
        let began = self.clock.monotonic();
        let (Parts { method, uri, mut headers, .. }, body) = request.into_parts();
        let found = self.admit(&headers, uri.path())?;
        if headers::wants_websocket(&headers) {
            let text = "this relay speaks HTTP requests only: POST to the same path";
            return Err(Refusal::new(StatusCode::UPGRADE_REQUIRED, text));
        }
        headers::of_request(&mut headers);
        let path = self.credentials(found, uri.path(), &mut headers)?;
        let Some(url) = self.upstream.url(path, uri.query()) else {
            let text = format!("this relay serves paths below `{}/` only", self.upstream.base());
            return Err(Refusal::new(StatusCode::NOT_FOUND, text));
        };
        let Some(asked) = Asked::of(&method, path) else {
            let text = "the path is written in a way that servers read differently: this relay passes on plain \
                        paths only";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, text));
        };
        if asked.cost != Cost::Free {
            self.within_limits()?;
        }
        if body.size_hint().lower() > REQUEST_MAX {
            return Err(too_large());
        }
        // Noted before a byte of it leaves.
        let noted = match asked.cost {
            Cost::Call => Some(self.note(&body).await?),
            Cost::Free | Cost::Look => None,
        };
        let sending = self.client.0.request(method, url).headers(headers);
        let sending = match body.is_end_stream() {
            true => sending,
            false => {
                let most = usize::try_from(REQUEST_MAX).unwrap_or(usize::MAX);
                sending.body(reqwest::Body::wrap(Limited::new(body, most)))
            }
        };
        let mut meter = Meter::new(self, (asked, noted), began);
        match sending.send().await {
            Ok(response) => Ok(meter.respond(response).await),
            Err(error) if is_too_large(&error) => {
                meter.end(CallOutcome::Rejected).await;
                Err(too_large())
            }
            Err(error) => {
                meter.end(CallOutcome::Failed).await;
                let text = format!("{BY_RELAY}: {}", client::why(&error));
                warn!(text, "a request to the model's API failed");
                let status = match client::is_lasting(&error) {
                    true => StatusCode::FAILED_DEPENDENCY,
                    false => StatusCode::BAD_GATEWAY,
                };
                Err(Refusal::new(status, text))
            }
        }
    }

    fn admit<'a>(&self, headers: &HeaderMap, path: &'a str) -> Result<Found<'a>, Refusal> {
        let found = admit::check((headers, path), (&self.token, &self.hosts));
        found.map_err(|stopped| match stopped {
            Stopped::Foreign(why) => Refusal::new(StatusCode::FORBIDDEN, why),
            Stopped::NoToken => {
                let text = "this relay of Gangline wants the token of its agent's backend";
                Refusal::new(StatusCode::UNAUTHORIZED, text)
            }
        })
    }

    /// Puts the credentials for the API into the headers, and returns the path at the API.
    fn credentials<'a>(
        &self,
        found: Found<'a>,
        path: &'a str,
        headers: &mut HeaderMap,
    ) -> Result<&'a str, Refusal> {
        match (&self.credential, found) {
            (Credential::Own, Found::Path(path)) => Ok(path),
            (Credential::Key(key), Found::Header(at)) => {
                if headers::exchange(headers, &at, key.expose().trim()) {
                    return Ok(path);
                }
                let text = "the model's key has characters that a header cannot carry";
                Err(Refusal::new(StatusCode::BAD_GATEWAY, text))
            }
            (Credential::Own, Found::Header(_)) | (Credential::Key(_), Found::Path(_)) => {
                let text = "the relay's token is not where this agent has it";
                Err(Refusal::new(StatusCode::UNAUTHORIZED, text))
            }
        }
    }

    async fn note(&self, body: &Incoming) -> Result<i64, Refusal> {
        let bytes = match body.is_end_stream() {
            true => Some(0),
            false => body.size_hint().exact(),
        };
        self.ledger.begins(bytes).await.map_err(|why| {
            let text =
                format!("this call of the model cannot be recorded, so it is not made: {why}");
            warn!(text, "a request to the model's API was not sent");
            Refusal::new(StatusCode::BAD_GATEWAY, text)
        })
    }

    fn within_limits(&self) -> Result<(), Refusal> {
        let why = self.limits.borrow().stops(&self.totals, self.clock.now()).map(str::to_owned);
        let Some(why) = why else { return Ok(()) };
        let report = Report {
            noted: None,
            model: String::new(),
            tokens: None,
            cost_micros: None,
            outcome: CallOutcome::Refused,
            first_byte: Duration::ZERO,
            lasted: Duration::ZERO,
        };
        // A refusal that nobody counts is still one.
        let _ = self.reports.try_send(report);
        Err(Refusal::new(StatusCode::BAD_REQUEST, why))
    }
}

fn too_large() -> Refusal {
    let text = format!("the request is larger than {} MiB", REQUEST_MAX >> 20);
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text)
}

fn is_too_large(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Counts one call, to its end: however that comes, it is reported once.
struct Meter {
    shared: Arc<Shared>,
    wire: Wire,
    noted: Option<i64>,
    began: Duration,
    first_byte: Duration,
    status: StatusCode,
    counting: Option<Counting>,
    /// How much of the response is still to come, if its headers tell its length.
    left: Option<u64>,
    /// What the response has told of its tokens and their cost.
    told: Option<(Tokens, Option<u64>)>,
    /// What of it is in the totals.
    added: (u64, u64),
    over: bool,
}

impl Meter {
    fn new(
        shared: &Arc<Shared>,
        (Asked { wire, cost }, noted): (Asked, Option<i64>),
        began: Duration,
    ) -> Self {
        let over = cost != Cost::Call;
        if !over {
            shared.totals.called();
        }
        Self {
            shared: Arc::clone(shared),
            wire,
            noted,
            began,
            first_byte: Duration::ZERO,
            status: StatusCode::OK,
            counting: None,
            left: None,
            told: None,
            added: (0, 0),
            over,
        }
    }

    /// Passes a response on.
    async fn respond(mut self, mut response: reqwest::Response) -> Response<Body> {
        self.first_byte = self.shared.clock.monotonic().saturating_sub(self.began);
        let status = response.status();
        let mut headers = std::mem::take(response.headers_mut());
        self.status = status;
        // What is not a call has no tokens.
        self.counting = (!self.over).then(|| Counting::new(self.wire, &headers));
        headers::of_response(&mut headers);
        self.left = response.content_length();
        if self.left == Some(0) {
            self.finish().await;
        }
        let body = stream::unfold(Some((self, response)), |state| async move {
            let (mut meter, mut response) = state?;
            match response.chunk().await {
                Ok(Some(piece)) => {
                    // First counted, then passed on: the next request meets the new sums.
                    meter.piece(&piece);
                    // Behind the last byte of a known length nobody asks for more.
                    if meter.left == Some(0) {
                        meter.finish().await;
                    }
                    Some((Ok(Frame::data(piece)), Some((meter, response))))
                }
                Err(error) => {
                    meter.end(CallOutcome::Cut).await;
                    Some((Err(io::Error::other(error)), None))
                }
                Ok(None) => {
                    meter.finish().await;
                    None
                }
            }
        });
        let mut response = Response::new(StreamBody::new(body).boxed_unsync());
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }

    fn piece(&mut self, piece: &[u8]) {
        let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        self.left = self.left.map(|left| left.saturating_sub(length));
        if self.counting.as_mut().is_some_and(|counting| counting.piece(piece)) {
            self.add();
        }
    }

    /// The response is whole.
    async fn finish(&mut self) {
        if self.counting.as_mut().is_some_and(Counting::end) {
            self.add();
        }
        let outcome = self.outcome();
        self.end(outcome).await;
    }

    /// Brings the totals up to what the response has told.
    fn add(&mut self) {
        let Some(counting) = &self.counting else { return };
        let Some(tokens) = counting.tokens else { return };
        let cost = self.shared.prices.cost(&counting.model, &tokens);
        self.told = Some((tokens, cost));
        let now = (tokens.counted(), cost.unwrap_or(0));
        if self.added == (0, 0) && now != (0, 0) {
            self.shared.totals.told();
        }
        let more = (now.0.saturating_sub(self.added.0), now.1.saturating_sub(self.added.1));
        if more != (0, 0) {
            self.shared.totals.add(more.0, more.1);
            self.added = (self.added.0.saturating_add(more.0), self.added.1.saturating_add(more.1));
        }
    }

    fn outcome(&self) -> CallOutcome {
        let fault = self.counting.as_ref().and_then(|counting| counting.fault);
        match self.status.as_u16() {
            _ if fault == Some(CallOutcome::Overflow) => CallOutcome::Overflow,
            401 | 403 => CallOutcome::Unauthorized,
            429 => CallOutcome::RateLimited,
            400..=499 => CallOutcome::Rejected,
            500.. => CallOutcome::Failed,
            // It began well, and what went wrong stands in the body.
            _ => fault.unwrap_or(CallOutcome::Answered),
        }
    }

    fn report(&mut self, outcome: CallOutcome) -> Report {
        self.over = true;
        Report {
            noted: self.noted,
            model: self.counting.as_ref().map(|it| it.model.clone()).unwrap_or_default(),
            tokens: self.told.map(|(tokens, _)| tokens),
            cost_micros: self.told.and_then(|(_, cost)| cost),
            outcome,
            first_byte: self.first_byte,
            lasted: self.shared.clock.monotonic().saturating_sub(self.began),
        }
    }

    async fn end(&mut self, outcome: CallOutcome) {
        if !self.over {
            let report = self.report(outcome);
            let _ = self.shared.reports.send(report).await;
        }
    }
}

impl Drop for Meter {
    /// The backend went away in the middle.
    fn drop(&mut self) {
        if !self.over {
            let report = self.report(CallOutcome::Cut);
            if let Err(error) = self.shared.reports.try_send(report) {
                warn!(%error, "a call that was cut is not recorded");
            }
        }
    }
}
