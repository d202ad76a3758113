//! A person's calls in the agent's record of events, before and after (R2-41).

use gangline_api::event::{Event, Notice, ToolResult};
use gangline_core::{AgentName, Redactor};
use gangline_runtime::ToolCall;
use gangline_store::{NewEvent, Store};

/// How much of a call and of its result is recorded, in characters.
const PREVIEW: usize = 300;

pub(super) async fn before(store: &Store, agent: &AgentName, call: &ToolCall) {
    let input = preview(&call.input.to_string());
    let text = format!("a client of the owner calls {}: {input}", call.name);
    append(store, agent, Notice { code: "tool_call".to_owned(), text }.into()).await;
}

pub(super) async fn after(
    store: &Store,
    agent: &AgentName,
    (id, name): (String, String),
    outcome: Option<&Result<String, String>>,
) {
    let (is_error, text) = match outcome {
        Some(Ok(text)) => (false, text.as_str()),
        Some(Err(text)) => (true, text.as_str()),
        None => (true, "the call was taken back"),
    };
    let result = ToolResult { id, name, is_error, preview: preview(text) };
    append(store, agent, result.into()).await;
}

async fn append(store: &Store, agent: &AgentName, event: Event) {
    let payload = event.encode().ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(payload) = payload else { return };
    let event = NewEvent {
        agent: agent.clone(),
        epoch: None,
        turn: None,
        kind: event.kind().to_owned(),
        payload: Redactor::new([]).redact(&payload),
    };
    if let Err(error) = store.append(vec![event]).await {
        tracing::warn!(%error, "a call is not recorded");
    }
}

fn preview(text: &str) -> String {
    text.chars().take(PREVIEW).collect()
}
