//! Whom a task of the daemon works for, and the events that it records in that name.

use std::sync::Arc;

use gangline_api::event::Event;
use gangline_core::{AgentName, Epoch, TurnId, redact::Redactor};
use gangline_os::clock::SharedClock;
use gangline_store::NewEvent;

/// Notices of texts that quote calls, each masked before.
const QUOTE_CALLS: [&str; 2] = ["unasked", "escalated"];

/// Whom a task works for, and with what.
pub(crate) struct Identity {
    pub(crate) agent: AgentName,
    pub(crate) epoch: Epoch,
    pub(crate) clock: SharedClock,
    pub(crate) redactor: Arc<Redactor>,
    /// Every agent of the installation, including this one.
    pub(crate) everybody: Arc<[AgentName]>,
}

/// Returns the event, masked, ready to be recorded.
pub(crate) fn new_event(me: &Identity, turn: Option<TurnId>, event: &Event) -> Option<NewEvent> {
    let bytes = event.encode().ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let payload = match event {
        // What people decide on is stored as it was shown to them, and so is what ran.
        Event::ApprovalAsked(_) | Event::Assistant(_) => me.redactor.sourced(&text),
        Event::Notice(it) if QUOTE_CALLS.contains(&it.code.as_str()) => me.redactor.sourced(&text),
        _ => me.redactor.redact(&text),
    };
    Some(NewEvent {
        agent: me.agent.clone(),
        epoch: Some(me.epoch),
        turn,
        kind: event.kind().to_owned(),
        payload,
    })
}
