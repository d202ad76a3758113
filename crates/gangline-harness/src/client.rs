//! The Messages API over HTTP: one request, its response as a stream of complete blocks.
//!
//! Repeats nothing and keeps no history. Start at [`Client::open`]; the stream's bytes become
//! events in [`sse`], events become blocks in [`accumulate`], failures get a kind in [`error`].

pub(crate) mod accumulate;
pub(crate) mod error;
pub(crate) mod sse;

use std::time::Duration;

use gangline_os::secret::Secret;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use serde_json::Value;

use self::accumulate::{Accumulator, Step};
use self::error::{ApiError, ApiErrorKind};
use self::sse::{Decoder, Event};
use crate::config::{Config, Limits};

const API_VERSION: &str = "2023-06-01";
const ERROR_BODY_LIMIT: usize = 64 << 10;
const DRAIN_TIMEOUT: Duration = Duration::from_millis(250);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection pool to one API.
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    key: HeaderValue,
    limits: Limits,
}

/// Why no client could be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("the API key has characters that a header cannot carry")]
    Key,
    #[error("base_url is not an http or https address")]
    Url,
    #[error("cannot set up the HTTP client")]
    Http(#[source] reqwest::Error),
}

impl Client {
    pub(crate) fn new(config: &Config) -> Result<Self, ClientError> {
        let url = format!("{}/v1/messages", config.base_url.trim_end_matches('/'));
        let http = http_client(&url).ok_or(ClientError::Url)?;
        Ok(Self {
            http: http.build().map_err(ClientError::Http)?,
            url,
            key: key_header(&config.api_key)?,
            limits: config.limits,
        })
    }

    /// Sends a request and waits for the headers of its response.
    ///
    /// Cancel-safe: dropping the future closes the connection.
    pub(crate) async fn open(&self, body: &Value) -> Result<Stream, ApiError> {
        let request = self
            .http
            .post(&self.url)
            .header("x-api-key", self.key.clone())
            .header("anthropic-version", API_VERSION)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream")
            .body(body.to_string());
        let response = match tokio::time::timeout(self.limits.idle, request.send()).await {
            Err(_elapsed) => return Err(silent()),
            Ok(Err(error)) => return Err(ApiError::from_transport(&error)),
            Ok(Ok(response)) => response,
        };
        if !response.status().is_success() {
            return Err(self.refusal(response, body).await);
        }
        Ok(Stream {
            response,
            limits: self.limits,
            received: 0,
            events: Decoder::new(self.limits.event_bytes),
            blocks: Accumulator::default(),
        })
    }

    async fn refusal(&self, mut response: reqwest::Response, request: &Value) -> ApiError {
        let mut text = Vec::new();
        while text.len() < ERROR_BODY_LIMIT {
            match tokio::time::timeout(self.limits.idle, response.chunk()).await {
                Ok(Ok(Some(chunk))) => text.extend_from_slice(&chunk),
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        text.truncate(ERROR_BODY_LIMIT);
        let model = request["model"].as_str().unwrap_or_default();
        ApiError::from_response(response.status().as_u16(), response.headers(), &text, model)
    }
}

/// Returns what makes an HTTP client for one address; nothing if that is not one of http or https.
pub(crate) fn http_client(url: &str) -> Option<reqwest::ClientBuilder> {
    // An error means that the process has a provider already, which is what is wanted.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let parsed = reqwest::Url::parse(url).ok()?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return None;
    }
    let mut http = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("gangline/", env!("CARGO_PKG_VERSION")));
    if matches!(parsed.host_str(), Some("127.0.0.1" | "localhost" | "[::1]")) {
        http = http.no_proxy();
    }
    if parsed.scheme() == "http" {
        // Redirects are not followed, so no certificate is ever looked at; the system's roots
        // would cost half a megabyte of every daemon whose model is on its own machine.
        http = http.tls_certs_only(std::iter::empty());
    }
    Some(http)
}

fn key_header(key: &Secret) -> Result<HeaderValue, ClientError> {
    let mut value = HeaderValue::from_str(key.expose().trim()).map_err(|_| ClientError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

fn silent() -> ApiError {
    ApiError::new(ApiErrorKind::Dropped, "the API was silent for too long")
}

/// The response to one request, under way.
pub(crate) struct Stream {
    response: reqwest::Response,
    limits: Limits,
    received: usize,
    events: Decoder,
    blocks: Accumulator,
}

impl Stream {
    /// Returns the next complete block, or the end of the response.
    ///
    /// Cancel-safe: what was received is kept in `self`.
    pub(crate) async fn next(&mut self) -> Result<Step, ApiError> {
        loop {
            while let Some(event) = self.events.next() {
                let event = event.map_err(|error| too_large(&error.to_string()))?;
                let Event { name, data: Some(data), .. } = event else { continue };
                if let Some(step) = self.blocks.feed(&name, &data)? {
                    return Ok(step);
                }
            }
            let chunk = tokio::time::timeout(self.limits.idle, self.response.chunk()).await;
            let chunk = match chunk {
                Err(_elapsed) => return Err(silent()),
                Ok(Err(error)) => return Err(ApiError::from_transport(&error)),
                Ok(Ok(None)) => return self.blocks.end_of_stream(),
                Ok(Ok(Some(chunk))) => chunk,
            };
            self.received = self.received.saturating_add(chunk.len());
            if self.received > self.limits.response_bytes {
                let limit = self.limits.response_bytes;
                return Err(too_large(&format!("the response is longer than {limit} bytes")));
            }
            self.events.push(&chunk);
        }
    }

    /// Reads to the end of the body after the last event, so that the connection can be used
    /// again. A server that keeps it open is not waited for.
    pub(crate) async fn drain(mut self) {
        let rest = async { while let Ok(Some(_)) = self.response.chunk().await {} };
        let _elapsed = tokio::time::timeout(DRAIN_TIMEOUT, rest).await;
    }

    /// Returns what the response told of itself so far, without blocks.
    pub(crate) fn so_far(&self) -> crate::wire::Response {
        self.blocks.so_far()
    }
}

fn too_large(text: &str) -> ApiError {
    ApiError::new(ApiErrorKind::TooLarge, text)
}
