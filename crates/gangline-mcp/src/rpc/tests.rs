use serde_json::{Value, json};

use super::{Reply, reply};
use crate::ToolSpec;

fn tools() -> Vec<ToolSpec> {
    vec![ToolSpec {
        name: "send",
        description: "Says something.",
        input_schema: json!({"type": "object"}),
        output_schema: None,
    }]
}

fn read(message: Value) -> Reply {
    reply(&message, &tools(), "s")
}

fn now(message: Value) -> Value {
    match read(message) {
        Reply::Now(answer) | Reply::Begin(answer) => answer,
        other => panic!("{other:?}"),
    }
}

fn called(session: &str, id: Value, params: Value) -> super::Call {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    match reply(&message, &tools(), session) {
        Reply::Call(call) => call,
        other => panic!("{other:?}"),
    }
}

/// R2-16: every version that today's clients begin with is spoken; another is answered with ours.
#[test]
fn versions_of_todays_clients_are_accepted() {
    for (asked, spoken) in [
        (json!("2024-11-05"), "2024-11-05"),
        (json!("2025-03-26"), "2025-03-26"),
        (json!("2025-06-18"), "2025-06-18"),
        (json!("2025-11-25"), "2025-11-25"),
        (json!("2031-01-01"), "2025-11-25"),
        (Value::Null, "2025-11-25"),
    ] {
        let params = json!({"protocolVersion": asked});
        let answer = now(json!({"id": 1, "method": "initialize", "params": params}));
        assert_eq!(answer["result"]["protocolVersion"], spoken, "{asked}");
    }
}

/// The newer life cycle is not spoken, and a client that tries it first is told so.
#[test]
fn a_method_that_is_not_there_is_no_method() {
    for method in ["server/discover", "resources/list", "logging/setLevel"] {
        let answer = now(json!({"id": "server-discover-probe-1", "method": method}));
        assert_eq!(answer["error"]["code"], -32601);
        assert_eq!(answer["id"], "server-discover-probe-1");
    }
}

#[test]
fn tools_are_listed_as_the_host_tells_them() {
    let answer = now(json!({"id": 0, "method": "tools/list"}));
    let tool = json!({"name": "send", "description": "Says something.",
        "inputSchema": {"type": "object"}});
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 0, "result": {"tools": [tool]}}));
    assert_eq!(now(json!({"id": 0, "method": "ping"}))["result"], json!({}));
}

#[test]
fn what_is_no_request_gets_no_answer_or_an_error() {
    for silent in [
        json!({"method": "notifications/initialized"}),
        json!({"method": "tools/call", "params": {"name": "send"}}),
        json!({"id": 1, "result": {}}),
        json!({"id": 1, "error": {"code": 1, "message": "no"}}),
    ] {
        assert_eq!(read(silent.clone()), Reply::Nothing, "{silent}");
    }
    for wrong in [
        json!([]),
        json!([{"id": 1, "method": "ping"}]),
        json!("ping"),
        Value::Null,
        json!({}),
        json!({"id": null, "method": "ping"}),
        json!({"id": {"a": 1}, "method": "ping"}),
        json!({"id": 1, "method": 5}),
    ] {
        let answer = now(wrong.clone());
        assert_eq!(answer["error"]["code"], -32600, "{wrong}");
        assert_eq!(answer["id"], Value::Null, "{wrong}");
    }
}

#[test]
fn a_call_must_be_of_a_tool_and_with_an_object() {
    for params in [
        Value::Null,
        json!({"name": "rm"}),
        json!({"name": 5}),
        json!({"name": "send", "arguments": [1]}),
        json!({"name": "send", "arguments": "x"}),
    ] {
        let answer = now(json!({"id": 1, "method": "tools/call", "params": params}));
        assert_eq!(answer["error"]["code"], -32602, "{params}");
    }
    for params in [json!({"name": "send"}), json!({"name": "send", "arguments": null})] {
        assert_eq!(called("s", json!(1), params).input, json!({}));
    }
}

/// R0-13: the same call sent again has the same id, and no other call has it.
#[test]
fn the_id_of_a_call_is_its_own() {
    let params = |text: &str| json!({"name": "send", "arguments": {"text": text}});
    let id = |session: &str, rpc: Value, text: &str| called(session, rpc, params(text)).id;
    let first = id("a", json!(1), "x");
    assert_eq!(first, id("a", json!(1), "x"));
    let others = [
        id("a", json!(2), "x"),
        id("a", json!("1"), "x"),
        id("a", json!(1), "y"),
        id("b", json!(1), "x"),
    ];
    for other in &others {
        assert_ne!(*other, first);
    }
}

#[test]
fn the_models_own_id_of_a_call_is_preferred() {
    let with = |id: Value| {
        let meta = json!({"claudecode/toolUseId": id, "progressToken": 2});
        called("s", json!(1), json!({"name": "send", "_meta": meta})).id
    };
    assert_eq!(with(json!("toolu_1")), "toolu_1");
    let own = called("s", json!(1), json!({"name": "send"})).id;
    for odd in [json!(""), json!(5), json!("x".repeat(129))] {
        assert_eq!(with(odd), own);
    }
}

#[test]
fn a_call_is_answered_with_what_became_of_it() {
    let answer = |text: &str, failed: bool| {
        let content = json!([{"type": "text", "text": text}]);
        json!({"jsonrpc": "2.0", "id": 7, "result": {"content": content, "isError": failed}})
    };
    let called = |outcome| super::called(&json!(7), &outcome);
    assert_eq!(called(Ok("sent".to_owned())), answer("sent", false));
    assert_eq!(called(Err("no".to_owned())), answer("no", true));
    let broken = super::broken(&json!("a"));
    assert_eq!((&broken["id"], &broken["error"]["code"]), (&json!("a"), &json!(-32603)));
}
