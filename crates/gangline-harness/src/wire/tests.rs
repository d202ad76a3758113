//! The form in which a history is sent.

use super::*;

fn message(role: Role, blocks: Value) -> Message {
    Message { role, content: serde_json::from_value(blocks).unwrap() }
}

fn check(history: &[Message], expected: Value) {
    assert_eq!(Value::Array(sendable(history)), expected);
}

#[test]
fn neighbours_of_one_role_are_one_message_and_only_the_last_block_is_marked() {
    let say = |text: &str| json!([{"type": "text", "text": text}]);
    check(
        &[message(Role::User, say("a")), message(Role::User, say("b"))],
        json!([{"role": "user", "content": [
            {"type": "text", "text": "a"},
            {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}},
        ]}]),
    );
}

#[test]
fn blank_texts_trailing_thoughts_and_empty_messages_are_not_sent() {
    let thought = json!({"type": "thinking", "thinking": "t", "signature": "s"});
    let hidden = json!({"type": "redacted_thinking", "data": "x"});
    let text = json!({"type": "text", "text": "x"});
    let blank = json!({"type": "text", "text": " \n"});
    check(
        &[
            message(Role::User, json!([text])),
            message(Role::Assistant, json!([thought, blank, hidden])),
            message(Role::User, json!([text])),
            message(Role::Assistant, json!([thought, text, thought])),
        ],
        json!([
            {"role": "user", "content": [text, text]},
            {"role": "assistant", "content": [thought, text]},
        ]),
    );
}

#[test]
fn open_calls_are_those_of_the_last_response_without_a_result() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "n", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": ""});
    let mut history = vec![message(Role::User, json!([{"type": "text", "text": "x"}]))];
    assert_eq!(open_calls(&history), [""; 0]);
    history.push(message(Role::Assistant, json!([call("b"), call("a"), call("c")])));
    assert_eq!(open_calls(&history), ["b", "a", "c"]);
    history.push(message(Role::User, json!([result("a")])));
    assert_eq!(open_calls(&history), ["b", "c"]);
}

#[test]
fn a_block_of_any_shape_survives_the_log() {
    for block in [json!({}), json!({"type": 7}), json!({"type": "tool_use"}), json!({"text": []})] {
        let block: Block = serde_json::from_value(block.clone()).unwrap();
        let _ = (block.kind(), block.as_text(), block.as_tool_call(), block.answers());
        let again: Block = serde_json::from_str(&serde_json::to_string(&block).unwrap()).unwrap();
        assert_eq!(again, block);
    }
}
