//! The server: routes, recording, and the playing of answers with their pauses and cuts.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header, request::Parts},
    response::Response,
};
use futures::{Stream, StreamExt, stream};
use gangline_os::{CancellationToken, clock::SharedClock};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::{
    Script, guide,
    record::Recorder,
    reply::{Answer, Conversation, HttpError},
    threads::{Threads, Whole},
    wire::{
        Asked, Chunk, Endpoint, Form, Ids, Refusal, Route, Vendor, anthropic, chat, gemini,
        responses,
    },
};

/// The largest request, as the real interface has it.
const MAX_REQUEST: usize = 32 * 1024 * 1024;
/// A silent stream gets a ping so often.
const PING_EVERY: Duration = Duration::from_secs(10);
const JSON: &str = "application/json";
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
    threads: Threads,
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
    let state =
        Arc::new(Standin { script, recorder, threads: Threads::default(), stop: stop.clone() });
    let app = Router::new().fallback(respond).with_state(state);
    axum::serve(listener, app)
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
        .map_err(|source| ServeError::Socket { source })
}

async fn respond(State(standin): State<Arc<Standin>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_REQUEST).await;
    let bytes = body.as_ref().map_or_else(|_| Bytes::new(), Bytes::clone);
    // First the rule is chosen: what is on record has used its rule up, also if the client goes away now.
    let response = answered(&standin, &parts, body);
    if let Some(recorder) = &standin.recorder {
        recorder.write(&parts, &bytes).await;
    }
    response
}

fn answered(standin: &Standin, parts: &Parts, body: Result<Bytes, axum::Error>) -> Response {
    let route = Route::of(parts);
    let context = |request_id| ReplyContext { vendor: route.vendor, request_id };
    let Ok(body) = body else {
        let error = HttpError::new(413, "Request exceeds the maximum size");
        return context("req_standin".to_owned()).refusal(&error);
    };
    let ids = Ids::of(&body);
    let context = context(ids.request());
    let threads = (route.endpoint == Endpoint::Messages).then_some(&standin.threads);
    let whole = match threads.map(|threads| threads.whole(&body)).transpose() {
        Ok(whole) => whole.flatten(),
        Err(error) => return context.refusal(&error),
    };
    let read = whole.as_ref().map_or(&*body, |whole| &whole.body);
    match called(parts, route, read) {
        Ok(Called::Nothing) => context.finish(StatusCode::OK, "text/plain", Body::empty()),
        Ok(Called::Object(object)) => {
            context.finish(StatusCode::OK, JSON, Body::from(object.to_string()))
        }
        Ok(Called::Asked(asked)) => answer(standin, (&asked, whole), &ids, &context),
        Err(error) => context.refusal(&error),
    }
}

/// What a request comes to.
enum Called {
    /// A sign of life.
    Nothing,
    /// An object that follows from the request alone.
    Object(Value),
    /// A question to the model that is none.
    Asked(Asked),
}

fn called(parts: &Parts, route: Route<'_>, body: &[u8]) -> Result<Called, Box<HttpError>> {
    let Route { vendor, endpoint } = route;
    let of_messages = matches!(endpoint, Endpoint::Messages | Endpoint::CountMessages);
    if of_messages && !parts.headers.contains_key("anthropic-version") {
        return Err(HttpError::new(400, "anthropic-version: header is required").into());
    }
    let read = |asked: Result<Asked, Refusal>| match asked {
        Ok(asked) => Ok(Called::Asked(asked)),
        Err(refusal) => Err(Box::new(refusal.into())),
    };
    let count = |counted: Result<Value, Refusal>| match counted {
        Ok(object) => Ok(Called::Object(object)),
        Err(refusal) => Err(Box::new(refusal.into())),
    };
    match endpoint {
        Endpoint::Alive => Ok(Called::Nothing),
        Endpoint::Messages => read(anthropic::read(body).map(Asked::Messages)),
        Endpoint::Chat => read(chat::read(body).map(Asked::Chat)),
        Endpoint::Responses => read(responses::read(body).map(Asked::Responses)),
        Endpoint::Generate { model, form } => {
            read(gemini::read(body, model, form).map(Asked::Gemini))
        }
        Endpoint::CountMessages => count(anthropic::count(body)),
        Endpoint::CountContents { model } => count(gemini::count(body, model)),
        Endpoint::Models => Ok(Called::Object(vendor.models())),
        Endpoint::Model(id) => Ok(Called::Object(vendor.model(id))),
        Endpoint::Socket => Err(no_socket().into()),
        Endpoint::WrongMethod => Err(HttpError::new(405, "Method Not Allowed").into()),
        Endpoint::Unknown => Err(vendor.not_found(parts.method.as_str(), parts.uri.path()).into()),
    }
}

