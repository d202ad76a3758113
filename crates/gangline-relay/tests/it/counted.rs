//! What every interface's responses come to, and that no byte of them changes.

use gangline_core::{budget::CallOutcome, price::Tokens};
use gangline_relay::Credential;
use serde_json::{Value, json};

use crate::stage::{Api, KEY, Stage, TOKEN, standin};

const SCRIPT: &str = "rules:\n  - reply:\n    - text: hello\n    - usage: {input_tokens: 100, \
    output_tokens: 20, cache_read_input_tokens: 40}\n";

/// Requests of every interface, each with the header of its vendor's clients.
fn requests() -> Vec<(&'static str, (&'static str, &'static str), Value)> {
    let bearer = ("authorization", "Bearer token-of-the-relay");
    let said = json!([{"role": "user", "content": "hi"}]);
    let messages = |stream: bool| json!({"model": "priced", "max_tokens": 10, "stream": stream, "messages": said});
    let chat = |stream: bool| {
        let mut body = json!({"model": "priced", "stream": stream, "messages": said});
        if stream {
            body["stream_options"] = json!({"include_usage": true});
        }
        body
    };
    let responses = |stream: bool| json!({"model": "priced", "stream": stream, "input": said});
    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]});
    let mut all = Vec::new();
    for stream in [true, false] {
        all.push(("/v1/messages?beta=true", ("x-api-key", TOKEN), messages(stream)));
        all.push(("/v1/messages", bearer, messages(stream)));
        all.push(("/v1/chat/completions", bearer, chat(stream)));
        all.push(("/v1/responses", bearer, responses(stream)));
    }
    let goog = ("x-goog-api-key", TOKEN);
    all.push(("/v1beta/models/priced:generateContent", goog, gemini.clone()));
    all.push(("/v1beta/models/priced:streamGenerateContent?alt=sse", goog, gemini.clone()));
    all.push(("/v1beta/models/priced:streamGenerateContent", goog, gemini));
    all
}

/// The same answer with and without the relay, and the same tokens by every interface.
#[tokio::test]
async fn every_interface_goes_through_unchanged_and_is_counted() {
    let (api, _standin) = standin(SCRIPT).await;
    let mut stage = Stage::with_key(&api).await;
    let expected = Tokens { input: 100, output: 20, cache_read: 40, ..Tokens::default() };
    for (number, (path, (header, value), body)) in requests().into_iter().enumerate() {
        let send = |base: &str| {
            let request = stage.http.post(format!("{base}{path}")).header(header, value);
            request.header("anthropic-version", "2023-06-01").body(body.to_string()).send()
        };
        let direct = send(&api).await.unwrap();
        let relayed = send(&stage.base).await.unwrap();
        assert_eq!(relayed.status(), 200, "{path}");
        let mut headers = [direct.headers().clone(), relayed.headers().clone()];
        for headers in &mut headers {
            for name in ["date", "request-id", "x-request-id"] {
                headers.remove(name);
            }
        }
        assert_eq!(headers[0], headers[1], "{path}");
        let [direct, relayed] = [direct.text().await.unwrap(), relayed.text().await.unwrap()];
        assert_eq!(direct, relayed, "{path}");
        let report = stage.report().await;
        assert_eq!(
            (report.outcome, report.tokens),
            (CallOutcome::Answered, Some(expected)),
            "{path}"
        );
        assert_eq!((report.model.as_str(), report.cost_micros), ("priced", Some(140)), "{path}");
        assert!(report.first_byte <= report.lasted);
        let calls = u64::try_from(number).unwrap() + 1;
        let totals = (stage.totals.calls(), stage.totals.counted());
        assert_eq!(totals, (calls, calls));
        assert_eq!((stage.totals.tokens(), stage.totals.micros()), (120 * calls, 140 * calls));
    }
    // The list of models is no call of one.
    let list = stage.http.get(format!("{}/v1/models", stage.base)).header("x-api-key", TOKEN);
    assert_eq!(list.send().await.unwrap().status(), 200);
    assert_eq!(stage.totals.calls(), 11);
}

#[tokio::test]
async fn the_api_gets_the_real_key_and_the_body_as_it_was() {
    let (address, api) = Api::new().await;
    let stage = Stage::with_key(&address).await;
    let body = "{\"any\": \"bytes\",  \"kept\": true}";
    let (response, ()) = tokio::join!(stage.ask(body), async {
        let mut call = api.take().await;
        assert!(call.head.contains(&format!("x-api-key: {KEY}\r\n")), "{}", call.head);
        assert!(!call.head.contains(TOKEN), "{}", call.head);
        assert!(call.head.contains(&format!("content-length: {}\r\n", body.len())));
        assert!(call.head.contains("anthropic-version: 2023-06-01"));
        assert!(!call.head.contains("accept-encoding"));
        assert_eq!(call.body, body.as_bytes());
        call.json("200 OK", "{\"model\": \"unknown\", \"usage\": {\"input_tokens\": 5}}").await;
    });
    assert_eq!(response.status(), 200);
}

