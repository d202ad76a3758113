//! Frames, good and bad.

use serde_json::{Value, json};

use super::{Line, Odd, Refusal, answer, decode, not_served, notification, request};

#[test]
fn each_kind_of_message_is_known_by_its_frame() {
    let refusal = Refusal { code: -32000, message: "no".to_owned(), data: json!({"a": 1}) };
    let cases: [(Value, Result<Line, Odd>); 9] = [
        (
            json!({"id": 3, "result": {"x": 1}}),
            Ok(Line::Answer { id: 3, outcome: Ok(json!({"x": 1})) }),
        ),
        // A method that returns nothing.
        (json!({"id": 3}), Ok(Line::Answer { id: 3, outcome: Ok(Value::Null) })),
        (
            json!({"id": 3, "error": {"code": -32000, "message": "no", "data": {"a": 1}}}),
            Ok(Line::Answer { id: 3, outcome: Err(refusal) }),
        ),
        (
            json!({"id": "q", "method": "m", "params": {}}),
            Ok(Line::Request { id: json!("q"), method: "m".to_owned(), params: json!({}) }),
        ),
        // The first request of some has the number 0.
        (
            json!({"id": 0, "method": "m"}),
            Ok(Line::Request { id: json!(0), method: "m".to_owned(), params: Value::Null }),
        ),
        (
            json!({"method": "m", "params": [1]}),
            Ok(Line::Notification { method: "m".to_owned(), params: json!([1]) }),
        ),
        (json!({"id": "x", "result": {}}), Err(Odd::NoMessage)),
        (json!({"id": null}), Err(Odd::NoMessage)),
        (json!([1, 2]), Err(Odd::NoMessage)),
    ];
    for (message, expected) in cases {
        assert_eq!(decode(&message.to_string()), expected, "{message}");
    }
    for text in ["", "hello", "{", "\u{fffd}", "42"] {
        assert_eq!(decode(text), Err(Odd::NoMessage), "{text}");
    }
}

#[test]
fn what_is_written_is_one_line_of_the_protocol() {
    let lines = [
        request(1, "a", &json!({"text": "two\nlines"})),
        notification("b", &json!({})),
        answer(&json!("q"), &json!({})),
        not_served(&json!(0), "fs/read_text_file"),
    ];
    for line in &lines {
        assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "{line}");
        let message: Value = serde_json::from_str(line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0");
    }
    assert!(lines[3].contains("-32601") && lines[3].contains("fs/read_text_file"));
}

/// Many programs say "Internal error", and why stands in the error's data.
#[test]
fn an_error_says_what_its_data_says() {
    for (data, words) in [
        (Value::Null, "Internal error"),
        (json!({"errorName": "APIError"}), "Internal error"),
        (json!("401 Unauthorized"), "Internal error: 401 Unauthorized"),
        (json!({"details": "bad key"}), "Internal error: bad key"),
        (
            json!({"reason": "Failed to process prompt", "details": "6 validation errors"}),
            "Internal error: 6 validation errors: Failed to process prompt",
        ),
        (json!({"error": {"message": "no such model"}}), "Internal error: no such model"),
        (json!({"message": "Internal error"}), "Internal error"),
        (json!({"details": "  "}), "Internal error"),
        (json!({"details": {"error": {"error": {"error": "too deep"}}}}), "Internal error"),
    ] {
        let refusal = Refusal { code: -32603, message: "Internal error".to_owned(), data };
        assert_eq!(refusal.words(), words, "{:?}", refusal.data);
    }
    let refusal = Refusal { data: json!({"details": "why"}), ..Refusal::default() };
    assert_eq!(refusal.words(), "why");
}
