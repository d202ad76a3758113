//! The budgets of today over HTTP, for the owner.

use std::sync::Arc;

use axum::{Json, extract::State, http::HeaderMap};
use gangline_api::budget::Budgets;

use crate::{keys, refusal::Refusal, shared::Shared};

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
) -> Result<Json<Budgets>, Refusal> {
    keys::caller(&shared, &headers).await?.must_be_owner()?;
    Ok(Json(shared.daemons.budgets(&shared.store).await?))
}
