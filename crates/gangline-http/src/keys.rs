//! Tokens: who asks, and whether they may.
//!
//! A token is looked for by its hash, so no comparison tells how much of it was right. It is looked
//! for at each request: one that is revoked opens nothing from then on.

use axum::http::{HeaderMap, header};
use gangline_api::error::ErrorCode;
use gangline_core::{AgentName, digest::sha256_hex};
use gangline_store::{TokenRow, TokenScope};
use tracing::warn;

use crate::{
    paths::{
        ABORT, ATTENTION, ATTENTION_CHANGES, ATTENTION_ITEM, BUDGETS, COMPACT, MCP, NEW_SESSION,
        OLD_COMPACT, OLD_NEW_SESSION, PAUSE, RESUME, WAKE, WHISPERS,
    },
    refusal::Refusal,
    shared::Shared,
};

/// A use that was written within this is not written again, in microseconds.
const USED_AGAIN: i64 = 60_000_000;
/// How many bytes a SHA-256 has.
const HASH: usize = 32;

/// Every route that needs a token, and the scope that opens it for its agent beside the owner's token. Which
/// tools a token opens at [`MCP`] is in [`gangline_mcp::table`].
pub(crate) const OPEN_TO: [(&str, Option<TokenScope>); 14] = [
    (WAKE, Some(TokenScope::Wake)),
    (MCP, Some(TokenScope::Mcp)),
    (COMPACT, None),
    (NEW_SESSION, None),
    (OLD_COMPACT, None),
    (OLD_NEW_SESSION, None),
    (PAUSE, None),
    (RESUME, None),
    (ABORT, None),
    (WHISPERS, None),
    (ATTENTION, None),
    (ATTENTION_CHANGES, None),
    (ATTENTION_ITEM, None),
    (BUDGETS, None),
];

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Whoever has the owner's token.
    Owner,
    /// A program with a token of its own.
    Token(Box<TokenRow>),
}

impl Caller {
    /// Refuses whoever is not the owner.
    pub(crate) fn must_be_owner(&self) -> Result<(), Refusal> {
        match self {
            Self::Owner => Ok(()),
            Self::Token(_) => {
                Err(Refusal::new(ErrorCode::Forbidden, "this needs the owner's token")
                    .hint("it is in the file `owner.token` of the state folder"))
            }
        }
    }

    /// Refuses a token that was made for something else than this route of this agent.
    pub(crate) fn may(&self, route: &str, agent: &AgentName) -> Result<(), Refusal> {
        let open_to = OPEN_TO.iter().find(|(path, _)| *path == route).and_then(|(_, scope)| *scope);
        let Some(scope) = open_to else { return self.must_be_owner() };
        match self {
            Self::Owner => Ok(()),
            Self::Token(row) if row.scope == scope && row.agent == *agent => Ok(()),
            Self::Token(row) => Err(Refusal::new(
                ErrorCode::Forbidden,
                format!("this token is for {}:{}, not for {scope}:{agent}", row.scope, row.agent),
            )),
        }
    }
}

/// Returns who asks, by the bearer token of the request.
pub(crate) async fn caller(shared: &Shared, headers: &HeaderMap) -> Result<Caller, Refusal> {
    let wrong = |text: &str| {
        Refusal::new(ErrorCode::Unauthorized, text).hint(
            "send `Authorization: Bearer TOKEN`; the owner makes one with `gangline token add`",
        )
    };
    let token = bearer(headers).ok_or_else(|| wrong("the token is missing"))?;
    if shared.owner.matches(token) {
        return Ok(Caller::Owner);
    }
    let row = shared.store.token(sha256_hex(token.as_bytes(), HASH)).await;
    let row = row.map_err(|error| {
        warn!(%error, "a token cannot be looked for");
        Refusal::new(ErrorCode::Unavailable, "the store cannot be read: try again later")
    })?;
    let row = row.ok_or_else(|| wrong("the token is wrong"))?;
    if row.revoked_at.is_some() {
        return Err(wrong("the token was revoked"));
    }
    let now = shared.clock.now();
    if row.used_at.is_none_or(|used| now.0.saturating_sub(used.0).abs() >= USED_AGAIN)
        && let Err(error) = shared.store.use_token(row.id).await
    {
        warn!(%error, token = row.id, "the use of a token is not recorded");
    }
    Ok(Caller::Token(Box::new(row)))
}

/// Returns the one token that the request carries.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let is_one = values.next().is_none() && scheme.eq_ignore_ascii_case("bearer");
    is_one.then(|| token.trim())
}
