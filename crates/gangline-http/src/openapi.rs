//! The description of the interface, for programs: a file, which a test compares with the routes.

use axum::{
    http::header,
    response::{IntoResponse as _, Response},
};

#[cfg(test)]
mod tests;

/// The document.
pub(crate) const DOCUMENT: &str = include_str!("openapi.json");

pub(crate) async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
