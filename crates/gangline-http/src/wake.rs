//! Wakes: a program outside puts something into an agent's inbox, which may start a turn (R2-30).

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use gangline_api::error::ErrorCode;
use gangline_core::{
    Redactor, Tier,
    wake::{Draft, Refused},
};
use gangline_os::change_notice;
use gangline_store::{NewWake, WakeError};
use serde::Deserialize;
use serde_json::json;
use tracing::warn;

use crate::{
    BODY_MAX,
    keys::{self, Caller},
    paths::WAKE,
    refusal::Refusal,
    shared::{Shared, body},
};

/// Makes a repetition the same wake.
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// What a program sends.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wake {
    body: String,
    #[serde(default)]
    from: Option<String>,
}

pub(crate) async fn wake(
    State(shared): State<Arc<Shared>>,
    Path(nick): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let caller = keys::caller(&shared, request.headers()).await?;
    let agent = shared.daemons.agent(Some(&nick))?;
    caller.may(WAKE, &agent)?;
    let key = key(request.headers())?;
    let body = body(request, BODY_MAX).await?;
    let Wake { body, from } = gangline_os::json::from_slice(&body).map_err(|error| {
        Refusal::new(ErrorCode::BadRequest, format!("the body is not a valid wake: {error}"))
            .hint(r#"send {"body": "what the agent is told"}"#)
    })?;
    let (label, tier) = label(&caller, from)?;
    let Draft { label, body, key } = Draft::read(&label, &body, key.as_deref()).map_err(told)?;
    let body = Redactor::new([]).redact(&body);
    let woken = shared.store.wake(NewWake { agent: agent.clone(), label, tier, body, key }).await;
    let accepted = match woken {
        Ok(accepted) => accepted,
        Err(error) => return Ok(refused(&error)),
    };
    change_notice::notify(&shared.paths.change_notice(agent.folded()));
    let (message, duplicate) = (accepted.id, accepted.duplicate);
    let done = json!({"ok": true, "agent": agent, "message": message.to_string(),
        "duplicate": duplicate});
    Ok(Json(done).into_response())
}

/// Returns as whom the caller wakes, and how far it is trusted. A token has one name: its wakes are
/// counted by it.
fn label(caller: &Caller, from: Option<String>) -> Result<(String, Tier), Refusal> {
    match caller {
        Caller::Owner => Ok((from.unwrap_or_default(), Tier::Owner)),
        Caller::Token(row) => match from {
            Some(from) if from != row.label => Err(Refusal::new(
                ErrorCode::Forbidden,
                format!("this token wakes as `{}`: leave `from` out", row.label),
            )),
            Some(_) | None => Ok((row.label.clone(), row.made_by.tier)),
        },
    }
}

fn key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(key) = headers.get(KEY) else { return Ok(None) };
    let key = key.to_str().map_err(|_| told(Refused::Key))?;
    Ok(Some(key.to_owned()))
}

fn told(refused: Refused) -> Refusal {
    let code = match refused {
        Refused::LongBody(_) => ErrorCode::TooLarge,
        Refused::NoLabel
        | Refused::LongLabel(_)
        | Refused::Character(_)
        | Refused::Reserved(_)
        | Refused::NoBody
        | Refused::Key => ErrorCode::BadRequest,
    };
    Refusal::new(code, refused.to_string())
}

fn refused(error: &WakeError) -> Response {
    match error {
        WakeError::TooMany { wait, .. } => {
            let seconds = wait.as_secs() + 1;
            let refusal = Refusal::new(ErrorCode::Busy, error.to_string());
            let after = (header::RETRY_AFTER, HeaderValue::from(seconds));
            ([after], refusal).into_response()
        }
        WakeError::Somebody { .. } => {
            Refusal::new(ErrorCode::BadRequest, error.to_string()).into_response()
        }
        WakeError::Store(source) => {
            warn!(error = %source, "a wake is not stored");
            Refusal::new(ErrorCode::Unavailable, "the store cannot be written: try again later")
                .into_response()
        }
    }
}
