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
    attention, budgets, gate, mcp, openapi, orders,
    paths::{
        ABORT, ATTENTION, ATTENTION_CHANGES, ATTENTION_ITEM, BUDGETS, COMPACT, MCP, NEW_SESSION,
        OLD_COMPACT, OLD_NEW_SESSION, OPENAPI, PAUSE, RESUME, WAKE, WHISPERS,
    },
    refusal::Refusal,
    shared::Shared,
    wake, watch, whisper,
};

#[cfg(test)]
mod tests;

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
