//! Who may speak to the surface: a loopback name, no foreign page, the token. The hub's HTTP interface
//! (`gangline-http`, `gate.rs` and `keys.rs`) refuses in the same words.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use gangline_os::secret::Secret;

use super::{Shared, refusal};

/// Refuses with 403 what a rebound name or a foreign page sent, with 401 what has no token.
pub(super) async fn check(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let gate = Gate { port: shared.port, token: &shared.surface.token };
    match gate.stops(request.headers(), request.uri()) {
        None => next.run(request).await,
        Some(stopped) => {
            let refused = refusal(stopped.status, stopped.why);
            match stopped.status {
                StatusCode::UNAUTHORIZED => {
                    ([(header::WWW_AUTHENTICATE, "Bearer")], refused).into_response()
                }
                _ => refused,
            }
        }
    }
}

/// Who may speak to a surface on loopback.
#[derive(Clone, Copy, Debug)]
pub struct Gate<'a> {
    /// The port that it listens on.
    pub port: u16,
    /// The bearer token that every request must carry; compared in constant time.
    pub token: &'a Secret,
}

/// A request that may not come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// 403 for a foreign name or page, 401 for the token.
    pub status: StatusCode,
    /// Why, for whoever reads the answer.
    pub why: &'static str,
}

impl Gate<'_> {
    /// Returns why a request may not come in: its `Host` is not a loopback name with our port (a
    /// rebound name), its `Origin` is another page's, or it has no token; `None` lets it in.
    #[must_use]
    pub fn stops(&self, headers: &HeaderMap, uri: &Uri) -> Option<Stopped> {
        let stopped = |status, why| Some(Stopped { status, why });
        let Some(host) = host(headers, uri).filter(|host| is_ours(host, self.port)) else {
            return stopped(StatusCode::FORBIDDEN, "the header Host does not name this machine");
        };
        if !is_same_origin(headers, host) {
            return stopped(StatusCode::FORBIDDEN, "the request comes from a foreign web page");
        }
        match token(headers) {
            None => stopped(StatusCode::UNAUTHORIZED, "the token is missing"),
            Some(token) if !self.token.matches(token) => {
                stopped(StatusCode::UNAUTHORIZED, "the token is wrong")
            }
            Some(_) => None,
        }
    }
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
