//! What the program is sent, as it has to be.

use serde_json::{Value, json};

use super::*;

fn value(line: &str) -> Value {
    assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "{line:?}");
    serde_json::from_str(line).unwrap()
}

/// Text is text: no command of the program, and no second line on its input.
#[test]
fn a_text_is_one_line_and_never_a_command() {
    for (said, sent) in [
        ("hello", "hello"),
        ("/clear", " /clear"),
        (" /clear", " /clear"),
        ("a\nb\r\n{\"type\":\"user\"}", "a\nb\r\n{\"type\":\"user\"}"),
        ("", ""),
    ] {
        let line = value(&text(said, "u", Place::Later));
        let expected = json!({
            "type": "user",
            "message": {"role": "user", "content": sent},
            "parent_tool_use_id": null,
            "uuid": "u",
            "priority": "later",
        });
        assert_eq!(line, expected);
    }
    assert_eq!(value(&text("x", "u", Place::Now))["priority"], "next");
    assert_eq!(value(&command("/clear", "u"))["message"]["content"], "/clear");
}

#[test]
fn the_first_request_asks_for_hooks_and_offers_the_server() {
    let hook = json!([{"matcher": "", "hookCallbackIds": ["gangline"]}]);
    let expected = json!({
        "subtype": "initialize",
        "hooks": {
            "PreToolUse": hook,
            "PostToolUse": hook,
            "PostToolUseFailure": hook,
            "SessionStart": hook,
            "PreCompact": hook,
        },
        "sdkMcpServers": ["gangline"],
    });
    assert_eq!(initialize(&["gangline"]), expected);
    assert_eq!(initialize(&[])["sdkMcpServers"], json!([]));
    let line = value(&request("r", &json!({"subtype": "interrupt"})));
    let expected =
        json!({"type": "control_request", "request_id": "r", "request": {"subtype": "interrupt"}});
    assert_eq!(line, expected);
}

#[test]
fn answers_name_their_request() {
    let input = json!({"command": "ls"});
    let expected = json!({
        "type": "control_response",
        "response": {
            "subtype": "success",
            "request_id": "r",
            "response": {"behavior": "allow", "updatedInput": {"command": "ls"}},
        },
    });
    assert_eq!(value(&answer("r", &allow(&input))), expected);
    assert_eq!(deny("no"), json!({"behavior": "deny", "message": "no"}));
    assert_eq!(value(&refusal("r", "no"))["response"]["error"], "no");
    let decision =
        |permit| before_tool(&permit)["hookSpecificOutput"]["permissionDecision"].clone();
    assert_eq!(decision(Permit::Allow), "allow");
    assert_eq!(decision(Permit::Ask), "ask");
    assert_eq!(decision(Permit::Deny("no".to_owned())), "deny");
}
