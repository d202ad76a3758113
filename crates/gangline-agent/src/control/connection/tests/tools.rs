//! The agent's own tools for its programs outside of the session; no turn is open here.

use gangline_core::{MessageState, Origin, Principal};
use gangline_store::{EventQuery, LetterFilter, NewMessage};
use serde_json::{Value, json};

use super::*;

/// Calls a tool with the agent's token; returns what it returned, or the error.
async fn call(client: &mut Client, name: &str, input: Value) -> Result<Value, String> {
    let call = format!("{name}/{input}");
    let line = json!({"type": "tool", "token": "the agent", "name": name, "input": input,
        "call": call, "id": "1"});
    client.send(&format!("{line}\n")).await;
    let answer: Value = serde_json::from_str(&client.line().await).unwrap();
    match answer["error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => {
            let result = answer["data"]["result"].as_str().unwrap();
            Ok(serde_json::from_str(result).unwrap_or_else(|_| json!(result)))
        }
    }
}

fn waiting() -> NewMessage {
    NewMessage {
        agent: ada(),
        network_id: "local".into(),
        intake_key: Some("k".into()),
        origin: Origin::Cli,
        principal: Principal { account: "owner".into(), tier: Tier::Owner },
        sender: "owner".into(),
        target: String::new(),
        body: Redactor::default().redact("look at the build"),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}

/// C21, R2-20, R2-41: only the agent calls them; without a turn they work, `recv` takes nothing, and
/// each call is recorded before and after.
#[tokio::test]
async fn the_agent_calls_its_tools_outside_of_a_turn() {
    let mut fixture = Fixture::open().await;
    let store = fixture.requests.speaker.store.clone();
    let (mut client, _end) = fixture.connect();
    for token in ["", r#""token":"the owner","#] {
        let asked = format!(r#"{token}"type":"tool","name":"whoami","call":"1""#);
        let refused = r#""ok":false,"error":"this needs the agent's token"}"#;
        assert_eq!(client.ask(&asked).await, refused);
    }
    let me = call(&mut client, "whoami", json!({})).await.unwrap();
    assert_eq!((&me["name"], &me["caller"]), (&json!("oak-ada"), &json!("agent")));
    for tool in ["no_reply", "read", "shout"] {
        let why = call(&mut client, tool, json!({})).await.unwrap_err();
        assert_eq!(why, format!("there is no tool `{tool}` here"));
    }

    let nothing = call(&mut client, "recv", json!({})).await.unwrap();
    assert_eq!(nothing, json!({"messages": [], "pending": 0}));
    let id = store.accept(waiting()).await.unwrap().id;
    let listed = call(&mut client, "recv", json!({"max": 5})).await.unwrap();
    assert_eq!(listed["messages"][0]["body"], "look at the build");
    assert_eq!(store.message(id).await.unwrap().unwrap().state, MessageState::Accepted);

    let sent = call(&mut client, "send", json!({"to": "operator", "body": "hello"})).await;
    assert_eq!(sent, Ok(json!("sent to the owners' inbox as letter 1")));
    let again = call(&mut client, "send", json!({"to": "operator", "body": "hello"})).await;
    assert_eq!(again, sent, "the same call is the same letter");
    let letters = store.letters(LetterFilter::default(), 9).await.unwrap();
    assert_eq!((letters.len(), letters[0].turn), (1, None));
    let foreign = json!({"to": "operator", "body": "x", "in_reply_to": "m99"});
    let foreign = call(&mut client, "send", foreign).await.unwrap_err();
    assert_eq!(foreign, "`in_reply_to`: m99 is not this agent's");

    let asked = call(&mut client, "ask", json!({"question": "merge?"})).await.unwrap();
    let made = call(&mut client, "remind", json!({"message": "tea", "due": "in 2 hours"})).await;
    assert_eq!((&asked["id"], &made.unwrap()["id"]), (&json!(1), &json!(1)));
    let open = call(&mut client, "get_loose_ends", json!({})).await.unwrap();
    let kinds: Vec<&Value> =
        open["loose_ends"].as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["question", "reminder"]);

    let page = store.events(EventQuery { agent: Some(ada()), ..EventQuery::default() }).await;
    let events = page.unwrap().events;
    let seen = |kind: &str, part: &str| {
        events.iter().any(|it| it.kind == kind && it.payload.as_str().contains(part))
    };
    assert!(seen("notice", "a client of the agent calls remind: "), "{events:?}");
    assert!(seen("tool_result", r#""name":"remind","is_error":false"#), "{events:?}");
    assert!(seen("tool_result", r#""name":"shout","is_error":true"#), "{events:?}");
}
