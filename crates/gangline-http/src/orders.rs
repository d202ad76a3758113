//! The owner's orders to one agent: a shorter context (R2-11), a new conversation (R2-06), pause, resume
//! and abort (R1-35).

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, Request, State},
    http::HeaderMap,
};
use gangline_api::error::ErrorCode;
use gangline_core::pause::{pause_for, pause_until};
use gangline_os::clock::UnixMicros;
use jiff::{Timestamp, Zoned, tz::TimeZone};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    BODY_MAX,
    daemons::Order,
    keys,
    refusal::Refusal,
    shared::{Shared, body},
};

type Answered = Result<Json<Value>, Refusal>;

/// Which agent is meant where the address names none.
#[derive(Debug, Deserialize)]
pub(crate) struct Whose {
    agent: Option<String>,
}

pub(crate) async fn compact(
    State(shared): State<Arc<Shared>>,
    Path(nick): Path<String>,
    headers: HeaderMap,
) -> Answered {
    give(&shared, &headers, (Some(&nick), Order::Compact)).await
}

pub(crate) async fn new_session(
    State(shared): State<Arc<Shared>>,
    Path(nick): Path<String>,
    headers: HeaderMap,
) -> Answered {
    give(&shared, &headers, (Some(&nick), Order::NewSession)).await
}

pub(crate) async fn compact_the_only_one(
    State(shared): State<Arc<Shared>>,
    Query(whose): Query<Whose>,
    headers: HeaderMap,
) -> Answered {
    give(&shared, &headers, (whose.agent.as_deref(), Order::Compact)).await
}

pub(crate) async fn new_session_of_the_only_one(
    State(shared): State<Arc<Shared>>,
    Query(whose): Query<Whose>,
    headers: HeaderMap,
) -> Answered {
    give(&shared, &headers, (whose.agent.as_deref(), Order::NewSession)).await
}

pub(crate) async fn resume(
    State(shared): State<Arc<Shared>>,
    Path(nick): Path<String>,
    headers: HeaderMap,
) -> Answered {
    give(&shared, &headers, (Some(&nick), Order::Resume)).await
}

pub(crate) async fn abort(
    State(shared): State<Arc<Shared>>,
    Path(nick): Path<String>,
    headers: HeaderMap,
) -> Answered {
    give(&shared, &headers, (Some(&nick), Order::Abort)).await
}

/// How long a pause lasts: at most one of the two.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ends {
    #[serde(default, rename = "for")]
    length: Option<String>,
    #[serde(default)]
    until: Option<String>,
}

pub(crate) async fn pause(
    State(shared): State<Arc<Shared>>,
    Path(nick): Path<String>,
    request: Request,
) -> Answered {
    keys::caller(&shared, request.headers()).await?.must_be_owner()?;
    let headers = request.headers().clone();
    let body = body(request, BODY_MAX).await?;
    let until = ends(&body, shared.clock.now())?;
    give(&shared, &headers, (Some(&nick), Order::Pause { until })).await
}

/// Reads when a pause ends; an empty body says nothing of it.
fn ends(body: &[u8], now: UnixMicros) -> Result<Option<UnixMicros>, Refusal> {
    let wrong = |why: String| {
        Refusal::new(ErrorCode::BadRequest, why)
            .hint(r#"send {"for": "2h"}, {"until": "9:00"} or nothing"#)
    };
    let said: Ends = match body.trim_ascii() {
        [] => Ends::default(),
        body => gangline_os::json::from_slice(body).map_err(|error| {
            wrong(format!("the body does not say when the pause ends: {error}"))
        })?,
    };
    let stamp = Timestamp::from_microsecond(now.0).unwrap_or_default();
    let now = Zoned::new(stamp, TimeZone::system());
    let zones = |name: &str| TimeZone::get(name).ok();
    let until = match (said.length, said.until) {
        (Some(_), Some(_)) => return Err(wrong("give one of `for` and `until`".to_owned())),
        (Some(length), None) => pause_for(&length, &now, &zones).map(Some),
        (None, Some(time)) => pause_until(&time, &now, &zones).map(Some),
        (None, None) => Ok(None),
    };
    let until = until.map_err(|error| wrong(error.to_string()))?;
    Ok(until.map(|at| UnixMicros(at.0)))
}

async fn give(
    shared: &Shared,
    headers: &HeaderMap,
    (nick, order): (Option<&str>, Order),
) -> Answered {
    keys::caller(shared, headers).await?.must_be_owner()?;
    let agent = shared.daemons.agent(nick)?;
    let held = shared.daemons.order(&shared.store, agent.clone(), order).await?;
    Ok(Json(match held {
        Some(held) => json!({"ok": true, "agent": agent, "held": held}),
        None => json!({"ok": true, "agent": agent}),
    }))
}
