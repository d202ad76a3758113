//! The HTTP wire of S4 for one harness: event stream, prompt, cancel (R4-19 … R4-23).
//!
//! Serves loopback only, to whoever has the token. A client sees what happens while it is
//! connected, and a `: gap` comment where it was too slow. One that asks for ids (`?ids=1`) may come
//! back with the last one and gets what it missed, as far as it is kept. Start at [`serve`].

mod feed;
mod guard;
mod kept;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use futures::stream;
use gangline_os::CancellationToken;
use gangline_os::secret::Secret;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{broadcast, mpsc};

use crate::harness::{Harness, PromptError, Reservation};

use kept::Event;

pub use feed::Feed;
pub use guard::{Gate, Stopped};

const BODY_LIMIT: usize = 1 << 20;
/// Where a client says which event it saw last.
const LAST_EVENT: &str = "last-event-id";
/// How long requests and the prompt may take to end after `stop`.
const GRACE: Duration = Duration::from_secs(5);

/// What is served.
pub struct Surface {
    /// The harness that prompts go to.
    pub harness: Harness,
    /// The feed that the harness was given as its handler.
    pub feed: Arc<Feed>,
    /// The bearer token that every request must carry.
    pub token: Secret,
    /// Pause between two heartbeats; [`Surface::HEARTBEAT`].
    pub heartbeat: Duration,
    /// A body must be whole within this; [`Surface::BODY_WITHIN`].
    pub body_within: Duration,
}

impl Surface {
    /// The pause of R4-21.
    pub const HEARTBEAT: Duration = Duration::from_secs(30);
    /// Long enough for a megabyte from the same machine.
    pub const BODY_WITHIN: Duration = Duration::from_secs(10);
}

/// Why the surface could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The listener is reachable from other machines.
    #[error("the harness is served on loopback only, not on {0}")]
    NotLoopback(std::net::SocketAddr),
    /// The listener has no address, or failed.
    #[error("cannot serve the harness")]
    Io(#[from] io::Error),
}

/// Serves until `stop`; then cancels the prompt, ends the streams and returns within 5 s.
pub async fn serve(
    listener: TcpListener,
    surface: Surface,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(address));
    }
    // One place: only one reservation exists at a time.
    let (prompts, accepted) = mpsc::channel(1);
    let harness = surface.harness.clone();
    let shared = Shared { surface, port: address.port(), prompts, stop: stop.clone() };
    let app = router(Arc::new(shared));
    let serving = axum::serve(listener, app).with_graceful_shutdown(stop.clone().cancelled_owned());
    let serving = within_grace(serving.into_future(), &stop);
    let (served, ()) = tokio::join!(serving, run_prompts(harness, accepted, &stop));
    match served {
        Some(served) => Ok(served?),
        None => Ok(()),
    }
}

struct Shared {
    surface: Surface,
    port: u16,
    prompts: mpsc::Sender<(Reservation, String)>,
    stop: CancellationToken,
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/events", get(events))
        .route("/prompt", post(prompt))
        .route("/cancel", post(cancel))
        .fallback(async || refusal(StatusCode::NOT_FOUND, "there is /events, /prompt and /cancel"))
        .method_not_allowed_fallback(async || {
            let text = "GET is for /events, POST for /prompt and /cancel";
            refusal(StatusCode::METHOD_NOT_ALLOWED, text)
        })
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard::check))
        .with_state(shared)
}

/// Runs a future to its end, but no longer than the grace after `stop`.
async fn within_grace<F: Future>(work: F, stop: &CancellationToken) -> Option<F::Output> {
    let mut work = std::pin::pin!(work);
    match stop.run_until_cancelled(&mut work).await {
        Some(done) => Some(done),
        None => tokio::time::timeout(GRACE, work).await.ok(),
    }
}

async fn run_prompts(
    harness: Harness,
    mut accepted: mpsc::Receiver<(Reservation, String)>,
    stop: &CancellationToken,
) {
    while let Some(Some((reservation, content))) = stop.run_until_cancelled(accepted.recv()).await {
        let mut run = std::pin::pin!(reservation.run(&content));
        let outcome = match stop.run_until_cancelled(&mut run).await {
            Some(outcome) => outcome,
            None => {
                harness.cancel();
                match tokio::time::timeout(GRACE, run).await {
                    Ok(outcome) => outcome,
                    Err(_elapsed) => return,
                }
            }
        };
        if let Err(error) = outcome {
            tracing::warn!(%error, "a prompt failed");
        }
    }
}

#[derive(Deserialize)]
struct Prompt {
    content: String,
}

