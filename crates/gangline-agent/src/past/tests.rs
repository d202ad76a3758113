use std::{sync::Arc, time::Duration};

use gangline_api::event::{Assistant, Notice};
use gangline_core::redact::{MASK, Redactor};
use gangline_store::{AgentUpdate, Entry, NewEvent, OpenOptions, Whose};
use serde_json::json;

use super::*;
use crate::hand_clock::HandClock;

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

/// R0-16: what a program may tell again of a session is all that its model said in it, in order, and
/// nothing of another session.
#[tokio::test]
async fn the_record_of_a_session_is_what_was_said_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(HandClock::default());
    let path = folder.path().join("gangline.db");
    let store = Store::open(OpenOptions { path, clock: clock.clone() }).await.unwrap();
    let agent: AgentName = "oak-ada".parse().unwrap();
    let whose = Whose { runtime: "acp", configured: "acp" };
    let epoch = store.begin_epoch(&agent, (1, "test"), whose).await.unwrap().epoch;
    let begins = |session: &'static str| {
        clock.forward(Duration::from_secs(1));
        let update = AgentUpdate {
            session: Some(Some(session.to_owned())),
            known_as: Some(session.to_owned()),
            ..AgentUpdate::default()
        };
        store.together(vec![Entry::Agent(agent.clone(), epoch, update)])
    };
    let tells = |event: Event| {
        let payload = String::from_utf8(event.encode().unwrap()).unwrap();
        let kind = event.kind().to_owned();
        let payload = Redactor::new(["hunter2hunter2".to_owned()]).redact(&payload);
        store.append(vec![NewEvent {
            agent: agent.clone(),
            epoch: Some(epoch),
            turn: None,
            kind,
            payload,
        }])
    };
    let says = |content: Vec<Block>| tells(Assistant { model: String::new(), content }.into());
    begins("old").await.unwrap();
    says(vec![text("of the old one")]).await.unwrap();
    begins("new").await.unwrap();
    let call = Block::ToolUse { id: "c".to_owned(), name: "Bash".to_owned(), input: json!({}) };
    says(vec![text("one"), call.clone()]).await.unwrap();
    tells(Notice { code: "x".to_owned(), text: "no word of the model".to_owned() }.into())
        .await
        .unwrap();
    says(vec![text("it is hunter2hunter2")]).await.unwrap();
    let past = Recorded { store, agent };
    assert_eq!(past.of("new").await, [text("one"), call, text(&format!("it is {MASK}"))]);
    assert_eq!(past.of("old").await.len(), 4);
    // One that is not known may have any of it.
    assert_eq!(past.of("imported").await.len(), 4);
}
