//! One attempt to post an alert: the address is resolved, checked and pinned, at each hop anew.

use std::{net::SocketAddr, time::Duration};

use gangline_core::alert::Failure;
use gangline_os::{
    clock::{SharedClock, UnixMicros, within},
    secret::Secret,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{StatusCode, Url, header::RETRY_AFTER, redirect};
use sha2::Sha256;

use crate::{address, body::Body};

/// How long an attempt takes at most, its redirects included.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// The most of a response that is read, in bytes.
pub const RESPONSE_MAX: usize = 64 * 1024;
/// The most redirects that are followed.
pub const HOPS_MAX: usize = 3;
/// So much of a refusal is repeated, in characters.
const SAID_MAX: usize = 120;

/// What is posted.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// Where to.
    pub url: &'a Secret,
    /// What.
    pub body: &'a Body,
    /// What it is signed with.
    pub secret: Option<&'a Secret>,
    /// The event, for a header.
    pub event: &'a str,
    /// The number of the delivery, for a header: the same in each attempt.
    pub delivery: i64,
    /// Hosts that may be posted to although they are not public, in lower case.
    pub allow_hosts: &'a [String],
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct PostError {
    /// What that means for a further attempt.
    pub failure: Failure,
    /// What has happened, without the address.
    pub why: String,
}

impl PostError {
    fn passing(why: impl Into<String>) -> Self {
        Self { failure: Failure::Passing, why: why.into() }
    }

    fn refused(why: impl Into<String>) -> Self {
        Self { failure: Failure::Refused, why: why.into() }
    }
}

/// Posts, and follows redirects that keep the body. Takes [`TIMEOUT`] at most.
///
/// Cancel-safe: no; whether the target has it is unknown then.
///
/// # Errors
/// See [`PostError`].
pub async fn post(request: &Request<'_>, clock: &SharedClock) -> Result<(), PostError> {
    // An error means that the process has a provider already, which is what is wanted.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let attempt = hops(request, clock);
    match within(clock, TIMEOUT, attempt).await {
        Some(done) => done,
        None => Err(PostError::passing(format!("no answer within {} seconds", TIMEOUT.as_secs()))),
    }
}

async fn hops(request: &Request<'_>, clock: &SharedClock) -> Result<(), PostError> {
    let mut url = Url::parse(request.url.expose().trim())
        .map_err(|error| PostError::refused(format!("the address is not a URL: {error}")))?;
    for _ in 0..=HOPS_MAX {
        match hop(request, &url, clock).await? {
            Answer::Taken => return Ok(()),
            Answer::Elsewhere(next) => url = next,
        }
    }
    Err(PostError::refused(format!("more than {HOPS_MAX} redirects")))
}

enum Answer {
    Taken,
    Elsewhere(Url),
}

async fn hop(request: &Request<'_>, url: &Url, clock: &SharedClock) -> Result<Answer, PostError> {
    if !matches!(url.scheme(), "http" | "https") {
        let why = format!(
            "the address begins with `{}:`; only http and https are posted to",
            url.scheme()
        );
        return Err(PostError::refused(why));
    }
    let (host, addresses) = resolved(url, request.allow_hosts).await?;
    let mut http = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .resolve_to_addrs(&host, &addresses)
        .user_agent(concat!("gangline/", env!("CARGO_PKG_VERSION")));
    if url.scheme() == "http" {
        // No certificate is looked at; the system's roots would cost half a megabyte.
        http = http.tls_certs_only(std::iter::empty());
    }
    let http = http.build().map_err(|error| failed(&error.without_url()))?;
    let mut sent = http
        .post(url.clone())
        .header("x-gangline-event", request.event)
        .header("x-gangline-delivery", request.delivery.to_string());
    for (name, value) in &request.body.headers {
        sent = sent.header(*name, value);
    }
    if let Some(secret) = request.secret {
        let signature = signature(secret, clock.now(), &request.body.text);
        sent = sent.header("x-gangline-signature", signature);
    }
    let response = sent.body(request.body.text.clone()).send().await;
    let response = response.map_err(|error| failed(&error.without_url()))?;
    answer(response, url, clock.now()).await
}

/// Looks the host up, and returns it with the addresses that may be posted to.
async fn resolved(
    url: &Url,
    allow_hosts: &[String],
) -> Result<(String, Vec<SocketAddr>), PostError> {
    let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
    let port = url.port_or_known_default().unwrap_or(443);
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let found = tokio::net::lookup_host((bare.as_str(), port)).await;
    let found: Vec<SocketAddr> =
        found.map_err(|error| PostError::passing(format!("{host}: {error}")))?.collect();
    if address::is_allowed(&bare, allow_hosts) {
        return Ok((host, found));
    }
    let public: Vec<_> = found.iter().copied().filter(|it| address::is_public(it.ip())).collect();
    match public.is_empty() {
        false => Ok((host, public)),
        true => Err(PostError::refused(format!(
            "{host} is on this machine or a private network; name it in `webhooks.allow_hosts` to \
             post there"
        ))),
    }
}

async fn answer(
    mut response: reqwest::Response,
    url: &Url,
    now: UnixMicros,
) -> Result<Answer, PostError> {
    let status = response.status();
    if status.is_success() {
        return Ok(Answer::Taken);
    }
    if let StatusCode::MOVED_PERMANENTLY
    | StatusCode::FOUND
    | StatusCode::TEMPORARY_REDIRECT
    | StatusCode::PERMANENT_REDIRECT = status
    {
        let to = response.headers().get(reqwest::header::LOCATION);
        let to = to.and_then(|it| it.to_str().ok()).and_then(|it| url.join(it).ok());
        let to = to.ok_or_else(|| PostError::refused(format!("{status}, to nowhere")))?;
        return Ok(Answer::Elsewhere(to));
    }
    let patience = patience(response.headers().get(RETRY_AFTER), now);
    let said = said(&mut response).await;
    let why = if said.is_empty() { status.to_string() } else { format!("{status}: {said}") };
    let failure = match status {
        StatusCode::TOO_MANY_REQUESTS => Failure::Slower(patience),
        StatusCode::SERVICE_UNAVAILABLE if patience.is_some() => Failure::Slower(patience),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY => Failure::Passing,
        status if status.is_server_error() => Failure::Passing,
        _ => Failure::Refused,
    };
    Err(PostError { failure, why })
}

/// Reads the beginning of what the target says, without control characters.
async fn said(response: &mut reqwest::Response) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < RESPONSE_MAX
        && let Ok(Some(chunk)) = response.chunk().await
    {
        let left = RESPONSE_MAX - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(left)]);
    }
    let text = String::from_utf8_lossy(&bytes);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|c| !c.is_control()).take(SAID_MAX).collect()
}

/// Reads `Retry-After`: seconds, or a date.
fn patience(header: Option<&reqwest::header::HeaderValue>, now: UnixMicros) -> Option<Duration> {
    let text = header?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_microsecond();
    Some(UnixMicros(at).since(now))
}

/// Returns the header that proves who posts, and when: `t=<seconds>,v1=<HMAC-SHA256>` over
/// `<seconds>.<body>`, in hexadecimal.
#[must_use]
pub fn signature(secret: &Secret, now: UnixMicros, body: &str) -> String {
    let at = now.as_seconds();
    // Any length is a key.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()) else {
        return String::new();
    };
    mac.update(format!("{at}.{body}").as_bytes());
    let hex: String =
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={at},v1={hex}")
}

/// Says what went wrong, with its innermost cause; the error must not hold the address.
fn failed(error: &reqwest::Error) -> PostError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    PostError::passing(format!("not reached: {cause}"))
}

#[cfg(test)]
mod tests;