/// Refuses a WebSocket so that clients ask by requests at once: Codex does so for this status only.
fn no_socket() -> HttpError {
    HttpError {
        headers: vec![("connection".to_owned(), "close".to_owned())],
        ..HttpError::new(426, "WebSockets are not spoken here: POST to the same path")
    }
}

fn answer(
    standin: &Standin,
    (asked, whole): (&Asked, Option<Whole>),
    ids: &Ids,
    context: &ReplyContext,
) -> Response {
    let conversation = asked.conversation();
    let reply = match standin.answer(conversation) {
        Answer::Reply(reply) => reply,
        Answer::Error(error) => return context.refusal(&error),
        Answer::Overflow => return context.refusal(&asked.overflow()),
    };
    let kind = match asked.form() {
        Form::Events => "text/event-stream; charset=utf-8",
        Form::Whole | Form::List => JSON,
    };
    if let (Form::Whole, Some(fault)) = (asked.form(), &reply.fault) {
        return context.refusal(fault);
    }
    if let Some(whole) = whole.filter(|_| reply.fault.is_none() && reply.cut.is_none()) {
        let (id, content) = anthropic::said(&reply, ids);
        standin.threads.keep(whole, id, content);
    }
    let chunks = asked.answer(&reply, ids);
    let body = match <[Chunk; 1]>::try_from(chunks) {
        Ok([Chunk::Bytes(all)]) => Body::from(all),
        Ok(one) => stream_body(one.into(), asked, standin),
        Err(chunks) => stream_body(chunks, asked, standin),
    };
    context.finish(StatusCode::OK, kind, body)
}

fn stream_body(chunks: Vec<Chunk>, asked: &Asked, standin: &Standin) -> Body {
    Body::from_stream(play(chunks, asked.ping(), standin.stop.clone()))
}

impl Standin {
    fn answer(&self, conversation: &Conversation) -> Answer {
        match &self.script {
            Some(script) => script.answer(conversation),
            None => Answer::Reply(guide::answer(conversation)),
        }
    }
}

/// Plays chunks; ends with an error, which breaks the connection, at a cut or when stopped.
fn play(
    chunks: Vec<Chunk>,
    ping: Option<Chunk>,
    stop: CancellationToken,
) -> impl Stream<Item = io::Result<Bytes>> + use<> {
    stream::iter(chunks.into_iter().flat_map(move |chunk| split_pause(chunk, ping.as_ref())))
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
fn split_pause(chunk: Chunk, ping: Option<&Chunk>) -> Vec<Chunk> {
    let (&Chunk::Pause(mut left), Some(ping)) = (&chunk, ping) else { return vec![chunk] };
    let mut out = Vec::new();
    while left > PING_EVERY {
        out.extend([Chunk::Pause(PING_EVERY), ping.clone()]);
        left -= PING_EVERY;
    }
    out.push(Chunk::Pause(left));
    out
}

/// Where answers to one request go out, in its vendor's form.
struct ReplyContext {
    vendor: Vendor,
    request_id: String,
}

impl ReplyContext {
    fn refusal(&self, error: &HttpError) -> Response {
        let status =
            StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = Body::from(self.vendor.error_body(error, &self.request_id));
        let mut response = self.finish(status, JSON, body);
        for (name, value) in &error.headers {
            let pair = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str()));
            if let (Ok(name), Ok(value)) = pair {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }

    fn finish(&self, status: StatusCode, kind: &'static str, body: Body) -> Response {
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        let id = HeaderValue::from_str(&self.request_id);
        if let (Some(name), Ok(id)) = (self.vendor.request_id_header(), id) {
            headers.insert(name, id);
        }
        response
    }
}
