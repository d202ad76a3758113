//! Lines as the program writes them.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn decoded(line: &Value) -> Line {
    decode(&line.to_string()).unwrap()
}

#[test]
fn what_has_a_method_is_the_program_s_and_what_has_none_is_an_answer() {
    assert_eq!(
        decoded(&json!({"id": 3, "result": {"a": 1}})),
        Line::Response { id: 3, answer: Ok(json!({"a": 1})) }
    );
    assert_eq!(
        decoded(&json!({"id": 3, "error": {"code": -1, "message": "no"}})),
        Line::Response { id: 3, answer: Err("no".to_owned()) }
    );
    // The same number, and a request.
    let asked = json!({"id": 3, "method": "currentTime/read", "params": {}});
    let request = Request::Other { kind: "currentTime/read".to_owned() };
    assert_eq!(decoded(&asked), Line::Request { id: json!(3), request });
    let asked = json!({"id": "x", "method": "item/tool/requestUserInput",
        "params": {"questions": [{"id": "a"}, {"id": "b"}]}});
    let request = Request::Questions(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(decoded(&asked), Line::Request { id: json!("x"), request });
}

#[test]
fn the_turn_and_its_end_are_named() {
    let params = json!({"threadId": "t", "turn": {"id": "u", "status": "failed",
        "error": {"message": "m", "codexErrorInfo": "other", "additionalDetails": null}}});
    let error = Failure {
        message: "m".to_owned(),
        codex_error_info: Some(json!("other")),
        additional_details: None,
    };
    let turn = TurnDone { id: "u".to_owned(), status: "failed".to_owned(), error: Some(error) };
    assert_eq!(
        decoded(&json!({"method": "turn/completed", "params": params})),
        Line::TurnCompleted { thread: "t".to_owned(), turn }
    );
    let params = json!({"threadId": "t", "turnId": "u", "tokenUsage": {"total": {},
        "last": {"totalTokens": 12, "inputTokens": 10}, "modelContextWindow": null}});
    let of = Place { thread_id: "t".to_owned(), turn_id: "u".to_owned() };
    let last = Counts { total_tokens: 12, input_tokens: 10, ..Counts::default() };
    let tokens = Tokens { last, model_context_window: None };
    assert_eq!(
        decoded(&json!({"method": "thread/tokenUsage/updated", "params": params})),
        Line::Tokens { of, tokens }
    );
}

#[test]
fn what_is_not_known_is_passed_over_and_what_is_broken_is_told() {
    let unknown = Err(Odd::Unknown { kind: "weather/changed".to_owned() });
    assert_eq!(decode(r#"{"method":"weather/changed"}"#), unknown);
    for noise in ["thread/status/changed", "account/rateLimits/updated", "deprecationNotice"] {
        assert_eq!(decoded(&json!({"method": noise, "params": {"x": 1}})), Line::Noise, "{noise}");
    }
    let piece = |method: &str| {
        let params = json!({"threadId": "t", "turnId": "u", "itemId": "i", "delta": "x"});
        match decoded(&json!({"method": method, "params": params})) {
            Line::Piece { of, tool } => (of.thread_id, of.turn_id, tool),
            other => panic!("{other:?}"),
        }
    };
    let of = |tool: Option<&str>| ("t".to_owned(), "u".to_owned(), tool.map(str::to_owned));
    assert_eq!(piece("item/agentMessage/delta"), of(None));
    assert_eq!(piece("turn/plan/updated"), of(None));
    assert_eq!(piece("item/commandExecution/outputDelta"), of(Some("i")));
    let broken = json!({"method": "item/agentMessage/delta", "params": {"itemId": 7}});
    assert_eq!(decoded(&broken), Line::Piece { of: Place::default(), tool: None });
    for line in
        ["", "7", "null", "[]", "{}", "{\"id\":null}", "{\"id\":\"x\",\"result\":1}", "{\"id\":"]
    {
        assert_eq!(decode(line), Err(Odd::NoMessage), "{line}");
    }
    for method in ["turn/completed", "item/started", "error", "item/tool/call"] {
        let broken = decode(&json!({"method": method, "id": 1, "params": {}}).to_string());
        let broken = matches!(broken, Ok(Line::Request { request: Request::Broken { .. }, .. }));
        let expected = method == "item/tool/call";
        assert_eq!(broken, expected, "{method}");
        let broken = decode(&json!({"method": method, "params": {}}).to_string());
        assert_eq!(matches!(broken, Err(Odd::Broken { .. })), !expected, "{method}");
    }
}

proptest! {
    #[test]
    fn no_line_is_too_odd(line in ".*", method in "[a-z/]{0,30}", params in ".{0,40}") {
        let _ = decode(&line);
        let _ = decode(&json!({"method": method, "params": params}).to_string());
        let _ = decode(&format!("{{\"method\":\"item/started\",\"params\":{params}}}"));
    }
}

#[test]
fn half_a_character_costs_nothing_but_itself() {
    let line = r#"{"method":"item/tool/call","id":"c","params":{"callId":"1","tool":"send","arguments":{"text":"\ud83d"}}}"#;
    let call = Call {
        call_id: "1".to_owned(),
        tool: "send".to_owned(),
        arguments: json!({"text": "\u{fffd}"}),
    };
    assert_eq!(decode(line), Ok(Line::Request { id: json!("c"), request: Request::Call(call) }));
    let line = r#"{"method":"warning","params":{"message":"cut \uDFFF"}}"#;
    assert_eq!(decode(line), Ok(Line::Warning { text: "cut \u{fffd}".to_owned() }));
}
