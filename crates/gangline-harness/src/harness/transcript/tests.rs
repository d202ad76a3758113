//! The record is readable, bounded, and keeps its beginning and its end.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn message(role: Role, blocks: serde_json::Value) -> Cow<'static, Message> {
    Cow::Owned(Message { role, content: serde_json::from_value(blocks).unwrap() })
}

fn conversation() -> Vec<Cow<'static, Message>> {
    vec![
        message(Role::User, json!([{"type": "text", "text": "look, please"}])),
        message(
            Role::Assistant,
            json!([
                {"type": "thinking", "thinking": "secret", "signature": "s"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}},
                {"type": "tool_use", "id": "b", "name": "Read", "input": {}},
                {"type": "hologram"},
            ]),
        ),
        message(
            Role::User,
            json!([
                {"type": "tool_result", "tool_use_id": "a", "content": "x.rs", "is_error": false},
                {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": true},
                {"type": "text", "text": "hurry"},
            ]),
        ),
    ]
}

#[test]
fn a_conversation_becomes_one_text_without_thoughts() {
    let expected = "[instructions]\nlook, please\n\n[agent]\nI look.\n\n\
        [agent calls Bash]\n{\"command\":\"ls\"}\n\n[agent calls Read]\n{}\n\n\
        [agent: a block of the kind \"hologram\"]\n\n\
        [result of Bash]\nx.rs\n\n[error of Read]\nno\n\n[instructions]\nhurry\n\n";
    assert_eq!(transcript(&conversation(), 10_000), expected);
}

#[test]
fn the_oldest_entries_but_the_first_are_left_out() {
    let expected = "[instructions]\nlook, please\n\n[… 5 older entries left out …]\n\n\
        [error of Read]\nno\n\n[instructions]\nhurry\n\n";
    assert_eq!(transcript(&conversation(), 82), expected);
}

#[test]
fn long_results_are_shortened_one_by_one() {
    let long = "y".repeat(TOOL * 3);
    let result = json!([{"type": "tool_result", "tool_use_id": "?", "content": long}]);
    let text = transcript(&[message(Role::User, result)], usize::MAX);
    assert!(text.len() < TOOL + 200, "{}", text.len());
    assert!(text.starts_with("[result of a tool]\nyyy") && text.contains("bytes left out"));
}

proptest! {
    #[test]
    fn the_record_is_never_much_longer_than_its_budget(
        texts in prop::collection::vec("\\PC{1,80}", 1..30), budget in 0usize..2_000,
    ) {
        let messages: Vec<_> = texts
            .iter()
            .map(|text| message(Role::User, json!([{"type": "text", "text": text}])))
            .collect();
        let text = transcript(&messages, budget);
        prop_assert!(text.len() <= budget + 120, "{} of {budget}", text.len());
        let last = texts.last().unwrap().trim();
        if budget > 2_000 - 400 && texts.len() > 1 && !last.is_empty() {
            prop_assert!(text.contains(last));
        }
    }
}
