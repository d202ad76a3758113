//! The owner tells an agent something that nobody else sees (C9).

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Request, State},
};
use gangline_api::error::ErrorCode;
use gangline_core::{
    Redactor,
    whisper::{self, TEXT_MAX, WAITING_MAX, WhisperKind, WhisperSource},
};
use gangline_os::change_notice;
use gangline_store::{NewWhisper, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};
use tracing::warn;

use crate::{
    BODY_MAX, keys,
    refusal::Refusal,
    shared::{Shared, body},
};

/// What the owner sends.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    text: String,
    #[serde(default, rename = "type")]
    kind: Option<WhisperKind>,
}

pub(crate) async fn whisper(
    State(shared): State<Arc<Shared>>,
    Path(nick): Path<String>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    keys::caller(&shared, request.headers()).await?.must_be_owner()?;
    let agent = shared.daemons.agent(Some(&nick))?;
    let body = body(request, BODY_MAX).await?;
    let wrong = |why: String| {
        Refusal::new(ErrorCode::BadRequest, why)
            .hint(r#"send {"text": "what the agent is told", "type": "CORRECTION"}"#)
    };
    let Said { text, kind } = gangline_os::json::from_slice(&body)
        .map_err(|error| wrong(format!("the body is not a valid whisper: {error}")))?;
    let kind = match kind {
        Some(WhisperKind::Escalation) => {
            return Err(wrong("`type` is CORRECTION or THINK_DEEPER".to_owned()));
        }
        Some(kind) => kind,
        None => WhisperKind::Correction,
    };
    match text.trim().len() {
        0 => return Err(wrong("`text` is empty".to_owned())),
        length if length > TEXT_MAX => {
            let why = format!("`text` is longer than {TEXT_MAX} bytes");
            return Err(Refusal::new(ErrorCode::TooLarge, why));
        }
        _ => {}
    }
    let new = NewWhisper {
        agent: agent.clone(),
        kind,
        source: WhisperSource::Operator,
        text: whisper::text(&Redactor::new([]), &text),
        by: Some("owner".to_owned()),
        finding: None,
        turn: None,
    };
    let id = match shared.store.whisper(new).await {
        Ok(id) => id,
        Err(StoreError::Invalid(_)) => {
            let why = format!("{WAITING_MAX} whispers wait for {agent} already");
            return Err(Refusal::new(ErrorCode::Busy, why)
                .hint("they are delivered with its next prompt at the latest"));
        }
        Err(error) => {
            warn!(%error, "a whisper is not stored");
            let why = "the store cannot be written: try again later";
            return Err(Refusal::new(ErrorCode::Unavailable, why));
        }
    };
    change_notice::notify(&shared.paths.change_notice(agent.folded()));
    Ok(Json(json!({"ok": true, "agent": agent, "id": id, "whisper_type": kind})))
}
