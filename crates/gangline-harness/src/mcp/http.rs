//! MCP over HTTP: the library's transport, with requests and answers of our own, since the library
//! reads no answer with half a character, and loses all calls of a server by one that it cannot read.
//!
//! Keeps no state. Start at [`HttpClient`]; how a stream is read is in `mcp/http/answers.rs`.

mod answers;
#[cfg(any(test, feature = "fuzzing"))]
pub(super) mod fuzzing;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use serde_json::Value;
use sse_stream::Sse;

use self::answers::Answers;
use super::MESSAGE_LIMIT;

/// Longest body of a refusal that is read, in bytes.
const REFUSAL_LIMIT: usize = 64 << 10;
/// What we take.
const BOTH: &str = "text/event-stream, application/json";
/// Headers that are not the user's.
const OURS: [&str; 3] = ["accept", HEADER_SESSION_ID, HEADER_LAST_EVENT_ID];

type Failure = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Sends requests to servers over HTTP and reads what comes back.
#[derive(Clone, Debug)]
pub(super) struct HttpClient(reqwest::Client);

/// What a request carries beside its message.
struct Carried {
    session: Option<Arc<str>>,
    token: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
}

impl HttpClient {
    pub(super) fn new(client: reqwest::Client) -> Self {
        Self(client)
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let in_session = session.is_some();
        let request = carry(self.0.post(&*uri), Carried { session, token, headers })?;
        let body = serde_json::to_vec(&message)?;
        let request = request.header(ACCEPT, BOTH).header(CONTENT_TYPE, JSON_MIME_TYPE).body(body);
        let response = request.send().await.map_err(Failure::Client)?;
        match response.status() {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            StatusCode::NOT_FOUND if in_session => Err(Failure::SessionExpired),
            status if status.is_success() => answered(response, &message).await,
            _ => refused(response, &message, in_session).await,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let carried = Carried { session: Some(session), token, headers };
        let request = carry(self.0.delete(&*uri), carried)?;
        let response = request.send().await.map_err(Failure::Client)?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(Failure::ServerDoesNotSupportDeleteSession);
        }
        response.error_for_status().map_err(Failure::Client)?;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Failure> {
        let mut request = carry(self.0.get(&*uri), Carried { session, token, headers })?;
        if let Some(id) = last_event {
            request = request.header(HEADER_LAST_EVENT_ID, id);
        }
        let response = request.header(ACCEPT, BOTH).send().await.map_err(Failure::Client)?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(Failure::ServerDoesNotSupportSse);
        }
        if let Some(failure) = known(&response) {
            return Err(failure);
        }
        let response = response.error_for_status().map_err(Failure::Client)?;
        if !is(&response, EVENT_STREAM_MIME_TYPE) {
            return Err(Failure::UnexpectedContentType(kind(&response)));
        }
        Ok(events(response, None))
    }
}

/// Adds what belongs to every request of a session.
fn carry(request: RequestBuilder, with: Carried) -> Result<RequestBuilder, Failure> {
    let is_ours =
        |name: &&HeaderName| OURS.iter().any(|ours| name.as_str().eq_ignore_ascii_case(ours));
    if let Some(name) = with.headers.keys().find(is_ours) {
        return Err(Failure::ReservedHeaderConflict(name.to_string()));
    }
    let mut request = request.headers(with.headers.into_iter().collect::<HeaderMap>());
    if let Some(token) = with.token {
        request = request.bearer_auth(token);
    }
    if let Some(session) = with.session {
        request = request.header(HEADER_SESSION_ID, &*session);
    }
    Ok(request)
}

/// Takes the answer to a message that the server has taken.
async fn answered(
    response: Response,
    message: &ClientJsonRpcMessage,
) -> Result<StreamableHttpPostResponse, Failure> {
    let asked = asked(message)?;
    let session = response.headers().get(HEADER_SESSION_ID).and_then(|id| id.to_str().ok());
    let session = session.map(str::to_owned);
    if is(&response, EVENT_STREAM_MIME_TYPE) {
        return Ok(StreamableHttpPostResponse::Sse(events(response, asked), session));
    }
    let Some(asked) = asked else {
        // Nothing is to be answered; some servers answer all the same.
        return Ok(StreamableHttpPostResponse::Accepted);
    };
    if !is(&response, JSON_MIME_TYPE) {
        return Err(Failure::UnexpectedContentType(kind(&response)));
    }
    let answer = match body(response, MESSAGE_LIMIT).await? {
        Body { bytes, is_whole: true } => answers::whole(&bytes, &asked)?,
        _ => {
            let why = format!("it is longer than {MESSAGE_LIMIT} bytes");
            serde_json::from_str(&super::unread::unreadable(&asked, &why))?
        }
    };
    Ok(StreamableHttpPostResponse::Json(answer, session))
}

