//! The attention list over HTTP: listed, seen, answered by the number; all by the owner.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Request, State},
    http::HeaderMap,
};
use gangline_api::{attention::AttentionItem, error::ErrorCode};
use gangline_core::{FindingNumber, attention::Affects};
use gangline_os::clock::{UnixMicros, rfc3339};
use gangline_store::FindingError;
use serde::Deserialize;
use serde_json::{Value, json};
use tracing::warn;

use crate::{
    BODY_MAX, keys,
    refusal::Refusal,
    shared::{Shared, body},
};

/// Who answers over HTTP, as others know that person.
pub(crate) const OWNER: &str = "owner over HTTP";

/// What a program sends: one of the two.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    seen: bool,
}

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
) -> Result<Json<Vec<AttentionItem>>, Refusal> {
    keys::caller(&shared, &headers).await?.must_be_owner()?;
    let items = shared.store.attention(shared.clock.now()).await.map_err(unreadable)?;
    Ok(Json(items.iter().map(wire).collect()))
}

pub(crate) async fn answer(
    State(shared): State<Arc<Shared>>,
    Path(number): Path<String>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    keys::caller(&shared, request.headers()).await?.must_be_owner()?;
    let number: i64 = number.parse().map_err(|_| {
        Refusal::new(ErrorCode::BadRequest, format!("`{number}` is not a number"))
            .hint("GET /api/v1/attention lists what waits")
    })?;
    let body = body(request, BODY_MAX).await?;
    let said: Answer =
        gangline_os::json::from_slice(&body).map_err(|error| malformed(&error.to_string()))?;
    match said {
        Answer { answer: Some(answer), seen: false } => {
            let done = shared.daemons.answer(&shared.store, number, &answer).await?;
            Ok(Json(json!({"ok": true, "number": number, "done": done})))
        }
        Answer { answer: None, seen: true } => seen(&shared, FindingNumber(number)).await,
        Answer { .. } => Err(malformed("one of `answer` and `seen` is needed")),
    }
}

async fn seen(shared: &Shared, number: FindingNumber) -> Result<Json<Value>, Refusal> {
    let row = shared.store.see_finding(number, OWNER).await.map_err(|error| match error {
        FindingError::Unknown(_) => Refusal::new(ErrorCode::NotFound, error.to_string())
            .hint("GET /api/v1/attention lists what waits"),
        FindingError::Resolved { .. } | FindingError::NoSuchChoice { .. } => {
            Refusal::new(ErrorCode::Conflict, error.to_string())
        }
        FindingError::Store(error) => unreadable(error),
    })?;
    let item = wire(&row.into_item(Affects::default()));
    Ok(Json(json!({"ok": true, "number": number, "item": item})))
}

fn malformed(why: &str) -> Refusal {
    Refusal::new(ErrorCode::BadRequest, format!("the body is not a valid answer: {why}"))
        .hint(r#"send {"answer": "resume"} or {"seen": true}"#)
}

fn unreadable(error: gangline_store::StoreError) -> Refusal {
    warn!(%error, "the attention list cannot be read");
    Refusal::new(ErrorCode::Unavailable, "the store cannot be used: try again later")
}

pub(crate) fn wire(item: &gangline_core::attention::Item) -> AttentionItem {
    AttentionItem::of(item, rfc3339(UnixMicros(item.since.0)))
}
