//! Calls as the real programs tell them, each in its own order.

use serde_json::{Value, json};

use super::{Call, Calls, News, input};
use crate::acp::update::patch;

/// What is told, as short lines.
fn told(calls: &mut Calls, body: &Value) -> Vec<String> {
    calls.told(patch(body).unwrap()).iter().map(line).collect()
}

fn line(news: &News) -> String {
    match news {
        News::Wanted(call) => format!("wants {} {}", call.first_title, input(call)),
        News::Over { is_error, content, .. } => format!("over {is_error} {content}"),
    }
}

#[test]
fn a_call_whose_arguments_come_later_is_told_with_them() {
    let mut calls = Calls::default();
    let begun = json!({"toolCallId": "c", "title": "bash", "kind": "execute", "status": "pending",
        "rawInput": {"cwd": "/w"}});
    assert_eq!(told(&mut calls, &begun), [""; 0]);
    let runs = json!({"toolCallId": "c", "title": "echo hi", "status": "in_progress",
        "rawInput": {"command": "echo hi", "cwd": "/w"}});
    assert_eq!(told(&mut calls, &runs), [r#"wants bash {"command":"echo hi","cwd":"/w"}"#]);
    assert_eq!(told(&mut calls, &runs), [""; 0]);
    let content = json!([{"type": "content", "content": {"type": "text", "text": "hi\n"}}]);
    let over = json!({"toolCallId": "c", "status": "completed", "content": content,
        "rawOutput": {"output": "raw"}});
    assert_eq!(told(&mut calls, &over), ["over false hi\n"]);
    assert_eq!(told(&mut calls, &over), [""; 0]);
}

#[test]
fn an_update_may_come_before_its_call_and_after_its_end() {
    let mut calls = Calls::default();
    let first = json!({"toolCallId": "c", "title": "run_commands: x", "kind": "execute",
        "status": "pending", "rawInput": {"commands": ["x", "y"]}});
    let wants = r#"wants run_commands: x {"command":"x; y","commands":["x","y"]}"#;
    assert_eq!(told(&mut calls, &first), [wants]);
    let (_, news) = calls.asked(&patch(&first).unwrap());
    assert_eq!(news, []);
    let failed = json!({"toolCallId": "c", "status": "failed"});
    assert_eq!(told(&mut calls, &failed), ["over true "]);
    assert_eq!(told(&mut calls, &first), [""; 0]);
    let again = json!({"toolCallId": "c", "status": "failed", "rawOutput": "why"});
    assert_eq!(told(&mut calls, &again), [""; 0]);
}

#[test]
fn a_question_may_be_the_only_word_of_a_call() {
    let mut calls = Calls::default();
    let body = json!({"toolCallId": "c", "title": "write", "kind": "edit", "rawInput": {}});
    let (call, news) = calls.asked(&patch(&body).unwrap());
    assert_eq!(call.kind, "edit");
    assert_eq!(news.iter().map(line).collect::<Vec<_>>(), [r#"wants write {"title":"write"}"#]);
    // An end without any word before it.
    let only = json!({"toolCallId": "d", "title": "t", "status": "completed", "rawOutput": [1]});
    assert_eq!(told(&mut calls, &only), ["wants t {}", "over false [1]"]);
}

#[test]
fn results_are_found_wherever_they_stand_and_cut() {
    for (output, text) in [
        (json!("plain"), "plain"),
        (json!({"output": "o", "content": "c"}), "o"),
        (json!({"content": "c", "detailedContent": "d"}), "c"),
        (json!({"message": "m", "code": "rejected"}), "m"),
        (json!({"content": [1]}), r#"{"content":[1]}"#),
    ] {
        let mut calls = Calls::default();
        let body = json!({"toolCallId": "c", "status": "completed", "rawOutput": output});
        assert_eq!(told(&mut calls, &body)[1], format!("over false {text}"));
    }
    let mut calls = Calls::default();
    let long = "ä".repeat(400_000);
    let body = json!({"toolCallId": "c", "status": "completed", "rawOutput": long});
    let result = told(&mut calls, &body).remove(1);
    assert!(result.len() < 263_000 && result.ends_with("ä […]"));
}

#[test]
fn arguments_are_always_an_object() {
    let of = |arguments: Value| input(&Call { input: arguments, ..Call::default() });
    assert_eq!(of(Value::Null), json!({}));
    assert_eq!(of(json!("x")), json!({"input": "x"}));
    assert_eq!(
        of(json!({"command": "a", "commands": ["b"]})),
        json!({"command": "a", "commands": ["b"]})
    );
}

/// What a human is asked about is what the question says, not an announcement before it.
#[test]
fn a_question_is_about_its_own_arguments() {
    let mut calls = Calls::default();
    let harmless = json!({"toolCallId": "c", "title": "t", "kind": "read",
        "rawInput": {"command": "ls", "cwd": "/w"}});
    told(&mut calls, &harmless);
    let asked = json!({"toolCallId": "c", "kind": "execute", "rawInput": {"command": "rm"}});
    let (call, _) = calls.asked(&patch(&asked).unwrap());
    assert_eq!(
        (call.kind.as_str(), input(&call)),
        ("execute", json!({"command": "rm", "cwd": "/w"}))
    );
    // An empty question leaves what is known.
    let empty = json!({"toolCallId": "c", "title": "ls", "rawInput": {}});
    let (call, _) = calls.asked(&patch(&empty).unwrap());
    assert_eq!(input(&call), json!({"command": "rm", "cwd": "/w"}));
    // Some say what is asked in the title only.
    let titled = json!({"toolCallId": "d", "kind": "execute", "title": "rm -r /"});
    let (call, _) = calls.asked(&patch(&titled).unwrap());
    assert_eq!(input(&call), json!({"title": "rm -r /"}));
}

/// C5: what an earlier call with the same id was counts for nothing.
#[test]
fn an_id_that_is_used_again_is_another_call() {
    let mut calls = Calls::default();
    let read = json!({"toolCallId": "0", "title": "docs_find", "kind": "read",
        "status": "completed", "rawInput": {"path": "a"}});
    told(&mut calls, &read);
    let asked = json!({"toolCallId": "0", "rawInput": {"command": "rm"}});
    let (call, news) = calls.asked(&patch(&asked).unwrap());
    assert_eq!((call.kind.as_str(), call.first_title.as_str()), ("", ""));
    assert_eq!(news.iter().map(line).collect::<Vec<_>>(), [r#"wants  {"command":"rm"}"#]);
    let over = json!({"toolCallId": "0", "status": "completed", "rawOutput": "gone"});
    assert_eq!(told(&mut calls, &over), ["over false gone"]);
}