/// Takes the answer to a message that the server refuses.
async fn refused(
    response: Response,
    message: &ClientJsonRpcMessage,
    in_session: bool,
) -> Result<StreamableHttpPostResponse, Failure> {
    let (status, is_json) = (response.status(), is(&response, JSON_MIME_TYPE));
    let failure = match known(&response) {
        // Its body may say more.
        Some(failure) if is_json && status.is_server_error() => Some(failure),
        Some(failure) => return Err(failure),
        None => None,
    };
    let Body { bytes, is_whole } = body(response, REFUSAL_LIMIT).await?;
    let is_about_rights = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let asked = asked(message)?;
    if let Some(asked) = asked.filter(|_| is_json && is_whole && !is_about_rights)
        && let Some(error) = answers::refusal(&bytes, &asked)
    {
        return Ok(StreamableHttpPostResponse::Json(error, None));
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let text = format!("HTTP {status}: {}", String::from_utf8_lossy(&bytes));
    match message {
        // So a server says that it does not know the newer way to begin.
        ClientJsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::DiscoverRequest(_))
                && status.is_client_error()
                && !is_about_rights
                && !in_session =>
        {
            let error = ErrorData::invalid_request(text, None);
            let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(answer, None))
        }
        _ => Err(Failure::UnexpectedServerResponse(Cow::Owned(text))),
    }
}

/// Returns the id of a request; nothing of other messages.
fn asked(message: &ClientJsonRpcMessage) -> serde_json::Result<Option<Value>> {
    match message {
        ClientJsonRpcMessage::Request(request) => serde_json::to_value(&request.id).map(Some),
        ClientJsonRpcMessage::Response(_)
        | ClientJsonRpcMessage::Notification(_)
        | ClientJsonRpcMessage::Error(_) => Ok(None),
    }
}

/// Returns the failures that the library tells apart by the head of a response.
fn known(response: &Response) -> Option<Failure> {
    let (status, headers) = (response.status(), response.headers());
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    if status == StatusCode::UNAUTHORIZED
        && let Some(challenge) = text(WWW_AUTHENTICATE)
    {
        return Some(Failure::AuthRequired(AuthRequiredError::new(challenge)));
    }
    let may_pass = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    may_pass.then(|| HttpStatusError::new(status.as_u16(), text(RETRY_AFTER)).into())
}

fn kind(response: &Response) -> Option<String> {
    let kind = response.headers().get(CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(kind.as_bytes()).into_owned())
}

fn is(response: &Response, wanted: &str) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(wanted.as_bytes()))
}

/// What was read of a body.
struct Body {
    bytes: Vec<u8>,
    is_whole: bool,
}

/// Reads a body to its end, or to the limit.
async fn body(mut response: Response, limit: usize) -> Result<Body, Failure> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Failure::Client)? {
        let room = limit - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Ok(Body { bytes, is_whole: false });
        }
    }
    Ok(Body { bytes, is_whole: true })
}

/// Returns the events of a response; `asked` is the request that it answers.
fn events(response: Response, asked: Option<Value>) -> Events {
    let state = (Some(response), Answers::new(MESSAGE_LIMIT, asked));
    stream::unfold(state, |(mut response, mut answers)| async move {
        loop {
            if let Some(event) = answers.next() {
                return Some((Ok(event), (response, answers)));
            }
            match response.as_mut()?.chunk().await {
                Ok(Some(chunk)) => answers.push(&chunk),
                Ok(None) => {
                    response = None;
                    answers.end();
                }
                Err(error) => {
                    let lost = SseError::Body(Box::new(error));
                    return Some((Err(lost), (None, answers)));
                }
            }
        }
    })
    .boxed()
}
