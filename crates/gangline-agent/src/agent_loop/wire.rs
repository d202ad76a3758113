//! Conversions from the backend's types to the record's.

use gangline_api::event;
use gangline_core::TurnId;
use gangline_runtime::AssistantMessage;
use gangline_store::NewEvent;

use super::Identity;

/// Returns the message as the record has it (R0-18).
pub(super) fn assistant(message: &AssistantMessage) -> event::Assistant {
    event::Assistant { model: message.model.clone(), content: message.content.clone() }
}

/// Returns the event, masked, ready to be recorded.
pub(crate) fn new_event(
    me: &Identity,
    turn: Option<TurnId>,
    event: &event::Event,
) -> Option<NewEvent> {
    let bytes = event.encode().ok()?;
    let text = String::from_utf8(bytes).ok()?;
    Some(NewEvent {
        agent: me.agent.clone(),
        epoch: Some(me.epoch),
        turn,
        kind: event.kind().to_owned(),
        payload: me.redactor.redact(&text),
    })
}
