//! Which requests may come in at all: those to this machine's own name, from no foreign page.
//!
//! A page in a browser can send requests to loopback, directly or by a name that it lets point here.
//! The first kind names its origin, the second kind a foreign host.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Uri, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use gangline_api::error::ErrorCode;

use crate::{refusal::Refusal, shared::Shared};

#[cfg(test)]
mod tests;

/// Names under which a listener on loopback is reached.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Refuses what a foreign page or a foreign name sent.
pub(crate) async fn check(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    match stops(request.headers(), request.uri(), (&shared.host, shared.port)) {
        None => next.run(request).await,
        Some(why) => Refusal::new(ErrorCode::Forbidden, why).into_response(),
    }
}

/// Returns why a request may not come in; `ours` is the configured host and the port.
fn stops(headers: &HeaderMap, uri: &Uri, ours: (&str, u16)) -> Option<&'static str> {
    let Some(host) = host(headers, uri).filter(|host| is_ours(host, ours)) else {
        return Some("the header Host does not name this machine");
    };
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let expected = format!("http://{host}");
    let same = |origin: &HeaderValue| origin.as_bytes().eq_ignore_ascii_case(expected.as_bytes());
    (!origins.all(same)).then_some("the request comes from a foreign web page")
}

/// Returns the one host that the request names, nothing if it names none or two.
fn host<'a>(headers: &'a HeaderMap, uri: &Uri) -> Option<&'a str> {
    let mut values = headers.get_all(header::HOST).iter();
    let host = values.next()?.to_str().ok()?;
    let agrees = uri.authority().is_none_or(|named| named.as_str() == host);
    (values.next().is_none() && agrees).then_some(host)
}

fn is_ours(host: &str, (configured, port): (&str, u16)) -> bool {
    let name = match host.strip_suffix(&format!(":{port}")) {
        Some(name) => name,
        None if port == 80 => host,
        None => return false,
    };
    let bracketed = format!("[{configured}]");
    let mut ours = LOOPBACK.into_iter().chain([configured, bracketed.as_str()]);
    ours.any(|ours| name.eq_ignore_ascii_case(ours))
}
