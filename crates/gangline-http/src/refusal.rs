//! Errors as every route gives them: `{"error": …, "code": …, "hints": […]}`.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use gangline_api::error::{ApiError, ErrorCode};
use serde_json::json;

/// A request that is not met.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) ApiError);

impl Refusal {
    pub(crate) fn new(code: ErrorCode, text: impl Into<String>) -> Self {
        Self(ApiError::new(code, text))
    }

    pub(crate) fn hint(self, hint: &str) -> Self {
        Self(self.0.hint(hint))
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let ApiError { code, message, hints } = self.0;
        let status =
            StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut body = json!({"error": message, "code": code});
        if !hints.is_empty() {
            body["hints"] = json!(hints);
        }
        let mut response = (status, Json(body)).into_response();
        if code == ErrorCode::Unauthorized {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        }
        response
    }
}
