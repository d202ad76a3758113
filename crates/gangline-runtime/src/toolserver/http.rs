//! Streamable HTTP: each POST is one message, its answer is plain JSON.
//!
//! There is no stream of the server's own, since it says nothing unasked. A session is a name that
//! the client repeats; nothing is kept of it.

use std::{convert::Infallible, io, sync::Arc};

use gangline_harness::http::{Gate, Stopped};
use gangline_mcp::rpc;
use gangline_os::{accept, json, secret::Secret};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::timeout,
};
use tracing::debug;
use uuid::Uuid;

use super::{
    CONNECTIONS, EXCHANGE_WITHIN, MESSAGE_MAX,
    calls::{self, Caller, Taken},
};
use crate::Aside;

/// The one path that is served.
pub(super) const PATH: &str = "/mcp";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// Longest name of a session that is taken, in bytes.
const SESSION_MAX: usize = 128;
const JSON: &str = "application/json";

type Answer = Response<Full<Bytes>>;

/// Listens on a free port of loopback.
pub(super) fn listen() -> io::Result<(TcpListener, u16)> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    Ok((TcpListener::from_std(listener)?, port))
}

/// Serves until it is dropped.
pub(super) async fn serve(listener: TcpListener, port: u16, token: Secret, caller: Caller) {
    let server =
        Arc::new(HttpServer { port, token, caller, server: Uuid::new_v4().simple().to_string() });
    accept::each(listener, CONNECTIONS, |stream| connection(stream, Arc::clone(&server))).await;
}

async fn connection(stream: TcpStream, server: Arc<HttpServer>) {
    // What is told beside the one answer of this connection.
    let (asides, mut told) = mpsc::channel(1);
    let service = service_fn(move |request| {
        let (server, asides) = (Arc::clone(&server), asides.clone());
        async move { Ok::<_, Infallible>(server.answer(request, &asides).await) }
    });
    // One exchange each: a connection that idles would take the place of another, and a client
    // that uses it at the moment of its end would not know whether its call was taken.
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(EXCHANGE_WITHIN)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    match (served, told.try_recv()) {
        (Ok(()), Ok(aside)) => Aside::arrived(aside),
        (Ok(()), Err(_)) => {}
        (Err(error), _) => debug!(%error, "a connection to the tools ended badly"),
    }
}

/// What every request needs.
struct HttpServer {
    port: u16,
    token: Secret,
    caller: Caller,
    /// A name of this server, in the ids of its calls.
    server: String,
}

