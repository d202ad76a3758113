//! Threads without a server.

use super::*;

fn request(thread: Value, texts: &[&str]) -> Vec<u8> {
    let messages: Vec<Value> =
        texts.iter().map(|text| json!({"role": "user", "content": text})).collect();
    json!({"model": "m", "thread": thread, "messages": messages}).to_string().into_bytes()
}

fn on_from(reply: &str) -> Value {
    json!({"type": "continue", "previous_message_id": reply})
}

fn create() -> Value {
    json!({"type": "create"})
}

fn reply(text: &str) -> Vec<Value> {
    vec![json!({"type": "text", "text": text})]
}

/// Returns the texts of the request that is read in the end.
fn texts(whole: &Whole) -> Vec<String> {
    let body: Value = serde_json::from_slice(&whole.body).unwrap();
    assert!(body.get("thread").is_none(), "{body}");
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => format!("*{}*", blocks[0]["text"].as_str().unwrap()),
    };
    body["messages"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn a_request_that_goes_on_is_made_whole() {
    let threads = Threads::default();
    let first = threads.whole(&request(create(), &["hi"])).unwrap().unwrap();
    assert_eq!(texts(&first), ["hi"]);
    threads.keep(first, "msg_1".into(), reply("hello"));
    let second = threads.whole(&request(on_from("msg_1"), &["more"])).unwrap().unwrap();
    assert_eq!(texts(&second), ["hi", "*hello*", "more"]);
    threads.keep(second, "msg_2".into(), Vec::new());
    let third = threads.whole(&request(on_from("msg_2"), &["last"])).unwrap().unwrap();
    assert_eq!(texts(&third), ["hi", "*hello*", "more", "last"], "a reply without a word");
    let other = threads.whole(&request(on_from("msg_1"), &["branch"])).unwrap().unwrap();
    assert_eq!(texts(&other), ["hi", "*hello*", "branch"]);
}

#[test]
fn what_belongs_to_no_thread_is_left_alone() {
    let threads = Threads::default();
    for body in [&b"{"[..], b"[]", br#"{"messages":[]}"#, br#"{"thread":null}"#] {
        assert!(threads.whole(body).unwrap().is_none());
    }
    for (thread, why) in [
        (json!({"type": "fork"}), "thread: Input tag must be one of 'create', 'continue'"),
        (json!("create"), "thread: Input tag must be one of 'create', 'continue'"),
        (json!({"type": "continue"}), "thread.continue.previous_message_id: Field required"),
        (on_from("msg_9"), "thread: no reply of the id msg_9 is kept"),
    ] {
        let refused = threads.whole(&request(thread, &["hi"])).unwrap_err();
        assert_eq!(refused.message, why);
    }
    let lost = threads.whole(&request(on_from("msg_9"), &["hi"])).unwrap_err();
    let body: Value = serde_json::from_str(&lost.body.unwrap()).unwrap();
    assert_eq!(body["error"]["details"]["error_code"], "thread_not_found");
}

#[test]
fn the_oldest_is_forgotten_beyond_the_bounds() {
    let threads = Threads::default();
    for number in 0..=REPLIES_MAX {
        let first = threads.whole(&request(create(), &["hi"])).unwrap().unwrap();
        threads.keep(first, format!("msg_{number}"), reply("hello"));
    }
    assert!(threads.whole(&request(on_from("msg_0"), &["x"])).is_err());
    assert!(threads.whole(&request(on_from("msg_1"), &["x"])).is_ok());
    let large = "x".repeat(BYTES_MAX / 2);
    for number in ["a", "b"] {
        let first = threads.whole(&request(create(), &[&large])).unwrap().unwrap();
        threads.keep(first, number.to_owned(), reply("hello"));
    }
    assert!(threads.whole(&request(on_from("a"), &["x"])).is_err());
    assert!(threads.whole(&request(on_from("b"), &["x"])).is_ok());
}
