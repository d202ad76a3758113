//! What every request needs: the server's ends, and a body within bounds.

use std::{sync::Arc, time::Duration};

use axum::{body::Bytes, extract::Request};
use gangline_api::error::ErrorCode;
use gangline_os::{clock::SharedClock, paths::Paths, secret::Secret};
use gangline_store::Store;
use http_body_util::LengthLimitError;
use tokio::sync::Semaphore;

use crate::{calls::Calls, daemons::Daemons, refusal::Refusal};

/// A body must be whole within this.
const BODY_WITHIN: Duration = Duration::from_secs(10);

/// What every request needs.
pub(crate) struct Shared {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) owner: Secret,
    pub(crate) paths: Paths,
    pub(crate) store: Store,
    pub(crate) clock: SharedClock,
    pub(crate) daemons: Arc<dyn Daemons>,
    pub(crate) calls: Calls,
    /// Places for streams of the attention list.
    pub(crate) watchers: Arc<Semaphore>,
}

/// Reads a body, within the bounds of size and time.
pub(crate) async fn body(request: Request, max: usize) -> Result<Bytes, Refusal> {
    let whole = axum::body::to_bytes(request.into_body(), max);
    match tokio::time::timeout(BODY_WITHIN, whole).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) if is_too_long(&error) => {
            let text = format!("the body has more than {} KiB", max / 1024);
            Err(Refusal::new(ErrorCode::TooLarge, text))
        }
        Ok(Err(_)) => Err(Refusal::new(ErrorCode::BadRequest, "the body broke off")),
        Err(_) => Err(Refusal::new(ErrorCode::BadRequest, "the body was not whole within 10 s")),
    }
}

fn is_too_long(error: &axum::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}
