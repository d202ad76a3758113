//! Tokens of every interface, streamed and whole.

use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use proptest::prelude::*;

use super::*;

const EVENTS: &str = "text/event-stream; charset=utf-8";
const JSON: &str = "application/json";

fn counting(wire: Wire, kind: &'static str) -> Counting {
    let headers: HeaderMap = [(CONTENT_TYPE, HeaderValue::from_static(kind))].into_iter().collect();
    Counting::new(wire, &headers)
}

fn read(wire: Wire, kind: &'static str, body: &str) -> (String, Option<Tokens>) {
    let mut counting = counting(wire, kind);
    body.as_bytes().chunks(17).for_each(|piece| counting.piece(piece));
    counting.end();
    (counting.model, counting.tokens)
}

fn events(all: &[&str]) -> String {
    all.iter().map(|data| format!("event: x\ndata: {data}\n\n")).collect()
}

#[test]
fn every_interface_tells_its_tokens() {
    let anthropic = events(&[
        r#"{"type":"message_start","message":{"model":"claude-haiku-4-5","usage":{"input_tokens":10,
            "cache_read_input_tokens":7,"cache_creation_input_tokens":5,"output_tokens":1,
            "cache_creation":{"ephemeral_1h_input_tokens":2,"ephemeral_5m_input_tokens":3}}}}"#
            .replace('\n', " ")
            .as_str(),
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"\"usage\" "}}"#,
        r#"{"type":"message_delta","usage":{"output_tokens":20}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let tokens = |input, output, cache_read, cache_write, cache_write_hour| {
        Some(Tokens { input, output, cache_read, cache_write, cache_write_hour })
    };
    let of = |model: &str, tokens| (model.to_owned(), tokens);
    let found = read(Wire::Anthropic, EVENTS, &anthropic);
    assert_eq!(found, of("claude-haiku-4-5", tokens(10, 20, 7, 3, 2)));
    let whole = r#"{"model":"m","usage":{"input_tokens":3,"output_tokens":4}}"#;
    assert_eq!(read(Wire::Anthropic, JSON, whole), of("m", tokens(3, 4, 0, 0, 0)));

    let chat = events(&[
        r#"{"model":"gpt-5","choices":[{"delta":{"content":"hi"}}],"usage":null}"#,
        r#"{"model":"gpt-5","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":9,
            "prompt_tokens_details":{"cached_tokens":40}}}"#
            .replace('\n', " ")
            .as_str(),
        "[DONE]",
    ]);
    assert_eq!(read(Wire::Chat, EVENTS, &chat), of("gpt-5", tokens(60, 9, 40, 0, 0)));
    let silent = events(&[r#"{"model":"gpt-5","choices":[]}"#, "[DONE]"]);
    assert_eq!(read(Wire::Chat, EVENTS, &silent), of("gpt-5", None));

    let responses = events(&[
        r#"{"type":"response.created","response":{"model":"gpt-5","usage":null}}"#,
        r#"{"type":"response.completed","response":{"model":"gpt-5","error":null,"usage":{
            "input_tokens":100,"output_tokens":20,"input_tokens_details":{"cached_tokens":40,
            "cache_write_tokens":10}}}}"#
            .replace('\n', " ")
            .as_str(),
    ]);
    assert_eq!(read(Wire::Responses, EVENTS, &responses), of("gpt-5", tokens(50, 20, 40, 10, 0)));

    let piece = r#"{"modelVersion":"gemini-2.5-flash","usageMetadata":{"promptTokenCount":50,
        "candidatesTokenCount":6,"thoughtsTokenCount":4,"cachedContentTokenCount":20}}"#
        .replace('\n', " ");
    let expected = of("gemini-2.5-flash", tokens(30, 10, 20, 0, 0));
    assert_eq!(read(Wire::Gemini, EVENTS, &events(&[&piece, &piece])), expected);
    assert_eq!(read(Wire::Gemini, JSON, &piece), expected);
    assert_eq!(read(Wire::Gemini, JSON, &format!("[{piece},\n{piece}]")), expected);
}

#[test]
fn an_error_inside_a_stream_is_seen() {
    for (wire, data) in [
        (Wire::Anthropic, r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#),
        (Wire::Responses, r#"{"type":"response.failed","response":{"error":{"code":"x"}}}"#),
        (Wire::Chat, r#"{"error":{"message":"x"}}"#),
    ] {
        let mut counting = counting(wire, EVENTS);
        counting.piece(events(&[data]).as_bytes());
        assert!(counting.failed, "{data}");
    }
}

#[test]
fn what_is_compressed_or_too_long_is_not_read() {
    let mut headers = HeaderMap::new();
    headers.insert("content-encoding", HeaderValue::from_static("gzip"));
    let mut counting = Counting::new(Wire::Chat, &headers);
    counting.piece(b"{\"usage\":{\"prompt_tokens\":1}}");
    counting.end();
    assert_eq!(counting.tokens, None);
    let long =
        format!("{{\"text\":\"{}\",\"usage\":{{\"prompt_tokens\":1}}}}", "x".repeat(READ_MAX));
    assert_eq!(read(Wire::Chat, JSON, &long).1, None);
}

proptest! {
    #[test]
    fn no_body_breaks_the_count(body in ".{0,300}", wire in 0..4_usize) {
        let wire = [Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Gemini][wire];
        read(wire, EVENTS, &body);
        read(wire, JSON, &body);
    }
}
