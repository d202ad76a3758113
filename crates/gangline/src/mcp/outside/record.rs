//! A person's calls in the agent's record of events, before and after (R2-41). Masked first, then cut: the
//! beginning of a secret is one too.

use gangline_agent::masks;
use gangline_api::event::{Event, Notice, ToolResult};
use gangline_core::{AgentName, Redactor};
use gangline_os::paths::Paths;
use gangline_runtime::ToolCall;
use gangline_store::{NewEvent, Store};

/// How much of a call and of its result is recorded, in characters.
const PREVIEW: usize = 300;

pub(super) async fn before((paths, store): &(Paths, Store), agent: &AgentName, call: &ToolCall) {
    let masks = masks(&paths.state);
    let input = preview(&masks, &call.input.to_string());
    let text = format!("a client of the owner calls {}: {input}", call.name);
    let event = Notice { code: "tool_call".to_owned(), text }.into();
    append(store, agent, (&masks, event)).await;
}

pub(super) async fn after(
    (paths, store): &(Paths, Store),
    agent: &AgentName,
    (id, name): (String, String),
    outcome: Option<&Result<String, String>>,
) {
    let masks = masks(&paths.state);
    let (is_error, text) = match outcome {
        Some(Ok(text)) => (false, text.as_str()),
        Some(Err(text)) => (true, text.as_str()),
        None => (true, "the call was taken back"),
    };
    let result = ToolResult { id, name, is_error, preview: preview(&masks, text) };
    append(store, agent, (&masks, result.into())).await;
}

async fn append(store: &Store, agent: &AgentName, (masks, event): (&Redactor, Event)) {
    let payload = event.encode().ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(payload) = payload else { return };
    let event = NewEvent {
        agent: agent.clone(),
        epoch: None,
        turn: None,
        kind: event.kind().to_owned(),
        payload: masks.redact(&payload),
    };
    if let Err(error) = store.append(vec![event]).await {
        tracing::warn!(%error, "a call is not recorded");
    }
}

fn preview(masks: &Redactor, text: &str) -> String {
    masks.redact(text).as_str().chars().take(PREVIEW).collect()
}

#[cfg(test)]
mod tests {
    //! What is on disk of a call.

    use gangline_core::Epoch;
    use gangline_os::clock;
    use gangline_store::{EventQuery, OpenOptions, Whose};
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_calls_record_has_no_secret_of_the_installation_and_no_part_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let (token, state) = ("7f3a".repeat(16), folder.path().to_owned());
        std::fs::write(state.join("owner.token"), format!("{token}\n")).unwrap();
        let path = state.join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        let ada: AgentName = "oak-ada".parse().unwrap();
        let whose = Whose { runtime: "native", configured: "native" };
        let started = store.begin_epoch(&ada, (1, "test"), whose).await.unwrap();
        assert_eq!(started.epoch, Epoch(1));
        let opened = (Paths { config_file: "/c".into(), runtime: state.clone(), state }, store);
        let call = ToolCall {
            turn: gangline_runtime::toolserver::OUTSIDE,
            id: "1".to_owned(),
            name: "send".to_owned(),
            input: json!({"body": token}),
        };
        before(&opened, &ada, &call).await;
        let cut = "x".repeat(PREVIEW - 8) + &token;
        after(&opened, &ada, ("1".to_owned(), "send".to_owned()), Some(&Ok(cut))).await;
        let page = opened.1.events(EventQuery { limit: 9, ..EventQuery::default() }).await.unwrap();
        let stored: Vec<_> = page.events.iter().map(|it| it.payload.as_str().to_owned()).collect();
        assert!(stored.iter().any(|it| it.contains("calls send")), "{stored:?}");
        assert!(stored.iter().all(|it| !it.contains(&token[..8])), "{stored:?}");
    }
}