impl HttpServer {
    async fn answer(&self, request: Request<Incoming>, asides: &mpsc::Sender<Aside>) -> Answer {
        let gate = Gate { port: self.port, token: &self.token };
        if let Some(Stopped { status, why }) = gate.stops(request.headers(), request.uri()) {
            let mut answer = plain(status, why);
            if status == StatusCode::UNAUTHORIZED {
                let bearer = HeaderValue::from_static("Bearer");
                answer.headers_mut().insert(WWW_AUTHENTICATE, bearer);
            }
            return answer;
        }
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, "the tools are at /mcp");
        }
        if request.method() == Method::DELETE {
            // The end of a session of which nothing is kept.
            return empty(StatusCode::NO_CONTENT);
        }
        if request.method() != Method::POST {
            let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "messages come by POST");
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, DELETE"));
            return answer;
        }
        if !is_json(request.headers()) {
            return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a message is application/json");
        }
        let spoken = speaks(request.headers());
        let Ok(session) = session(request.headers()) else {
            return plain(StatusCode::BAD_REQUEST, "this is no name of a session");
        };
        match body(request).await {
            Ok(body) if !spoken && !discovers(&body) => {
                object(StatusCode::BAD_REQUEST, &rpc::unspoken())
            }
            Ok(body) => self.message(&body, session.as_deref(), asides).await,
            Err(refused) => refused,
        }
    }

    async fn message(
        &self,
        body: &[u8],
        session: Option<&str>,
        asides: &mpsc::Sender<Aside>,
    ) -> Answer {
        let message: Value = match json::from_slice(body) {
            Ok(message) => message,
            Err(why) => {
                let text = String::from_utf8_lossy(body);
                let error = rpc::unreadable(json::find(&text, &["id"]), &why);
                return object(StatusCode::BAD_REQUEST, &error);
            }
        };
        if session.is_none() && rpc::is(rpc::CALL, &message) {
            // Without a session two calls could not be told from one that is sent again.
            let id = message.get("id").unwrap_or(&Value::Null);
            let error =
                rpc::error(id, rpc::INVALID_REQUEST, "the header Mcp-Session-Id is missing");
            return object(StatusCode::BAD_REQUEST, &error);
        }
        let (answers, mut answer) = mpsc::channel(1);
        let scope = format!("{}:h{}", self.server, session.unwrap_or_default());
        let taken = self.caller.take(&message, &scope, &answers).await;
        drop(answers);
        match taken {
            Taken::Nothing => empty(StatusCode::ACCEPTED),
            Taken::Answer(answer) => object(StatusCode::OK, &answer),
            Taken::Begin(answer) => {
                let mut answer = object(StatusCode::OK, &answer);
                if let Ok(name) = HeaderValue::from_str(&Uuid::new_v4().simple().to_string()) {
                    answer.headers_mut().insert(SESSION, name);
                }
                answer
            }
            Taken::Later => match answer.recv().await {
                Some(calls::Answer { value, aside }) => {
                    if let Some(aside) = aside {
                        // One exchange each, so there is room.
                        let _ = asides.try_send(aside);
                    }
                    object(StatusCode::OK, &value)
                }
                None => {
                    let why = "the call was taken back, or the tools are closing";
                    plain(StatusCode::SERVICE_UNAVAILABLE, why)
                }
            },
        }
    }
}

/// Reads the body, within the bounds of size and time.
async fn body(request: Request<Incoming>) -> Result<Bytes, Answer> {
    let body = Limited::new(request.into_body(), MESSAGE_MAX);
    match timeout(EXCHANGE_WITHIN, body.collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(plain(StatusCode::PAYLOAD_TOO_LARGE, "a message has at most 1 MiB"))
        }
        Ok(Err(_)) => Err(plain(StatusCode::BAD_REQUEST, "the message broke off")),
        Err(_) => Err(plain(StatusCode::REQUEST_TIMEOUT, "the message took too long")),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(JSON))
}

/// Returns whether the version that the client goes by is spoken. A client that names none has
/// begun with an older one, and before `initialize` there is none.
fn speaks(headers: &HeaderMap) -> bool {
    let mut named = headers.get_all(VERSION).iter();
    named.all(|version| version.to_str().is_ok_and(rpc::speaks))
}

/// Returns whether a message asks for the newer life cycle. Whoever does goes by a version of that
/// one, and falls back when it hears that there is no such method.
fn discovers(body: &[u8]) -> bool {
    json::from_slice(body).is_ok_and(|message: Value| rpc::is(rpc::DISCOVER, &message))
}

/// Returns the name of the session, if one is named.
fn session(headers: &HeaderMap) -> Result<Option<String>, ()> {
    let Some(name) = headers.get(SESSION) else { return Ok(None) };
    let name = name.to_str().map_err(|_| ())?;
    let fits = (1..=SESSION_MAX).contains(&name.len());
    fits.then(|| Some(name.to_owned())).ok_or(())
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::default());
    *answer.status_mut() = status;
    answer
}

fn plain(status: StatusCode, why: &'static str) -> Answer {
    let mut answer = Response::new(Full::from(why));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    answer
}

fn object(status: StatusCode, value: &Value) -> Answer {
    let mut answer = Response::new(Full::from(value.to_string()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    answer
}
