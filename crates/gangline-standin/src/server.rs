//! The server: routes, recording, and the playing of answers with their pauses and cuts.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    response::Response,
};
use futures::{Stream, StreamExt, stream};
use gangline_os::{CancellationToken, clock::SharedClock};
use tokio::net::TcpListener;

use crate::{
    Script, guide,
    record::Recorder,
    reply::{Answer, Conversation, HttpError},
    wire::{Chunk, anthropic},
};

/// The largest request, as the real interface has it.
const MAX_REQUEST: usize = 32 * 1024 * 1024;
/// A silent stream gets a ping so often.
const PING_EVERY: Duration = Duration::from_secs(10);
/// What was written before a cut is given so long to leave.
const FLUSH: Duration = Duration::from_millis(30);

/// What a stand-in needs.
pub struct StandinOptions {
    /// The socket it listens on.
    pub listener: TcpListener,
    /// What it answers; without one it is the demo guide.
    pub script: Option<Script>,
    /// A folder that gets every request as a numbered JSON file.
    pub record: Option<PathBuf>,
    /// The time that records are stamped with.
    pub clock: SharedClock,
}

/// Why a stand-in could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The folder for the records cannot be used.
    #[error("cannot record requests in {}", folder.display())]
    Record {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The socket failed.
    #[error("cannot serve the model wires")]
    Socket {
        /// Why.
        source: io::Error,
    },
}

struct Standin {
    script: Option<Script>,
    recorder: Option<Recorder>,
    stop: CancellationToken,
}

/// Serves until `stop`; then answers that are under way are cut. Not cancel-safe: stop it by
/// `stop`, so that connections end in order.
///
/// # Errors
/// The folder for records or the socket cannot be used.
pub async fn serve(options: StandinOptions, stop: CancellationToken) -> Result<(), ServeError> {
    let StandinOptions { listener, script, record, clock } = options;
    let open = |folder: PathBuf| {
        Recorder::open(folder.clone(), clock)
            .map_err(|source| ServeError::Record { folder, source })
    };
    let recorder = record.map(open).transpose()?;
    let state = Arc::new(Standin { script, recorder, stop: stop.clone() });
    let app = Router::new().fallback(respond).with_state(state);
    axum::serve(listener, app)
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
        .map_err(|source| ServeError::Socket { source })
}

async fn respond(State(standin): State<Arc<Standin>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_REQUEST).await;
    if let Some(recorder) = &standin.recorder {
        let bytes = body.as_deref().unwrap_or_default();
        let uri = parts.uri.path_and_query().map_or("", |uri| uri.as_str());
        recorder.write(&parts.method, uri, &parts.headers, bytes).await;
    }
    let Ok(body) = body else {
        return refusal(&HttpError::new(413, "Request exceeds the maximum size"), "req_standin");
    };
    let ids = anthropic::Ids::of(&body);
    let path = parts.uri.path();
    match (&parts.method, path) {
        (&Method::HEAD | &Method::GET, "/") => {
            finish(StatusCode::OK, "text/plain", &ids.request(), Body::empty())
        }
        (&Method::GET | &Method::HEAD, "/v1/models") => {
            let body = anthropic::models().to_string();
            finish(StatusCode::OK, "application/json", &ids.request(), Body::from(body))
        }
        (&Method::POST, "/v1/messages" | "/v1/messages/count_tokens")
            if !parts.headers.contains_key("anthropic-version") =>
        {
            refusal(&HttpError::new(400, "anthropic-version: header is required"), &ids.request())
        }
        (&Method::POST, "/v1/messages") => messages(&standin, &body, &ids),
        (&Method::POST, "/v1/messages/count_tokens") => count(&body, &ids),
        (_, "/v1/messages" | "/v1/messages/count_tokens" | "/v1/models" | "/") => {
            refusal(&HttpError::new(405, "Method Not Allowed"), &ids.request())
        }
        _ => refusal(&HttpError::new(404, format!("Not found: {path}")), &ids.request()),
    }
}

