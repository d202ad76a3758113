//! The record of requests: one numbered JSON file each, without secrets.

use std::{
    io,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use axum::http::{HeaderMap, Uri, request::Parts};
use gangline_os::clock::{SharedClock, rfc3339};
use serde_json::{Value, json};

/// Where requests are written to.
pub(crate) struct Recorder {
    folder: PathBuf,
    next: AtomicU64,
    clock: SharedClock,
}

impl Recorder {
    /// Makes the folder; goes on after the highest number that is there.
    pub(crate) fn open(folder: PathBuf, clock: SharedClock) -> io::Result<Self> {
        gangline_os::fsio::private_dir(&folder)?;
        let mut highest = 0;
        for entry in std::fs::read_dir(&folder)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".json"));
            highest = highest.max(number.and_then(|text| text.parse().ok()).unwrap_or(0));
        }
        Ok(Self { folder, next: AtomicU64::new(highest + 1), clock })
    }

    /// Writes one request; it stands whole under its name before this returns.
    pub(crate) async fn write(&self, parts: &Parts, body: &[u8]) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{number:06}.json"));
        let body = serde_json::from_slice::<Value>(body)
            .unwrap_or_else(|_| String::from_utf8_lossy(body).into_owned().into());
        let record = json!({
            "number": number,
            "at": rfc3339(self.clock.now()),
            "method": parts.method.as_str(),
            "path": path_without_secrets(&parts.uri),
            "headers": headers_without_secrets(&parts.headers),
            "body": body,
        });
        let text = format!("{record:#}\n");
        let written = tokio::task::spawn_blocking(move || {
            gangline_os::fsio::write_private(&path, text.as_bytes())
        });
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, number, "could not record a request"),
            Err(error) => tracing::warn!(%error, number, "could not record a request"),
        }
    }
}

/// Gemini's clients may put their key into the query.
fn path_without_secrets(uri: &Uri) -> String {
    let Some(query) = uri.query() else { return uri.path().to_owned() };
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name @ ("key" | "access_token"), _)) => format!("{name}=***"),
        Some(_) | None => pair.to_owned(),
    };
    format!("{}?{}", uri.path(), query.split('&').map(pair).collect::<Vec<_>>().join("&"))
}

fn headers_without_secrets(headers: &HeaderMap) -> Value {
    let shown = headers.iter().map(|(name, value)| {
        let secret = matches!(
            name.as_str(),
            "x-api-key"
                | "api-key"
                | "authorization"
                | "proxy-authorization"
                | "cookie"
                | "x-goog-api-key"
        );
        let text = if secret { "***".into() } else { String::from_utf8_lossy(value.as_bytes()) };
        (name.as_str().to_owned(), Value::from(text))
    });
    Value::Object(shown.collect())
}
