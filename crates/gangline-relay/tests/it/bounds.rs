//! Who may come in, and how much.

use std::sync::atomic::Ordering;

use gangline_core::budget::CallOutcome;
use gangline_os::clock::UnixMicros;
use gangline_relay::{CONNECTIONS_MAX, Credential, Limits, REQUEST_MAX, Stop};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::stage::{Api, Stage, TOKEN};

async fn raw(port: u16, head: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let head = head.replace("PORT", &port.to_string());
    stream.write_all(format!("{head}connection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).await.unwrap();
    all
}

/// No open proxy: neither without the token, nor for another host, nor beside the API's path.
#[tokio::test]
async fn only_the_agents_backend_gets_through_and_only_to_its_api() {
    let (address, _api) = Api::new().await;
    let stage = Stage::with_key(&format!("{address}/v1")).await;
    let host = "host: 127.0.0.1:PORT\r\n";
    let token = format!("x-api-key: {TOKEN}\r\n");
    for (line, headers, status) in [
        ("POST /v1/messages", host.to_owned(), 401),
        ("POST /v1/messages", format!("{host}x-api-key: wrong\r\n"), 401),
        ("POST /t/token-of-the-relay/v1/messages", host.to_owned(), 401),
        ("POST /v1/messages", format!("host: evil.example:PORT\r\n{token}"), 403),
        ("POST /v1/messages", format!("{host}{token}origin: http://evil.example\r\n"), 403),
        ("POST /v2/messages", format!("{host}{token}"), 404),
        ("POST /v1/../secret", format!("{host}{token}"), 404),
        ("GET http://evil.example/v1/messages", format!("host: evil.example\r\n{token}"), 403),
        ("CONNECT evil.example:443", format!("{host}{token}"), 404),
        ("GET /v1/responses", format!("{host}{token}upgrade: websocket\r\n"), 426),
    ] {
        let answer = raw(stage.port, &format!("{line} HTTP/1.1\r\n{headers}")).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{line} {headers}: {answer}");
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let error: Value = serde_json::from_str(body).unwrap();
        assert!(error["error"]["message"].is_string(), "{body}");
    }
    assert_eq!(stage.totals.calls(), 0);
    let own = Stage::new(&address, Credential::Own).await;
    let answer = raw(own.port, &format!("POST /v1/messages HTTP/1.1\r\n{host}{token}")).await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

/// [`REQUEST_MAX`], whether the length is told before or not.
#[tokio::test]
async fn a_body_may_have_64_mib_and_no_byte_more() {
    let most = usize::try_from(REQUEST_MAX).unwrap();
    assert_eq!(most, 64 * 1024 * 1024);
    let (address, api) = Api::new().await;
    let stage = Stage::with_key(&address).await;
    let (response, ()) = tokio::join!(stage.ask(vec![b' '; most]), async {
        let mut call = api.take().await;
        assert_eq!(call.body.len(), most);
        call.json("200 OK", "{}").await;
    });
    assert_eq!(response.status(), 200);
    let one_more = vec![b' '; most + 1];
    let told = stage.ask(one_more.clone()).await;
    assert_eq!(told.status(), 413);
    let error: Value = serde_json::from_str(&told.text().await.unwrap()).unwrap();
    assert_eq!(error["error"]["message"], "the request is larger than 64 MiB");
    assert_eq!(stage.totals.calls(), 1);
    // In pieces, so that nothing is told before.
    let pieces =
        futures::stream::iter(one_more.chunks(1 << 20).map(<[u8]>::to_vec).collect::<Vec<_>>());
    let pieces = futures::StreamExt::map(pieces, Ok::<_, std::io::Error>);
    let send = stage.ask(reqwest::Body::wrap_stream(pieces));
    let (response, ()) = tokio::join!(send, async { api.swallow().await });
    assert_eq!(response.status(), 413);
}

/// [`CONNECTIONS_MAX`]: one more waits until another has ended.
#[tokio::test]
async fn connections_beyond_the_bound_wait() {
    let (address, _api) = Api::new().await;
    let stage = Stage::with_key(&address).await;
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS_MAX {
        let mut stream = TcpStream::connect(("127.0.0.1", stage.port)).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        open.push(stream);
    }
    let mut late = TcpStream::connect(("127.0.0.1", stage.port)).await.unwrap();
    late.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut byte = [0];
    let early = tokio::time::timeout(std::time::Duration::from_millis(200), late.read(&mut byte));
    assert!(early.await.is_err(), "it waits");
    open.pop();
    late.read_exact(&mut byte).await.unwrap();
}

/// Requests that a model's API may serve for money, in every way in which a path can be written.
const PAID: [&str; 34] = [
    "POST /v1/messages",
    "POST /v1/messages/",
    "POST //v1//messages",
    "POST /V1/Messages",
    "POST /v1/m%65ssages",
    "POST /v1%2Fmessages",
    "POST /v1/messages;a=b",
    "POST /v1/messages?beta=true",
    "POST /v1/messages/batches",
    "POST /v1/messages/../messages",
    "POST /v1/./messages",
    "POST /v1/models/%2e%2e/messages",
    "POST /v1/m%2565ssages",
    "POST /v1/messages%20",
    "POST /v1/messages%00",
    "POST /v1\\messages",
    "GET /v1/messages",
    "PUT /v1/messages",
    "POST /v1/complete",
    "POST /v1/completions",
    "POST /v1/chat/Completions",
    "POST /v1/responses",
    "POST /v1/responses/compact",
    "POST /v1/embeddings",
    "POST /v1/images/generations",
    "POST /v1/audio/speech",
    "POST /v1/batches",
    "POST /v1/files",
    "GET /v1/files/f/content",
    "GET /v1/messages/batches/b/results",
    "POST /v1/models",
    "POST /v1beta/models/g:generatecontent",
    "POST /v1beta/models/g%3AgenerateContent",
    "POST /v1beta/models/g:batchGenerateContent",
];
/// What costs nothing, also when nothing is left to spend.
const FREE: [&str; 6] = [
    "GET /v1/models",
    "GET /v1/models/m",
    "HEAD /v1/models",
    "POST /v1/messages/count_tokens",
    "POST /v1/responses/input_tokens",
    "POST /v1beta/models/g:countTokens",
];

fn head(line: &str) -> String {
    format!(
        "{line} HTTP/1.1\r\nhost: 127.0.0.1:PORT\r\nx-api-key: {TOKEN}\r\ncontent-length: 0\r\n"
    )
}

async fn send(stage: &Stage, line: &str) -> String {
    raw(stage.port, &head(line)).await
}

/// Nothing that costs reaches the API once a budget with `stop` is spent; what counts and lists does.
#[tokio::test]
async fn a_spent_budget_refuses_every_way_to_spend() {
    let (address, api) = Api::new().await;
    let stage = Stage::with_key(&address).await;
    let why = "the budget is spent".to_owned();
    let stop = Stop { tokens: Some(0), micros: None, until: UnixMicros(i64::MAX), why };
    stage.limits.send_replace(Limits(vec![stop]));
    for line in PAID {
        let answer = send(&stage, line).await;
        let is_odd = answer.contains("servers read differently") || answer.contains(" paths only");
        assert!(answer.starts_with("HTTP/1.1 4"), "{line}: {answer}");
        assert!(
            answer.contains("the budget is spent") || is_odd || answer.contains("serves paths"),
            "{line}: {answer}"
        );
    }
    for line in FREE {
        let (answer, ()) = tokio::join!(send(&stage, line), async {
            let body = if line.starts_with("HEAD") { "" } else { "{}" };
            api.take().await.json("200 OK", body).await;
        });
        assert!(answer.starts_with("HTTP/1.1 200 "), "{line}: {answer}");
    }
    assert_eq!(stage.totals.calls(), 0, "what is free is no call");
}

/// Whatever is not known to be free is a call, and what it tells of its tokens is counted.
#[tokio::test]
async fn an_unknown_request_counts_as_a_call() {
    let (address, api) = Api::new().await;
    let mut stage = Stage::with_key(&address).await;
    let told = r#"{"model":"priced","usage":{"prompt_tokens":7,"total_tokens":7}}"#;
    for (line, body, tokens) in [
        ("POST /v1/embeddings", told, Some(7)),
        ("POST /v1/messages/batches", "{}", None),
        ("DELETE /v1/files/f", "{}", None),
    ] {
        let call = async { api.take().await.json("200 OK", body).await };
        let (answer, ()) = tokio::join!(send(&stage, line), call);
        assert!(answer.ends_with(body), "{answer}");
        let report = stage.report().await;
        assert_eq!(report.outcome, CallOutcome::Answered, "{line}");
        assert_eq!(report.tokens.map(|tokens| tokens.input), tokens, "{line}");
    }
    let call = async { api.take().await.json("200 OK", told).await };
    let (_, ()) = tokio::join!(send(&stage, "GET /v1/files/f"), call);
    assert_eq!((stage.totals.calls(), stage.totals.tokens()), (3, 7), "what only looks is none");
}

/// A call is noted before a byte of it leaves, and its report names the note; what cannot be noted is not sent.
#[tokio::test]
async fn a_call_is_noted_before_it_is_made() {
    let (address, api) = Api::new().await;
    let mut stage = Stage::with_key(&address).await;
    let call = async {
        let mut call = api.take().await;
        let noted = stage.notes.made.load(Ordering::SeqCst);
        call.json("200 OK", "{}").await;
        noted
    };
    let (_, noted) = tokio::join!(stage.ask("{}"), call);
    assert_eq!(noted, 1, "it was noted when the API had it");
    assert_eq!(stage.report().await.noted, Some(1));
    let free = async { api.take().await.json("200 OK", "{}").await };
    let (_, ()) = tokio::join!(send(&stage, "GET /v1/models"), free);
    assert_eq!(stage.notes.made.load(Ordering::SeqCst), 1, "what is free is not noted");
    stage.notes.fails.store(true, Ordering::SeqCst);
    let refused = send(&stage, "POST /v1/messages").await;
    assert!(
        refused.starts_with("HTTP/1.1 502") && refused.contains("the disk is full"),
        "{refused}"
    );
    assert!(!refused.contains("x-should-retry"), "a moment later it may be possible: {refused}");
    assert_eq!(stage.totals.calls(), 1, "nothing was sent");
}
