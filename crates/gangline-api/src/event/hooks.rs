//! What hooks are told.

use gangline_core::{hook::HookEvent, id::MessageId};
use serde::{Deserialize, Serialize};

use super::Event;

/// What a hook is told (R3-11), and the payload of the four kinds that are recorded for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookPayload {
    /// What happened.
    pub event: HookEvent,
    /// The backend.
    pub runtime: String,
    /// Its id of the session, as `GT_SESSION_ID` has it; absent before it is known.
    #[serde(default)]
    pub session_id: Option<String>,
    /// Where the agent works.
    pub workdir: String,
    /// As configured under `gastown`.
    #[serde(default)]
    pub rig: Option<String>,
    /// As configured under `gastown`.
    #[serde(default)]
    pub role: Option<String>,
    /// As configured under `gastown`.
    #[serde(default)]
    pub bead: Option<String>,
    /// Who acts: as configured under `gastown`, else the agent's nick.
    pub actor: String,
    /// When, RFC 3339.
    pub timestamp: String,
    /// More about it.
    pub data: HookData,
}

/// More about what a hook is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookData {
    /// The message's text, or what went wrong, redacted; empty where there is nothing to say.
    pub message: String,
    /// The message that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageId>,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
}

macro_rules! hook_kinds {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub HookPayload);
    )* };
}

hook_kinds! {
    /// Payload of `session_start`.
    SessionStart,
    /// Payload of `session_stop`.
    SessionStop,
    /// Payload of `on_message`.
    OnMessage,
    /// Payload of `on_error`.
    OnError,
}

impl From<HookPayload> for Event {
    fn from(payload: HookPayload) -> Self {
        match payload.event {
            HookEvent::SessionStart => Self::SessionStart(SessionStart(payload)),
            HookEvent::SessionStop => Self::SessionStop(SessionStop(payload)),
            HookEvent::OnMessage => Self::OnMessage(OnMessage(payload)),
            HookEvent::OnError => Self::OnError(OnError(payload)),
        }
    }
}