fn count(body: &[u8], ids: &anthropic::Ids) -> Response {
    match anthropic::read_for_count(body) {
        Ok(conversation) => {
            let body = serde_json::json!({ "input_tokens": conversation.input_tokens });
            finish(StatusCode::OK, "application/json", &ids.request(), Body::from(body.to_string()))
        }
        Err(anthropic::Refusal(message)) => refusal(&HttpError::new(400, message), &ids.request()),
    }
}

fn messages(standin: &Standin, body: &[u8], ids: &anthropic::Ids) -> Response {
    let asked = match anthropic::read(body) {
        Ok(asked) => asked,
        Err(anthropic::Refusal(message)) => {
            return refusal(&HttpError::new(400, message), &ids.request());
        }
    };
    let conversation = &asked.conversation;
    let reply = match standin.answer(conversation) {
        Answer::Reply(reply) => reply,
        Answer::Error(error) => return refusal(&error, &ids.request()),
    };
    if asked.stream {
        let chunks = anthropic::stream(conversation, &reply, ids);
        let body = Body::from_stream(play(chunks, Pings::On, standin.stop.clone()));
        return finish(StatusCode::OK, "text/event-stream; charset=utf-8", &ids.request(), body);
    }
    let chunks = anthropic::message(conversation, &reply, ids);
    let body = match <[Chunk; 1]>::try_from(chunks) {
        Ok([Chunk::Bytes(whole)]) => Body::from(whole),
        Ok([other]) => Body::from_stream(play(vec![other], Pings::Off, standin.stop.clone())),
        Err(chunks) => Body::from_stream(play(chunks, Pings::Off, standin.stop.clone())),
    };
    finish(StatusCode::OK, "application/json", &ids.request(), body)
}

impl Standin {
    fn answer(&self, conversation: &Conversation) -> Answer {
        match &self.script {
            Some(script) => script.answer(conversation),
            None => Answer::Reply(guide::answer(conversation)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pings {
    On,
    Off,
}

/// Plays chunks; ends with an error, which breaks the connection, at a cut or when stopped.
fn play(
    chunks: Vec<Chunk>,
    pings: Pings,
    stop: CancellationToken,
) -> impl Stream<Item = io::Result<Bytes>> {
    stream::iter(chunks.into_iter().flat_map(move |chunk| split_pause(chunk, pings)))
        .then(move |chunk| {
            let stop = stop.clone();
            async move {
                match chunk {
                    Chunk::Bytes(text) => Ok(Bytes::from(text)),
                    Chunk::Pause(pause) => {
                        tokio::select! {
                            () = tokio::time::sleep(pause) => Ok(Bytes::new()),
                            () = stop.cancelled() => Err(io::Error::other("stopped")),
                        }
                    }
                    Chunk::Cut => {
                        tokio::time::sleep(FLUSH).await;
                        Err(io::Error::other("cut as the script says"))
                    }
                }
            }
        })
        // An empty chunk would end a chunked body.
        .filter(|item| std::future::ready(!item.as_ref().is_ok_and(Bytes::is_empty)))
}

/// Puts a ping after every [`PING_EVERY`] of a long pause.
fn split_pause(chunk: Chunk, pings: Pings) -> Vec<Chunk> {
    let Chunk::Pause(mut left) = chunk else { return vec![chunk] };
    let mut out = Vec::new();
    while pings == Pings::On && left > PING_EVERY {
        out.extend([Chunk::Pause(PING_EVERY), anthropic::ping()]);
        left -= PING_EVERY;
    }
    out.push(Chunk::Pause(left));
    out
}

fn refusal(error: &HttpError, request_id: &str) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = Body::from(anthropic::error_body(error, request_id));
    let mut response = finish(status, "application/json", request_id, body);
    for (name, value) in &error.headers {
        let pair = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str()));
        if let (Ok(name), Ok(value)) = pair {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn finish(status: StatusCode, kind: &'static str, request_id: &str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert("request-id", id);
    }
    response
}
