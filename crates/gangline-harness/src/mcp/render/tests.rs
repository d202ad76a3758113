//! Every kind of content, as the model sees it.

use serde_json::{Value, json};

use super::*;

fn check(given: Value, expected: Result<&str, &str>) {
    let given: CallToolResult = serde_json::from_value(given).unwrap();
    let found = result(given).map_err(|error| error.to_string());
    assert_eq!(found.as_deref().map_err(String::as_str), expected);
}

#[test]
fn every_kind_of_content_becomes_text() {
    let text = |text: &str| json!({"type": "text", "text": text});
    check(json!({"content": [text("a"), text(""), text("b")]}), Ok("a\nb"));
    check(json!({"content": []}), Ok("[no output]"));
    check(json!({"content": [text("no")], "isError": true}), Err("no"));
    check(json!({"content": [], "isError": true}), Err("[no output]"));
    check(
        json!({"content": [{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}]}),
        Ok("[image, image/png, 5 bytes, cannot be shown]"),
    );
    check(
        json!({"content": [{"type": "audio", "data": "aGVs", "mimeType": "audio/wav"}]}),
        Ok("[sound, audio/wav, 3 bytes, cannot be shown]"),
    );
    check(
        json!({"content": [{"type": "resource_link", "name": "n", "uri": "file:///n"}]}),
        Ok("[resource n at file:///n]"),
    );
    check(
        json!({"content": [{"type": "resource", "resource": {"uri": "u", "text": "t"}}]}),
        Ok("[resource u]\nt"),
    );
    check(
        json!({"content": [{"type": "resource", "resource": {"uri": "u", "blob": "aGVs"}}]}),
        Ok("[resource u] [a file, data, 3 bytes, cannot be shown]"),
    );
}

#[test]
fn a_structured_result_is_shown_unless_it_is_told_in_text_too() {
    check(json!({"structuredContent": {"n": 1}}), Ok("{\"n\":1}"));
    check(
        json!({"structuredContent": {"n": 1}, "content": [{"type": "text", "text": "{n: 1}"}]}),
        Ok("{n: 1}"),
    );
}

#[test]
fn a_huge_result_is_shortened() {
    let huge = "x".repeat(RESULT_LIMIT * 2);
    let given = json!({"content": [{"type": "text", "text": huge}]});
    let text = result(serde_json::from_value(given).unwrap()).unwrap();
    assert!(text.len() < RESULT_LIMIT + 100 && text.contains("bytes left out"));
}
