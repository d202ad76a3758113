//! Updates as real programs write them.

use serde_json::{Value, json};

use super::{Choice, Context, Patch, Update, decode};

fn of(update: &Value) -> Result<Update, String> {
    decode(json!({"sessionId": "s", "update": update})).map(|(_, update)| update)
}

#[test]
fn known_kinds_are_read() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let message = of(
        &json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": text("a")}),
    );
    assert_eq!(message, Ok(Update::Text { message: Some("m".to_owned()), text: "a".to_owned() }));
    let image = json!({"type": "image", "data": "…", "mimeType": "image/png"});
    let message = of(&json!({"sessionUpdate": "agent_message_chunk", "content": image}));
    assert_eq!(message, Ok(Update::Text { message: None, text: String::new() }));
    let thought = of(&json!({"sessionUpdate": "agent_thought_chunk", "content": text("b")}));
    assert_eq!(thought, Ok(Update::Thought { text: "b".to_owned() }));
    let patch = Patch { id: "c".to_owned(), status: Some("failed".to_owned()), ..Patch::default() };
    let tool =
        of(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"}));
    assert_eq!(tool, Ok(Update::Tool(patch)));
    let options = of(&json!({"sessionUpdate": "config_option_update", "configOptions": [
        {"id": "model", "category": "model", "type": "select", "currentValue": "a/b"},
        {"id": "allow", "type": "boolean", "currentValue": true},
        {"id": 7},
    ]}));
    let choice = |id: &str, category: Option<&str>, current_value: Value| Choice {
        id: id.to_owned(),
        category: category.map(str::to_owned),
        current_value,
        options: Vec::new(),
    };
    let choices =
        vec![choice("model", Some("model"), json!("a/b")), choice("allow", None, json!(true))];
    assert_eq!(options, Ok(Update::Choices(choices)));
    let mode = of(&json!({"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}));
    assert_eq!(mode, Ok(Update::Mode("yolo".to_owned())));
    assert_eq!(of(&json!({"sessionUpdate": "plan", "entries": []})), Ok(Update::Plan));
    for quiet in ["session_info_update", "available_commands_update", "current_mode_update"] {
        assert_eq!(of(&json!({"sessionUpdate": quiet})), Ok(Update::Quiet));
    }
}

#[test]
fn a_cost_is_of_dollars_and_no_nonsense() {
    let cost = |amount: Value, currency: &str| {
        of(&json!({"sessionUpdate": "usage_update", "used": 5, "size": 9,
            "cost": {"amount": amount, "currency": currency}}))
    };
    let context =
        |cost_micros| Ok(Update::Context(Context { used: Some(5), size: Some(9), cost_micros }));
    assert_eq!(cost(json!(0.25), "USD"), context(Some(250_000)));
    assert_eq!(cost(json!(0), "USD"), context(Some(0)));
    assert_eq!(cost(json!(-1), "USD"), context(None));
    assert_eq!(cost(json!("much"), "USD"), context(None));
    assert_eq!(cost(json!(1), "EUR"), context(None));
}

#[test]
fn what_is_unknown_and_what_is_broken_are_two_things() {
    assert_eq!(of(&json!({"sessionUpdate": "dance"})), Ok(Update::Unknown("dance".to_owned())));
    assert_eq!(of(&json!({})), Err("an update".to_owned()));
    let broken = of(&json!({"sessionUpdate": "tool_call", "toolCallId": 7}));
    assert_eq!(broken, Err("`tool_call`".to_owned()));
    assert_eq!(decode(Value::Null).map(|_| ()), Err("an update".to_owned()));
}
