//! The owner's orders to one agent: a shorter context (R2-11), a new conversation (R2-06).

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State},
    http::HeaderMap,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{daemons::Order, keys, refusal::Refusal, shared::Shared};

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

async fn give(
    shared: &Shared,
    headers: &HeaderMap,
    (nick, order): (Option<&str>, Order),
) -> Answered {
    keys::caller(shared, headers).await?.must_be_owner()?;
    let agent = shared.daemons.agent(nick)?;
    shared.daemons.order(agent.clone(), order).await?;
    Ok(Json(json!({"ok": true, "agent": agent})))
}
