//! Whoever waits for a message that cannot be read hears of it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const LIMIT: usize = 400;

fn pumped(input: &str) -> (Vec<Value>, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let said = Arc::<Mutex<String>>::default();
    let mut output = Vec::new();
    runtime.block_on(pump(input.as_bytes(), &mut output, LIMIT, Arc::clone(&said)));
    let output = String::from_utf8(output).unwrap();
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| json!(line));
    let said = said.lock().unwrap().clone();
    (output.lines().map(read).collect(), said)
}

fn one(input: &str) -> Value {
    let (mut lines, _) = pumped(&format!("{input}\n"));
    assert_eq!(lines.len(), 1, "{input}");
    lines.remove(0)
}

#[test]
fn half_a_character_is_replaced_and_the_rest_goes_through() {
    let text = |line: Value| line["result"]["content"][0]["text"].clone();
    let line =
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"cut \ud83d"}]}}"#;
    assert_eq!(text(one(line)), "cut \u{fffd}");
    let line =
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\ud83d\ude80"}]}}"#;
    assert_eq!(text(one(line)), "\u{1f680}");
    for line in ["a banner", r#"{"jsonrpc":"2.0","method":"notifications/strange","params":7}"#] {
        let same = serde_json::from_str(line).unwrap_or_else(|_| json!(line));
        assert_eq!(one(line), same, "{line}");
    }
}

#[test]
fn an_answer_that_cannot_be_read_is_an_error_of_its_call() {
    let long = "x".repeat(LIMIT);
    for (line, id) in [
        (r#"{"jsonrpc":"2.0","id":7,"result":{"content": broken"#.to_owned(), json!(7)),
        (r#"{"jsonrpc":"2.0","id":"a"}"#.to_owned(), json!("a")),
        (format!(r#"{{"jsonrpc":"2.0","id":8,"result":{{"t":"{long}"}}}}"#), json!(8)),
        (format!(r#"{{"result":{{"t":"{long}"}},"jsonrpc":"2.0","id":9}}"#), json!(9)),
        (format!(r#"{{"result":{{"t":"{long}"}},"id":10,"jsonrpc":"2.0"}}"#), json!(10)),
    ] {
        let error = one(&line);
        assert_eq!((&error["id"], &error["error"]["code"]), (&id, &json!(-32_700)), "{line}");
    }
}

#[test]
fn a_request_that_cannot_be_read_is_one_that_the_library_refuses() {
    let request = one(r#"{"jsonrpc":"2.0","id":3,"method":"ping","params": broken"#);
    assert_eq!((&request["id"], &request["method"]), (&json!(3), &json!("gangline/unreadable")));
}

#[test]
fn a_long_line_without_an_id_ends_the_connection_with_its_reason() {
    let long = "x".repeat(LIMIT + 1);
    let inner = format!(r#"{{"result":{{"t":"{long}","id":4}}}}"#);
    for line in [long, inner] {
        let (lines, said) = pumped(&format!("{line}\n{{}}\n"));
        assert_eq!(lines, [] as [Value; 0]);
        assert!(said.contains("too long"), "{said}");
    }
}

proptest! {
    #[test]
    fn each_line_comes_out_as_one_line(
        lines in prop::collection::vec("(\\{|\\}|\"id\"|:|,|7|\\\\ud83d|\"method\"|\"x\"|é){0,30}", 0..6),
    ) {
        let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
        prop_assert_eq!(pumped(&input).0.len(), lines.len());
    }
}
