//! The HTTP wire of S4 for one harness: event stream, prompt, cancel (R4-19 … R4-23).
//!
//! Serves loopback only, to whoever has the token. Keeps nothing: a client sees what happens
//! while it is connected, and a `: gap` comment where it was too slow. Start at [`serve`].

mod feed;
mod guard;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
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

pub use feed::Feed;
pub use guard::{Gate, Stopped};

const BODY_LIMIT: usize = 1 << 20;
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
}

impl Surface {
    /// The pause of R4-21.
    pub const HEARTBEAT: Duration = Duration::from_secs(30);
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
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
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

async fn prompt(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let content = match serde_json::from_slice::<Prompt>(&body) {
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

async fn events(State(shared): State<Arc<Shared>>) -> Response {
    let mut heartbeat = tokio::time::interval(shared.surface.heartbeat);
    heartbeat.reset();
    let client =
        Client { events: shared.surface.feed.subscribe(), heartbeat, stop: shared.stop.clone() };
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
    events: broadcast::Receiver<Bytes>,
    heartbeat: tokio::time::Interval,
    stop: CancellationToken,
}

enum Frame {
    Event(Result<Bytes, broadcast::error::RecvError>),
    Heartbeat,
    Stop,
}

impl Client {
    /// Returns the next bytes to send; nothing when the stream ends. Cancel-safe.
    async fn next(&mut self) -> Option<Bytes> {
        let frame = tokio::select! {
            event = self.events.recv() => Frame::Event(event),
            _ = self.heartbeat.tick() => Frame::Heartbeat,
            () = self.stop.cancelled() => Frame::Stop,
        };
        match frame {
            Frame::Event(Ok(bytes)) => Some(bytes),
            Frame::Event(Err(broadcast::error::RecvError::Lagged(missed))) => {
                Some(Bytes::from(format!(": gap {missed}\n\n")))
            }
            Frame::Heartbeat => Some(Bytes::from_static(b": heartbeat\n\n")),
            Frame::Event(Err(broadcast::error::RecvError::Closed)) | Frame::Stop => None,
        }
    }
}

fn refusal(status: StatusCode, text: &str) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (status, headers, json!({"error": text}).to_string()).into_response()
}
