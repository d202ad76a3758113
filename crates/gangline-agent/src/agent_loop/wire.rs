//! Conversions from the backend's types to the record's.

use gangline_api::event;
use gangline_runtime::AssistantMessage;

/// Returns the message as the record has it (R0-18).
pub(super) fn assistant(message: &AssistantMessage) -> event::Assistant {
    event::Assistant { model: message.model.clone(), content: message.content.clone() }
}
