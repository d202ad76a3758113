//! Messages as the program sends them.

use serde_json::json;

use super::*;

fn tools() -> Vec<ToolSpec> {
    vec![ToolSpec {
        name: "send",
        description: "says something",
        input_schema: json!({"type": "object"}),
        output_schema: None,
    }]
}

fn now(message: &Value) -> Value {
    match reply("r", message, &tools()) {
        Reply::Now(answer) => answer,
        Reply::Call(call) => panic!("{call:?}"),
    }
}

/// The messages in the order in which the program sends them.
#[test]
fn the_server_introduces_itself_and_lists_its_tools() {
    let hello = json!({"method": "initialize", "jsonrpc": "2.0", "id": 0,
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}}});
    let answer = now(&hello);
    assert_eq!(
        (&answer["id"], &answer["result"]["protocolVersion"]),
        (&json!(0), &json!("2025-11-25"))
    );
    assert_eq!(answer["result"]["capabilities"], json!({"tools": {}}));
    let empty = json!({"jsonrpc": "2.0", "id": 0, "result": {}});
    assert_eq!(now(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})), empty);
    let listed = now(&json!({"method": "tools/list", "jsonrpc": "2.0", "id": 1}));
    let expected = json!([{"name": "send", "description": "says something", "inputSchema": {"type": "object"}}]);
    assert_eq!(listed["result"]["tools"], expected);
}

#[test]
fn a_call_has_the_models_id_of_it() {
    let call = json!({"method": "tools/call", "jsonrpc": "2.0", "id": 2, "params": {
        "name": "send", "arguments": {"text": "plum"},
        "_meta": {"claudecode/toolUseId": "toolu_1", "progressToken": 2}}});
    let expected = Call {
        request: "r".to_owned(),
        rpc: json!(2),
        id: "toolu_1".to_owned(),
        name: "send".to_owned(),
        input: json!({"text": "plum"}),
    };
    assert_eq!(reply("r", &call, &tools()), Reply::Call(expected));
    let bare = json!({"method": "tools/call", "id": 3, "params": {"name": "send"}});
    let Reply::Call(call) = reply("r", &bare, &tools()) else { panic!() };
    assert!(call.id.starts_with("r:"), "the request tells it from others: {}", call.id);
    assert_eq!(call.input, json!({}));
}

#[test]
fn what_is_not_there_is_an_error() {
    let other = json!({"method": "tools/call", "id": 2, "params": {"name": "rm"}});
    assert_eq!(now(&other)["error"]["code"], -32602);
    assert_eq!(now(&json!({"method": "server/discover", "id": "x"}))["error"]["code"], -32601);
    assert_eq!(now(&json!({"method": "ping", "id": 5}))["result"], json!({}));
}

#[test]
fn a_refusal_of_a_tool_is_a_result_that_says_so() {
    let good = called(&json!(2), &Ok("sent".to_owned()));
    let expected = json!({"jsonrpc": "2.0", "id": 2,
        "result": {"content": [{"type": "text", "text": "sent"}], "isError": false}});
    assert_eq!(good, expected);
    assert_eq!(called(&json!(2), &Err("no".to_owned()))["result"]["isError"], true);
}
