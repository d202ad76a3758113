//! An agent's tools for a person's MCP client: streamable HTTP, each POST one message and its answer
//! plain JSON.
//!
//! A session is a name that the client repeats; nothing is kept of it but the calls under way, which
//! the client may take back. The protocol is [`gangline_mcp::rpc`].

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use gangline_api::error::ErrorCode;
use gangline_mcp::{
    rpc::{self, Call, Reply},
    table::withheld,
};
use gangline_os::json;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    MESSAGE_MAX,
    calls::Entry,
    daemons::Client,
    keys::{self, Caller},
    paths::MCP,
    refusal::Refusal,
    shared::{Shared, body},
};

/// A call outside a session.
const NO_SESSION: &str =
    "the header Mcp-Session-Id is missing: send the one of the response to `initialize`";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// Longest name of a session that is taken, in bytes.
const SESSION_MAX: usize = 128;
const JSON: &str = "application/json";
/// What a call is told that is one too many.
const TOO_MANY: &str = "too many calls are under way: wait for one to end, then call again";

pub(crate) async fn message(
    State(shared): State<Arc<Shared>>,
    Path(nick): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let headers = request.headers().clone();
    let caller = keys::caller(&shared, &headers).await?;
    let agent = shared.daemons.agent(Some(&nick))?;
    caller.may(MCP, &agent)?;
    let client = match caller {
        Caller::Owner => Client { agent, token: None, label: String::new() },
        Caller::Token(row) => Client { agent, token: Some(row.id), label: row.label },
    };
    let bad = |text: &str| Refusal::new(ErrorCode::BadRequest, text);
    match *request.method() {
        Method::POST => {}
        // The end of a session of which nothing is kept.
        Method::DELETE => return Ok(StatusCode::NO_CONTENT.into_response()),
        _ => {
            let allow = [(header::ALLOW, "POST, DELETE")];
            let refusal = bad("send messages by POST; this server sends nothing on its own");
            return Ok((StatusCode::METHOD_NOT_ALLOWED, allow, refusal).into_response());
        }
    }
    if !is_json(&headers) {
        return Ok((StatusCode::UNSUPPORTED_MEDIA_TYPE, bad("a message is application/json"))
            .into_response());
    }
    let session = session(&headers)?;
    let body = body(request, MESSAGE_MAX).await?;
    if !speaks(&headers) && !discovers(&body) {
        return Ok((StatusCode::BAD_REQUEST, Json(rpc::unspoken())).into_response());
    }
    Ok(answer(&shared, &client, (session.as_deref(), &body)).await)
}

async fn answer(
    shared: &Shared,
    client: &Client,
    (session, body): (Option<&str>, &Bytes),
) -> Response {
    let wrong = |id: &Value, code, text| {
        (StatusCode::BAD_REQUEST, Json(rpc::error(id, code, text))).into_response()
    };
    let message: Value = match json::from_slice(body) {
        Ok(message) => message,
        Err(why) => {
            let text = String::from_utf8_lossy(body);
            let error = rpc::unreadable(json::find(&text, &["id"]), &why);
            return (StatusCode::BAD_REQUEST, Json(error)).into_response();
        }
    };
    if session.is_none() && rpc::is(rpc::CALL, &message) {
        // Without a session two calls could not be told from one that is sent again.
        let id = message.get("id").unwrap_or(&Value::Null);
        return wrong(id, rpc::INVALID_REQUEST, NO_SESSION);
    }
    if let Some(refused) = needs_owner(client, &message) {
        return Json(refused).into_response();
    }
    let token = client.token.unwrap_or_default();
    let scope = format!("{}:t{token}:{}", shared.calls.server, session.unwrap_or_default());
    match rpc::reply(&message, &shared.daemons.tools(client.user()), &scope) {
        Reply::Nothing => StatusCode::ACCEPTED.into_response(),
        Reply::TakenBack(rpc) => {
            shared.calls.take_back(&scope, &rpc);
            StatusCode::ACCEPTED.into_response()
        }
        Reply::Now(answer) => Json(answer).into_response(),
        Reply::Begin(answer) => {
            let name = Uuid::new_v4().simple().to_string();
            let name = HeaderValue::from_str(&name).ok().map(|name| (SESSION, name));
            let mut response = Json(answer).into_response();
            response.headers_mut().extend(name);
            response
        }
        Reply::Call(call) => call_tool(shared, client, (&scope, call)).await,
    }
}

/// Returns the answer to a call of a tool that the token does not open, though the owner's would.
fn needs_owner(client: &Client, message: &Value) -> Option<Value> {
    let name = message.pointer("/params/name").and_then(Value::as_str)?;
    let id = message.get("id").filter(|_| rpc::is(rpc::CALL, message))?;
    withheld(name, client.user()).map(|why| rpc::called(id, &Err(why)))
}

async fn call_tool(shared: &Shared, client: &Client, (scope, call): (&str, Call)) -> Response {
    let rpc = call.rpc.clone();
    let Ok(_place) = shared.calls.room.try_acquire() else {
        return Json(rpc::called(&rpc, &Err(TOO_MANY.to_owned()))).into_response();
    };
    let taken_back = shared.calls.begin(scope, &rpc);
    let _entry = Entry::new(&shared.calls, taken_back.clone());
    match shared.daemons.call(&shared.store, client, call, taken_back).await {
        Some(outcome) => Json(rpc::called(&rpc, &outcome)).into_response(),
        // Nobody waits for an answer; the exchange ends all the same.
        None => StatusCode::ACCEPTED.into_response(),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case(JSON)
}

/// Returns whether the version that the client goes by is spoken; one that names none has begun with
/// an older one.
fn speaks(headers: &HeaderMap) -> bool {
    headers.get_all(VERSION).iter().all(|version| version.to_str().is_ok_and(rpc::speaks))
}

/// Returns whether a message asks for the newer life cycle: whoever asks falls back when it hears
/// that there is no such method.
fn discovers(body: &[u8]) -> bool {
    json::from_slice(body).is_ok_and(|message: Value| rpc::is(rpc::DISCOVER, &message))
}

fn session(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(name) = headers.get(SESSION) else { return Ok(None) };
    let name = name.to_str().ok().filter(|name| (1..=SESSION_MAX).contains(&name.len()));
    let wrong = || Refusal::new(ErrorCode::BadRequest, "the session's name is malformed");
    name.map(|name| Some(name.to_owned())).ok_or_else(wrong)
}
