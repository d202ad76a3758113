//! The routes, and what each of them is given.

use std::sync::Arc;

use axum::{
    Router,
    http::StatusCode,
    middleware,
    routing::{any, get, post},
};
use gangline_api::error::ErrorCode;

use crate::{
    attention, budgets, gate, mcp, openapi, orders, refusal::Refusal, shared::Shared, wake, watch,
    whisper,
};

#[cfg(test)]
mod tests;

/// Where the description of the interface is.
pub(crate) const OPENAPI: &str = "/api/v1/openapi.json";
/// Shortens an agent's context.
pub(crate) const COMPACT: &str = "/api/v1/agents/{nick}/compact";
/// Begins a new conversation of an agent.
pub(crate) const NEW_SESSION: &str = "/api/v1/agents/{nick}/new-session";
/// Wakes an agent.
pub(crate) const WAKE: &str = "/api/v1/agents/{nick}/wake";
/// What waits for a human.
pub(crate) const ATTENTION: &str = "/api/v1/attention";
/// The changes of that list, as they happen.
pub(crate) const ATTENTION_CHANGES: &str = "/api/v1/attention/changes";
/// The budgets of today.
pub(crate) const BUDGETS: &str = "/api/v1/budgets";
/// One thing that waits, to be answered.
pub(crate) const ATTENTION_ITEM: &str = "/api/v1/attention/{number}";
/// Tells an agent something that nobody else sees.
pub(crate) const WHISPERS: &str = "/api/v1/agents/{nick}/whispers";
/// Stops an agent from beginning new turns.
pub(crate) const PAUSE: &str = "/api/v1/agents/{nick}/pause";
/// Lets an agent continue.
pub(crate) const RESUME: &str = "/api/v1/agents/{nick}/resume";
/// Ends an agent's open turn and its escalation.
pub(crate) const ABORT: &str = "/api/v1/agents/{nick}/abort";
/// S2's own address of [`COMPACT`] (R2-11).
pub(crate) const OLD_COMPACT: &str = "/api/compact";
/// S2's own address of [`NEW_SESSION`] (R2-06).
pub(crate) const OLD_NEW_SESSION: &str = "/api/new-session";
/// An agent's tools, for a person's MCP client.
pub(crate) const MCP: &str = "/mcp/{nick}";

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route(OPENAPI, get(openapi::document))
        .route(COMPACT, post(orders::compact))
        .route(NEW_SESSION, post(orders::new_session))
        .route(PAUSE, post(orders::pause))
        .route(RESUME, post(orders::resume))
        .route(ABORT, post(orders::abort))
        .route(WAKE, post(wake::wake))
        .route(ATTENTION, get(attention::list))
        .route(ATTENTION_CHANGES, get(watch::changes))
        .route(BUDGETS, get(budgets::show))
        .route(ATTENTION_ITEM, post(attention::answer))
        .route(WHISPERS, post(whisper::whisper))
        .route(OLD_COMPACT, post(orders::compact_the_only_one))
        .route(OLD_NEW_SESSION, post(orders::new_session_of_the_only_one))
        .route(MCP, any(mcp::message))
        .fallback(async || {
            Refusal::new(ErrorCode::NotFound, "there is no such address")
                .hint("GET /api/v1/openapi.json lists what there is")
        })
        .method_not_allowed_fallback(async || {
            let refusal = Refusal::new(ErrorCode::BadRequest, "this address takes another method")
                .hint("GET /api/v1/openapi.json lists what there is");
            (StatusCode::METHOD_NOT_ALLOWED, refusal)
        })
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), gate::check))
        .with_state(shared)
}