/// A login's credentials are the backend's own: they go through, and the token is in the path.
#[tokio::test]
async fn a_login_goes_through_and_is_only_counted() {
    let (address, api) = Api::new().await;
    let mut stage = Stage::new(&format!("{address}/base"), Credential::Own).await;
    assert!(stage.base.ends_with(&format!("/t/{TOKEN}/base")), "{}", stage.base);
    let url = format!("{}/v1/messages?a=b", stage.base);
    let ask = stage.http.post(url).bearer_auth("login").body("{}").send();
    let (response, ()) = tokio::join!(ask, async {
        let mut call = api.take().await;
        assert!(call.head.starts_with("post /base/v1/messages?a=b "), "{}", call.head);
        assert!(call.head.contains("authorization: bearer login\r\n"), "{}", call.head);
        call.json("200 OK", "{\"model\": \"unknown\", \"usage\": {\"input_tokens\": 5}}").await;
    });
    assert_eq!(response.unwrap().status(), 200);
    let report = stage.report().await;
    assert_eq!(report.tokens.unwrap().input, 5);
    assert_eq!(report.cost_micros, None, "a model without a price has no cost, not 0");
    assert_eq!((stage.totals.tokens(), stage.totals.micros()), (5, 0));
}

/// What a model does that is asked so.
const FAULTS: &str = r#"
rules:
  - when: {user: e401}
    reply: [http_error: {status: 401}]
  - when: {user: e403}
    reply: [http_error: {status: 403}]
  - when: {user: e429}
    reply: [http_error: {status: 429, headers: {retry-after: "7"}}]
  - when: {user: e404}
    reply: [http_error: {status: 404}]
  - when: {user: e500}
    reply: [http_error: {status: 500}]
  - when: {user: e503}
    reply: [http_error: {status: 503}]
  - when: {user: too long}
    reply: [overflow]
  - when: {user: breaks}
    reply: [text: half, usage: {input_tokens: 8, output_tokens: 2}, stream_error: {status: 503}]
  - when: {user: is limited}
    reply: [text: half, usage: {input_tokens: 8, output_tokens: 2}, stream_error: {status: 429}]
  - when: {user: is cut}
    reply: [text: half, drop: {after_bytes: 40}]
  - when: {user: takes time}
    reply: [delay_ms: 120, text: hello, usage: {input_tokens: 8, output_tokens: 2}]
"#;

/// A refused key, a limit, a failure, a prompt that is too long and a slow
/// answer are seen the same way by every interface, streamed or whole.
#[tokio::test]
async fn every_interface_tells_its_failures_in_the_same_way() {
    let (api, _standin) = standin(FAULTS).await;
    let mut stage = Stage::with_key(&api).await;
    for (word, outcome) in [
        ("e401", CallOutcome::Unauthorized),
        ("e403", CallOutcome::Unauthorized),
        ("e429", CallOutcome::RateLimited),
        ("e404", CallOutcome::Rejected),
        ("e500", CallOutcome::Failed),
        ("e503", CallOutcome::Failed),
        ("too long", CallOutcome::Overflow),
        ("breaks", CallOutcome::Failed),
        ("is limited", CallOutcome::RateLimited),
        ("is cut", CallOutcome::Cut),
        ("takes time", CallOutcome::Answered),
    ] {
        for (path, (header, value), body) in requests() {
            let case = format!("{word}: {path} {body}");
            let body = body.to_string().replace("\"hi\"", &format!("\"{word}\""));
            let request = stage.http.post(format!("{}{path}", stage.base)).header(header, value);
            let request = request.header("anthropic-version", "2023-06-01").body(body);
            let response = request.send().await.unwrap();
            let code = response.status().as_u16();
            if let Some(status) = word.strip_prefix('e').and_then(|it| it.parse::<u16>().ok()) {
                assert_eq!(code, status, "{case}");
                let wait = response.headers().get("retry-after");
                assert_eq!(wait.is_some(), status == 429, "{case}");
            }
            assert_eq!(response.bytes().await.is_err(), word == "is cut", "{case}");
            let report = stage.report().await;
            assert_eq!(report.outcome, outcome, "{case}");
            if word == "takes time" {
                assert!(report.lasted.as_millis() >= 120, "{case}: {report:?}");
                assert!(report.first_byte <= report.lasted, "{case}: {report:?}");
                assert_eq!(report.cost_micros, Some(12), "{case}");
            }
        }
    }
}

#[tokio::test]
async fn failures_are_told_apart() {
    let (address, api) = Api::new().await;
    let mut stage = Stage::with_key(&address).await;
    let too_long = "{\"type\":\"error\",\"error\":{\"message\":\"prompt is too long: 9 > 8\"}}";
    let plain = "{\"error\":{\"message\":\"no\"}}";
    for (status, body, outcome) in [
        ("401 Unauthorized", plain, CallOutcome::Unauthorized),
        ("403 Forbidden", plain, CallOutcome::Unauthorized),
        ("429 Too Many Requests", plain, CallOutcome::RateLimited),
        ("400 Bad Request", too_long, CallOutcome::Overflow),
        ("400 Bad Request", plain, CallOutcome::Rejected),
        ("529 Overloaded", plain, CallOutcome::Failed),
        ("503 Service Unavailable", "", CallOutcome::Failed),
    ] {
        let (response, ()) = tokio::join!(stage.ask("{}"), async {
            let mut call = api.take().await;
            call.json(status, body).await;
        });
        let code = response.status().as_u16();
        assert!(status.starts_with(&code.to_string()));
        assert_eq!(response.text().await.unwrap(), body);
        assert_eq!(stage.report().await.outcome, outcome, "{status} {body}");
    }
    drop(api);
    let response = stage.ask("{}").await;
    assert_eq!(response.status(), 502);
    assert!(!response.headers().contains_key("x-should-retry"), "a client may try again");
    let error: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    let text = error["error"]["message"].as_str().unwrap();
    assert!(text.starts_with("the model's API cannot be reached: "), "{text}");
    assert_eq!(stage.report().await.outcome, CallOutcome::Failed);
}
