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
    for piece in body.as_bytes().chunks(17) {
        counting.piece(piece);
    }
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

/// Most pieces are text: for them nothing is added up.
/// What an API tells is foreign: no number of it is believed to be more than anybody can have used, and none
/// makes what else was told unreadable.
#[test]
fn a_number_that_nobody_can_have_used_is_the_most_that_is_believed() {
    for number in
        ["18446744073709551615", "9223372036854775808", "1e30", "1e400", "99999999999999999999999"]
    {
        for (wire, usage) in [
            (Wire::Anthropic, format!(r#""usage":{{"input_tokens":{number},"output_tokens":3}}"#)),
            (Wire::Chat, format!(r#""usage":{{"prompt_tokens":{number},"completion_tokens":3}}"#)),
            (
                Wire::Gemini,
                format!(
                    r#""usageMetadata":{{"promptTokenCount":{number},"toolUsePromptTokenCount":{number},"candidatesTokenCount":3}}"#
                ),
            ),
        ] {
            let (_, tokens) = read(wire, JSON, &format!(r#"{{"model":"m",{usage}}}"#));
            // A number that no parser holds makes no token known.
            let expected = (number != "1e400").then_some((TOKENS_MAX, 3));
            assert_eq!(tokens.map(|it| (it.input, it.output)), expected, "{wire:?} {number}");
        }
    }
    let (_, tokens) =
        read(Wire::Anthropic, JSON, r#"{"usage":{"input_tokens":-5,"output_tokens":2.5}}"#);
    assert_eq!(tokens.map(|it| (it.input, it.output)), Some((0, 2)));
}

/// One part of an odd type hides no other: numbers as texts, lists and words where an object belongs, a key
/// that is there twice.
#[test]
fn a_part_of_another_type_hides_no_other() {
    let (ten_and_three, three) = (
        Tokens { input: 10, output: 3, ..Tokens::default() },
        Tokens { output: 3, ..Tokens::default() },
    );
    for (usage, expected) in [
        (r#"{"input_tokens": "10", "output_tokens": "3"}"#, ten_and_three),
        (r#"{"input_tokens": " 1e1 ", "output_tokens": 3.9}"#, ten_and_three),
        (r#"{"input_tokens": [10], "output_tokens": 3}"#, three),
        (r#"{"input_tokens": {"usage": 10}, "output_tokens": 3}"#, three),
        (r#"{"input_tokens": true, "output_tokens": 3}"#, three),
        (r#"{"input_tokens": "ten", "output_tokens": 3}"#, three),
        (r#"{"input_tokens": "NaN", "output_tokens": 3}"#, three),
        (r#"{"input_tokens": -10, "output_tokens": 3}"#, three),
        (r#"{"input_tokens": 1, "input_tokens": 10, "output_tokens": 3}"#, ten_and_three),
        (
            r#"{"input_tokens": 10, "output_tokens": 3, "cache_creation": "x",
                "input_tokens_details": [], "prompt_tokens_details": 5}"#,
            ten_and_three,
        ),
    ] {
        let usage = usage.replace('\n', " ");
        for body in [
            format!(r#"{{"model": "m", "usage": {usage}}}"#),
            format!(r#"{{"model": "m", "message": [1], "usage": {usage}}}"#),
            format!(r#"{{"model": "m", "response": "none", "usage": {usage}}}"#),
            format!(r#"{{"type": 5, "model": "m", "modelVersion": 7, "usage": {usage}}}"#),
            format!(r#"{{"response": {{"model": "m", "usage": {usage}}}, "model": {{}}}}"#),
        ] {
            for wire in [Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Other] {
                let told = read(wire, JSON, &body);
                assert_eq!(told, ("m".to_owned(), Some(expected)), "{wire:?} {body}");
            }
            let streamed = events(&[body.as_str()]);
            assert_eq!(read(Wire::Chat, EVENTS, &streamed).1, Some(expected), "{streamed}");
        }
    }
    for body in [r#"{"usage": 5}"#, r#"{"usage": "10"}"#, r#"["usage"]"#] {
        assert_eq!(read(Wire::Anthropic, JSON, body).1, None, "{body}");
    }
}

#[test]
fn a_piece_says_whether_it_told_something() {
    let mut stream = counting(Wire::Anthropic, EVENTS);
    for (data, told) in [
        (r#"{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1}}}"#, true),
        (r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a model"}}"#, false),
        (r#"{"type":"message_delta","usage":{"output_tokens":2}}"#, true),
        (r#"{"type":"message_stop"}"#, false),
    ] {
        assert_eq!(stream.piece(events(&[data]).as_bytes()), told, "{data}");
    }
    let mut whole = counting(Wire::Gemini, JSON);
    assert!(!whole.piece(br#"[{"modelVersion":"m","usageMetadata":"#));
    assert!(whole.piece(br#"{"promptTokenCount":1}}]"#));
    assert_eq!(whole.tokens.unwrap().input, 1);
}

#[test]
fn an_error_inside_a_stream_is_told_apart() {
    use CallOutcome::{Failed, Overflow, RateLimited, Unauthorized};
    for (wire, data, outcome) in [
        (
            Wire::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#,
            Failed,
        ),
        (Wire::Anthropic, r#"{"type":"error","error":{"type":"rate_limit_error"}}"#, RateLimited),
        (
            Wire::Anthropic,
            r#"{"type":"error","error":{"message":"prompt is too long: 9"}}"#,
            Overflow,
        ),
        (
            Wire::Responses,
            r#"{"type":"response.failed","response":{"error":{"code":"x"}}}"#,
            Failed,
        ),
        (Wire::Responses, r#"{"type":"response.failed","response":{"error":null}}"#, Failed),
        (
            Wire::Responses,
            r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded"}}}"#,
            RateLimited,
        ),
        (
            Wire::Responses,
            r#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded"}}}"#,
            Overflow,
        ),
        (Wire::Responses, r#"{"type":"error","code":"server_error","message":"x"}"#, Failed),
        (
            Wire::Responses,
            r#"{"type":"error","code":"invalid_api_key","message":"x"}"#,
            Unauthorized,
        ),
        (Wire::Chat, r#"{"error":{"message":"x"}}"#, Failed),
        (Wire::Chat, r#"{"error":"x"}"#, Failed),
        (Wire::Chat, r#"{"error":{"type":"x","code":"insufficient_quota"}}"#, RateLimited),
        (Wire::Chat, r#"{"error":{"code":429}}"#, RateLimited),
        (Wire::Gemini, r#"{"error":{"code":503,"status":"UNAVAILABLE"}}"#, Failed),
        (Wire::Gemini, r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#, RateLimited),
        (Wire::Gemini, r#"{"error":{"code":403,"status":"PERMISSION_DENIED"}}"#, Unauthorized),
    ] {
        let mut counting = counting(wire, EVENTS);
        counting.piece(events(&[data]).as_bytes());
        assert_eq!(counting.fault, Some(outcome), "{data}");
    }
    for data in [
        r#"{"type":"response.completed","response":{"error":null,"usage":{"input_tokens":1}}}"#,
        r#"{"type":"content_block_delta","delta":{"text":"{\"type\": \"error\"}"}}"#,
        r#"{"choices":[{"delta":{"content":"\"error\": rate_limit_error"}}],"error":null}"#,
    ] {
        let mut counting = counting(Wire::Responses, EVENTS);
        counting.piece(events(&[data]).as_bytes());
        assert_eq!(counting.fault, None, "{data}");
    }
    let mut list = counting(Wire::Gemini, JSON);
    list.piece(br#"[{"usageMetadata":{"promptTokenCount":3}},{"error":{"code":429}}]"#);
    assert_eq!((list.fault, list.tokens.unwrap().input), (Some(RateLimited), 3));
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

#[test]
fn half_a_character_or_another_encoding_hides_no_tokens() {
    let all = events(&[
        r#"{"type":"message_start","message":{"model":"m","note":"\ud83d","usage":{"input_tokens":10,"output_tokens":1}}}"#,
        r#"{"type":"message_delta","error":null,"model":"m\ud83d","usage":{"output_tokens":20}}"#,
    ]);
    let (model, tokens) = read(Wire::Anthropic, EVENTS, &all);
    assert_eq!((&*model, tokens.map(|it| (it.input, it.output))), ("m\u{fffd}", Some((10, 20))));
    let mut counting = counting(Wire::Anthropic, JSON);
    counting.piece(b"{\"model\":\"m\",\"said\":\"caf\xe9\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}");
    assert_eq!(counting.tokens.map(|it| it.input), Some(3));
}