/// Reads a body, within the bounds of size and time.
async fn body(request: Request, within: Duration) -> Result<Bytes, Response> {
    let whole = axum::body::to_bytes(request.into_body(), BODY_LIMIT);
    match tokio::time::timeout(within, whole).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) if is_too_long(&error) => {
            Err(closing(StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 1 MiB"))
        }
        Ok(Err(_)) => Err(closing(StatusCode::BAD_REQUEST, "the request broke off")),
        Err(_) => Err(closing(StatusCode::REQUEST_TIMEOUT, "the request was not complete in time")),
    }
}

fn is_too_long(error: &axum::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Refuses a request whose rest is not read: nothing can follow on its connection.
fn closing(status: StatusCode, text: &str) -> Response {
    ([(header::CONNECTION, "close")], refusal(status, text)).into_response()
}

async fn prompt(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let body = match body(request, shared.surface.body_within).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    let content = match gangline_os::json::from_slice::<Prompt>(&body) {
        Ok(prompt) if !prompt.content.trim().is_empty() => prompt.content,
        Ok(_) => return refusal(StatusCode::BAD_REQUEST, "`content` is empty"),
        Err(error) => return refusal(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let reservation = match shared.surface.harness.reserve() {
        Ok(reservation) => reservation,
        Err(PromptError::Busy) => {
            return refusal(StatusCode::CONFLICT, "another prompt is running");
        }
        Err(error) => return refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    };
    match shared.prompts.try_send((reservation, content)) {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(_closed) => refusal(StatusCode::SERVICE_UNAVAILABLE, "the harness is stopping"),
    }
}

async fn cancel(State(shared): State<Arc<Shared>>) -> StatusCode {
    shared.surface.harness.cancel();
    StatusCode::NO_CONTENT
}

async fn events(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap) -> Response {
    let mut heartbeat = tokio::time::interval(shared.surface.heartbeat);
    heartbeat.reset();
    let ids = uri.query().is_some_and(|query| query.split('&').any(|part| part == "ids=1"));
    let form = if ids { Form::WithIds } else { Form::Plain };
    let last = headers.get(LAST_EVENT).filter(|_| ids);
    let feed = Arc::clone(&shared.surface.feed);
    let mut missed = VecDeque::new();
    let events = match last {
        Some(last) => {
            let (kept, events) = feed.subscribe_after(last.to_str().unwrap_or_default());
            missed.extend((kept.lost > 0).then(|| gap(kept.lost)));
            missed.extend(kept.events.iter().map(|event| feed.with_id(event)));
            events
        }
        None => feed.subscribe(),
    };
    let client = Client { feed, form, missed, events, heartbeat, stop: shared.stop.clone() };
    let frames = stream::unfold(client, |mut client| async move {
        let frame = client.next().await?;
        Some((Ok::<_, Infallible>(frame), client))
    });
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (headers, Body::from_stream(frames)).into_response()
}

/// One connected reader of events.
struct Client {
    feed: Arc<Feed>,
    form: Form,
    /// What is told before anything new.
    missed: VecDeque<Bytes>,
    events: broadcast::Receiver<Event>,
    heartbeat: tokio::time::Interval,
    stop: CancellationToken,
}

/// How events are written.
#[derive(Clone, Copy)]
enum Form {
    /// As S4 has them.
    Plain,
    /// Each with an id.
    WithIds,
}

enum Frame {
    Event(Result<Event, broadcast::error::RecvError>),
    Heartbeat,
    Stop,
}

impl Client {
    /// Returns the next bytes to send; nothing when the stream ends. Cancel-safe.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(missed) = self.missed.pop_front() {
            return Some(missed);
        }
        let frame = tokio::select! {
            event = self.events.recv() => Frame::Event(event),
            _ = self.heartbeat.tick() => Frame::Heartbeat,
            () = self.stop.cancelled() => Frame::Stop,
        };
        match frame {
            Frame::Event(Ok(event)) => Some(match self.form {
                Form::Plain => event.frame,
                Form::WithIds => self.feed.with_id(&event),
            }),
            Frame::Event(Err(broadcast::error::RecvError::Lagged(missed))) => Some(gap(missed)),
            Frame::Heartbeat => Some(Bytes::from_static(b": heartbeat\n\n")),
            Frame::Event(Err(broadcast::error::RecvError::Closed)) | Frame::Stop => None,
        }
    }
}

fn gap(missed: u64) -> Bytes {
    Bytes::from(format!(": gap {missed}\n\n"))
}

fn refusal(status: StatusCode, text: &str) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (status, headers, json!({"error": text}).to_string()).into_response()
}
