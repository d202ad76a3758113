//! Who may speak to the surface: a loopback name, no foreign page, the token.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::{Shared, refusal};

/// Refuses with 403 what a rebound name or a foreign page sent, with 401 what has no token.
pub(super) async fn check(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let Some(host) = host(headers, request.uri()).filter(|host| is_ours(host, shared.port)) else {
        return refusal(StatusCode::FORBIDDEN, "the host is not this machine's own");
    };
    if !is_same_origin(headers, host) {
        return refusal(StatusCode::FORBIDDEN, "the request comes from another page");
    }
    if !token(headers).is_some_and(|token| shared.surface.token.matches(token)) {
        let wanted = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (wanted, refusal(StatusCode::UNAUTHORIZED, "the token is missing or wrong"))
            .into_response();
    }
    next.run(request).await
}

/// Returns the one host that the request names, nothing if it names none or two.
fn host<'a>(headers: &'a HeaderMap, uri: &Uri) -> Option<&'a str> {
    let host = single(headers, header::HOST)?.to_str().ok()?;
    let agrees = uri.authority().is_none_or(|named| named.as_str() == host);
    agrees.then_some(host)
}

fn single(headers: &HeaderMap, name: header::HeaderName) -> Option<&header::HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

fn is_ours(host: &str, port: u16) -> bool {
    let name = match host.strip_suffix(&format!(":{port}")) {
        Some(name) => name,
        None if port == 80 => host,
        None => return false,
    };
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|ours| name.eq_ignore_ascii_case(ours))
}

/// Returns whether no page is named, or one of this very server.
fn is_same_origin(headers: &HeaderMap, host: &str) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let expected = format!("http://{host}");
    origins.all(|origin| origin.as_bytes().eq_ignore_ascii_case(expected.as_bytes()))
}

fn token(headers: &HeaderMap) -> Option<&str> {
    let value = single(headers, header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
