//! What a server sends over HTTP comes out as messages, however it is cut and whatever is in it.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const LIMIT: usize = 300;

/// Returns the messages and errors that the library would read, after all chunks and the end.
fn read(asked: Option<u64>, chunks: &[&[u8]]) -> Vec<Sse> {
    let mut answers = Answers::new(LIMIT, asked.map(Value::from));
    let mut all = Vec::new();
    for chunk in chunks {
        answers.push(chunk);
        all.extend(std::iter::from_fn(|| answers.next()));
    }
    answers.end();
    all.extend(std::iter::from_fn(|| answers.next()));
    all
}

fn messages(asked: Option<u64>, text: &[u8]) -> Vec<Value> {
    let all = read(asked, &[text]);
    all.iter().filter_map(|sse| serde_json::from_str(sse.data.as_deref()?).ok()).collect()
}

fn said(text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

#[test]
fn half_a_character_and_bytes_that_are_no_text_are_replaced() {
    for (bytes, text) in [
        (said(r"cut \ud83d").into_bytes(), "cut \u{fffd}"),
        (said(r"\ude80 cut").into_bytes(), "\u{fffd} cut"),
        (said("é?").replace('?', "\u{e000}").into_bytes(), "é\u{e000}"),
        ([said("cut é").as_bytes(), b""].concat(), "cut é"),
    ] {
        let event = [b"id: 1\ndata: ", bytes.as_slice(), b"\n\n"].concat();
        let answer = &messages(Some(7), &event)[0];
        assert_eq!(answer["result"]["content"][0]["text"], text);
        let answer = serde_json::to_value(answers::whole(&bytes, &json!(7)).unwrap()).unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], text);
    }
    let bytes: Vec<u8> = said("cut #").bytes().map(|b| if b == b'#' { 0xf0 } else { b }).collect();
    let event = [b"data: ", bytes.as_slice(), b"\n\n"].concat();
    assert_eq!(messages(Some(7), &event)[0]["result"]["content"][0]["text"], "cut \u{fffd}");
}

#[test]
fn what_cannot_be_read_is_an_error_of_its_request() {
    let broken = r#"{"jsonrpc":"2.0","id":7,"result":{"content": broken"#;
    let long = said(&"x".repeat(LIMIT));
    for text in [
        format!("data: {broken}\n\n"),
        format!("data: {long}\n\n"),
        "data: no message\n\n".to_owned(),
        "data: {\"jsonrpc\":\"2.0\",\"id\":7.5,\"result\": broken\n\n".to_owned(),
        "data: {\"jsonrpc\":\"2.0\",\"result\":{}}\n\n".to_owned(),
        "data: {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-1,\"message\":\"x\"}}\n\n".to_owned(),
        "data: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"x\"}}\n\n"
            .to_owned(),
    ] {
        let all = messages(Some(7), text.as_bytes());
        assert_eq!(all.len(), 1, "{text}");
        assert_eq!((&all[0]["id"], all[0]["error"].is_object()), (&json!(7), true), "{text}");
    }
    for body in [broken, "no message", "", "[]", "{}"] {
        let answer = answers::whole(body.as_bytes(), &json!("a")).unwrap();
        let answer = serde_json::to_value(answer).unwrap();
        let why = answer["error"]["message"].as_str().unwrap();
        assert!(why.starts_with("the answer cannot be read: "), "{body}: {why}");
    }
}

/// A notice that is broken or too long, before the answer: the answer counts.
#[test]
fn what_nobody_waits_for_does_not_end_a_call() {
    let long = "x".repeat(LIMIT);
    for notice in [
        r#"{"jsonrpc":"2.0","method":"notifications/message","params": broken"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":"{long}"}}"#),
        r#"{"jsonrpc":"2.0","method":"notifications/strange","params":7}"#.to_owned(),
    ] {
        let text = format!("data: {notice}\n\ndata: {}\n\n", said("all is well"));
        let all = messages(Some(7), text.as_bytes());
        assert_eq!(all.len(), 1, "{notice}");
        assert_eq!(all[0]["result"]["content"][0]["text"], "all is well", "{notice}");
    }
}

#[test]
fn where_the_stream_goes_on_stays_known() {
    let text = b"id: 3\nretry: 50\ndata:\n\nevent: ping\ndata: x\n\nid: 4\ndata: no message\n\n";
    let all = read(None, &[text]);
    let expected = [
        Sse { id: Some("3".to_owned()), retry: Some(50), ..Sse::default() },
        Sse::default().event("ping").data("x"),
        Sse::default().id("4"),
    ];
    assert_eq!(all, expected);
}

proptest! {
    #[test]
    fn cuts_change_nothing_and_what_comes_out_is_a_message(
        lines in prop::collection::vec(
            "(data: |id: |event: ?|retry: )?(\\{|\\}|\"id\":|:|,|7|\\\\ud83d|\"method\"|\"x\"|\"error\"|é|\u{0}){0,30}\n{1,2}",
            0..8,
        ),
        asked in prop::option::of(Just(7_u64)),
        cut in 1_usize..9,
    ) {
        let text = lines.concat();
        let chunks: Vec<&[u8]> = text.as_bytes().chunks(cut).collect();
        let all = read(asked, &chunks);
        prop_assert_eq!(&all, &read(asked, &[text.as_bytes()]));
        for sse in all.iter().filter(|sse| sse.event.is_none()) {
            if let Some(data) = &sse.data {
                prop_assert!(serde_json::from_str::<ServerJsonRpcMessage>(data).is_ok(), "{data}");
            }
        }
    }
}
