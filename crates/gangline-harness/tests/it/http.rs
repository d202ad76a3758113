//! The HTTP wire over raw sockets, byte for byte.

use std::sync::Arc;
use std::time::Duration;

use gangline_harness::http::{Feed, ServeError, Surface, serve};
use gangline_harness::{EventHandler as _, Harness};
use gangline_os::CancellationToken;
use gangline_os::clock::{Clock, UnixMicros};
use gangline_os::secret::Secret;
use gangline_os::task::TaskGroup;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::fake::*;

/// A body that stops in the middle is waited for so long.
const BODY_WITHIN: Duration = Duration::from_millis(300);

/// A clock that stands still.
struct Still;

impl Clock for Still {
    fn now(&self) -> UnixMicros {
        UnixMicros(1_234_567_890_999_999)
    }
    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

struct Served {
    port: u16,
    feed: Arc<Feed>,
    harness: Harness,
    stop: CancellationToken,
    tasks: TaskGroup,
    fake: Fake,
}

impl Served {
    async fn start(script: Vec<Reply>, heartbeat: Duration) -> Self {
        let fake = Fake::start(script).await;
        let feed = Arc::new(Feed::new(Arc::new(Still)));
        let handler = Arc::clone(&feed) as _;
        let harness = Harness::new(fake.config(), puppet(), Some(handler)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = CancellationToken::new();
        let surface = Surface {
            harness: harness.clone(),
            feed: Arc::clone(&feed),
            token: Secret::new("tok"),
            heartbeat,
            body_within: BODY_WITHIN,
        };
        let mut tasks = TaskGroup::new("surface");
        let until = stop.clone();
        tasks.spawn("serve", async move { serve(listener, surface, until).await.unwrap() });
        Self { port, feed, harness, stop, tasks, fake }
    }

    fn head(&self, line: &str) -> String {
        format!("{line} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer tok\r\n", self.port)
    }

    async fn raw(&self, request: &str) -> TcpStream {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        // What is refused need not be read to its end.
        let _ = socket.write_all(request.as_bytes()).await;
        socket
    }

    /// Sends a request on a connection of its own and returns status and body.
    async fn ask(&self, request: &str) -> (u16, String) {
        let mut socket = self.raw(request).await;
        let mut answer = String::new();
        within(socket.read_to_string(&mut answer)).await.unwrap();
        let status = answer.split(' ').nth(1).unwrap_or("0").parse().unwrap();
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned();
        (status, body)
    }

    async fn post(&self, path: &str, body: &str) -> (u16, String) {
        let head = self.head(&format!("POST {path}"));
        let length = body.len();
        self.ask(&format!("{head}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"))
            .await
    }

    /// Opens the event stream and waits for its headers.
    async fn listen(&self) -> Events {
        self.listen_to("/events", "").await
    }

    /// The same of another address, with more headers.
    async fn listen_to(&self, path: &str, headers: &str) -> Events {
        let request = format!("{}{headers}\r\n", self.head(&format!("GET {path}")));
        let socket = self.raw(&request).await;
        let mut events = Events { socket, buffer: Vec::new(), head: String::new() };
        let head = events.take_until(b"\r\n\r\n").await;
        events.head = String::from_utf8(head).unwrap().to_lowercase();
        events
    }
}

/// An event stream, read as bytes; chunked framing is taken off.
struct Events {
    socket: TcpStream,
    buffer: Vec<u8>,
    head: String,
}

impl Events {
    async fn take_until(&mut self, end: &[u8]) -> Vec<u8> {
        within(async {
            loop {
                let at = self.buffer.windows(end.len()).position(|window| window == end);
                if let Some(at) = at {
                    return self.buffer.drain(..at + end.len()).collect();
                }
                let read = self.socket.read_buf(&mut self.buffer).await.unwrap();
                assert!(read > 0, "the stream ended");
            }
        })
        .await
    }

    /// Returns the next chunk; nothing at the orderly end of the stream.
    async fn frame(&mut self) -> Option<String> {
        let length = self.take_until(b"\r\n").await;
        let length = String::from_utf8(length).unwrap();
        let length = usize::from_str_radix(length.trim(), 16).unwrap();
        let mut frame = Vec::new();
        while frame.len() < length {
            if self.buffer.is_empty() {
                within(self.socket.read_buf(&mut self.buffer)).await.unwrap();
            }
            let part = (length - frame.len()).min(self.buffer.len());
            frame.extend(self.buffer.drain(..part));
        }
        self.take_until(b"\r\n").await;
        (length > 0).then(|| String::from_utf8(frame).unwrap())
    }

    /// Returns what came up to and with the given words.
    async fn until(&mut self, words: &str) -> String {
        let mut text = String::new();
        while !text.contains(words) {
            text += &self.frame().await.expect("the stream goes on");
        }
        text
    }
}

/// R4-19, R4-20, R4-22, C25, C36: all six kinds, each with whole seconds.
#[tokio::test]
async fn the_event_stream_is_what_the_seed_says_byte_for_byte() {
    let thinking = block(
        0,
        json!({"type": "thinking", "thinking": "Hm"}),
        vec![json!({"type": "signature_delta", "signature": "s"})],
    );
    let served = Served::start(
        vec![
            whole(&[thinking, tool(1, "id1", "puppet", &json!({"fail": "a\nb"}))], "tool_use"),
            says("Schön\r\n\"so\""),
        ],
        Surface::HEARTBEAT,
    )
    .await;
    let mut events = served.listen().await;
    assert!(events.head.starts_with("http/1.1 200"), "{}", events.head);
    assert!(events.head.contains("\r\ncontent-type: text/event-stream\r\n"), "{}", events.head);
    assert_eq!(served.post("/prompt", r#"{"content": "go"}"#).await, (202, String::new()));
    let seen = events.until(r#""state":"idle""#).await;
    let expected = concat!(
        r#"data: {"type":"user","content":"go","timestamp":1234567890}"#,
        "\n\n",
        r#"data: {"type":"status","state":"thinking","message":"","timestamp":1234567890}"#,
        "\n\n",
        r#"data: {"type":"reasoning","content":"Hm","timestamp":1234567890}"#,
        "\n\n",
        r#"data: {"type":"tool_call","id":"id1","name":"puppet","input":{"fail":"a\nb"},"timestamp":1234567890}"#,
        "\n\n",
        r#"data: {"type":"status","state":"running tool","message":"puppet","timestamp":1234567890}"#,
        "\n\n",
        r#"data: {"type":"tool_result","id":"id1","result":"a\nb","isError":true,"timestamp":1234567890}"#,
        "\n\n",
        r#"data: {"type":"status","state":"thinking","message":"","timestamp":1234567890}"#,
        "\n\n",
        r#"data: {"type":"text","content":"Schön\r\n\"so\"","timestamp":1234567890}"#,
        "\n\n",
        r#"data: {"type":"status","state":"idle","message":"","timestamp":1234567890}"#,
        "\n\n",
    );
    assert_eq!(seen, expected);
}

/// R4-21.
#[tokio::test]
async fn a_heartbeat_comment_keeps_the_stream_alive() {
    assert_eq!(Surface::HEARTBEAT, Duration::from_secs(30));
    let served = Served::start(vec![], Duration::from_millis(20)).await;
    let mut events = served.listen().await;
    for _ in 0..3 {
        assert_eq!(events.frame().await.unwrap(), ": heartbeat\n\n");
    }
}

/// R4-22, C23.
#[tokio::test]
async fn prompt_and_cancel_answer_as_documented() {
    let script = vec![Reply::Silent(vec![start()]), says("ok")];
    let served = Served::start(script, Surface::HEARTBEAT).await;
    let mut events = served.listen().await;
    assert_eq!(served.post("/cancel", "").await, (204, String::new()), "idle");
    for bad in ["", "{", "[]", r#"{"text": "x"}"#, r#"{"content": 7}"#, r#"{"content": " "}"#] {
        let (status, body) = served.post("/prompt", bad).await;
        assert_eq!(status, 400, "{bad}");
        assert!(body.starts_with(r#"{"error":"#), "{body}");
    }
    let large = format!(r#"{{"content": "{}"}}"#, "x".repeat(2 << 20));
    let too_long = r#"{"error":"a request has at most 1 MiB"}"#;
    assert_eq!(served.post("/prompt", &large).await, (413, too_long.to_owned()));
    assert_eq!(served.post("/prompt", r#"{"content": "first"}"#).await.0, 202);
    served.fake.seen(1).await;
    let busy = served.post("/prompt", r#"{"content": "second"}"#).await;
    assert_eq!(busy, (409, r#"{"error":"another prompt is running"}"#.into()));
    assert_eq!(served.post("/cancel", "").await.0, 204);
    let seen = events.until(r#""state":"idle""#).await;
    assert!(!seen.contains("second"));
    let third = served.post("/prompt", r#"{"content": "third"}"#).await;
    assert_eq!(third.0, 202, "idle means that it is free");
    assert!(events.until(r#""state":"idle""#).await.contains(r#""content":"ok""#));
}

/// A rebound name and a foreign page get 403, a missing or wrong token 401, on every route.
#[tokio::test]
async fn host_origin_and_token_are_checked_on_every_route() {
    let served = Served::start(vec![], Surface::HEARTBEAT).await;
    let port = served.port;
    let good_host = format!("Host: localhost:{port}");
    let token = "Authorization: Bearer tok".to_owned();
    let cases: Vec<(Vec<String>, u16)> = vec![
        (vec![good_host.clone(), token.clone()], 200),
        (vec![format!("Host: 127.0.0.1:{port}"), token.clone()], 200),
        (vec![format!("Host: LOCALHOST:{port}"), "authorization: bearer tok".into()], 200),
        (vec![format!("Host: [::1]:{port}"), token.clone()], 200),
        (vec![good_host.clone(), token.clone(), format!("Origin: http://localhost:{port}")], 200),
        (vec![good_host.clone()], 401),
        (vec![good_host.clone(), "Authorization: Bearer to".into()], 401),
        (vec![good_host.clone(), "Authorization: Bearer tokk".into()], 401),
        (vec![good_host.clone(), "Authorization: Basic tok".into()], 401),
        (vec![good_host.clone(), "Authorization: tok".into()], 401),
        (vec![good_host.clone(), token.clone(), token.clone()], 401),
        (vec![token.clone()], 403),
        (vec!["Host: localhost".into(), token.clone()], 403),
        (vec!["Host: localhost:1".into(), token.clone()], 403),
        (vec![format!("Host: evil.example:{port}"), token.clone()], 403),
        (vec![format!("Host: localhost.evil.example:{port}"), token.clone()], 403),
        (vec![format!("Host: 127.0.0.1:{port}:{port}"), token.clone()], 403),
        (vec![format!("Host: 127.0.0.2:{port}"), token.clone()], 403),
        (vec![good_host.clone(), good_host.clone(), token.clone()], 403),
        (vec![good_host.clone(), token.clone(), "Origin: null".into()], 403),
        (vec![good_host.clone(), token.clone(), "Origin: http://evil.example".into()], 403),
        (vec![good_host.clone(), token.clone(), format!("Origin: https://localhost:{port}")], 403),
        (vec![good_host.clone(), token.clone(), format!("Origin: http://127.0.0.1:{port}")], 403),
        (vec![good_host, token, "Origin: http://localhost".into()], 403),
    ];
    for (headers, expected) in cases {
        for (route, good) in [("POST /cancel", 204), ("POST /prompt", 400), ("GET /nowhere", 404)] {
            let headers = headers.join("\r\n");
            let request = format!(
                "{route} HTTP/1.1\r\n{headers}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            );
            let (status, _) = served.ask(&request).await;
            let expected = if expected == 200 { good } else { expected };
            assert_eq!(status, expected, "{route} with {headers}");
        }
    }
    let foreign = format!(
        "POST http://evil.example/cancel HTTP/1.1\r\nHost: localhost:{port}\r\n\
         Authorization: Bearer tok\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    );
    assert_eq!(served.ask(&foreign).await.0, 403);
    let events =
        format!("GET /events HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    assert_eq!(served.ask(&events).await.0, 401);
}

/// Whatever is refused is refused in JSON, and half a body is not waited for.
#[tokio::test]
async fn every_refusal_is_json_and_a_body_has_its_time() {
    let served = Served::start(vec![], Surface::HEARTBEAT).await;
    for (line, status, why) in [
        ("GET /nowhere", 404, "there is /events, /prompt and /cancel"),
        ("DELETE /events", 405, "GET is for /events, POST for /prompt and /cancel"),
        ("GET /prompt", 405, "GET is for /events, POST for /prompt and /cancel"),
    ] {
        let request = format!("{}Connection: close\r\n\r\n", served.head(line));
        assert_eq!(
            served.ask(&request).await,
            (status, format!(r#"{{"error":"{why}"}}"#)),
            "{line}"
        );
    }
    let half = format!("{}Content-Length: 50\r\n\r\n{{\"content\":", served.head("POST /prompt"));
    let late = r#"{"error":"the request was not complete in time"}"#;
    assert_eq!(served.ask(&half).await, (408, late.to_owned()), "and the connection is closed");
    assert!(!served.harness.is_busy());
}

/// With `?ids=1` events have ids, and a client that comes back gets what it missed, once; without it
/// the wire is what it was, whatever the client says it has seen.
#[tokio::test]
async fn a_client_that_comes_back_gets_what_it_missed() {
    let served = Served::start(vec![], Surface::HEARTBEAT).await;
    let mut events = served.listen_to("/events?ids=1", "").await;
    served.feed.on_text("one");
    let life = "462d53c8abac0-".len();
    let first = events.frame().await.unwrap();
    let id = first.strip_prefix("id: ").unwrap().split('\n').next().unwrap().to_owned();
    assert!(id.ends_with("-1") && id.len() > 2 && id.len() < life + 5, "{first}");
    let data = r#"data: {"type":"text","content":"one","timestamp":1234567890}"#;
    assert_eq!(first, format!("id: {id}\n{data}\n\n"));
    drop(events);
    served.feed.on_text("two");
    served.feed.on_text("three");
    let last = format!("Last-Event-ID: {id}\r\n");
    let mut events = served.listen_to("/events?x=y&ids=1", &last).await;
    served.feed.on_text("four");
    let seen = events.until(r#""content":"four""#).await;
    let ids: Vec<&str> = seen.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    let expected = [2, 3, 4].map(|number| id.replace("-1", &format!("-{number}")));
    assert_eq!(ids, expected);
    assert!(!seen.contains("gap"), "{seen}");

    let mut other = served.listen_to("/events?ids=1", "Last-Event-ID: f00-7\r\n").await;
    assert_eq!(other.frame().await.unwrap(), ": gap 1\n\n");
    assert!(other.until(r#""content":"four""#).await.contains(r#""content":"one""#));
    let mut plain = served.listen_to("/events", &last).await;
    served.feed.on_text("five");
    let data = r#"data: {"type":"text","content":"five","timestamp":1234567890}"#;
    assert_eq!(plain.frame().await.unwrap(), format!("{data}\n\n"));
    for _ in 0..1000 {
        served.feed.on_text("more");
    }
    let mut late = served.listen_to("/events?ids=1", &last).await;
    assert_eq!(late.frame().await.unwrap(), ": gap 4\n\n", "two to five");
    assert!(late.frame().await.unwrap().contains("-6\n"));
}

/// A client that does not keep up learns that it missed something.
#[tokio::test]
async fn a_slow_client_gets_a_gap_comment() {
    let served = Served::start(vec![], Surface::HEARTBEAT).await;
    let mut events = served.listen().await;
    // All in one go: the connection's task has no turn in between.
    for number in 0..1500 {
        served.feed.on_text(&number.to_string());
    }
    let seen = events.until(r#""content":"1499""#).await;
    assert!(seen.starts_with(": gap 476\n\ndata: {"), "{}", &seen[..80]);
    assert!(seen.contains(r#""content":"476""#) && !seen.contains(r#""content":"475""#));
}

#[tokio::test]
async fn stop_ends_streams_and_the_prompt_that_runs() {
    let served = Served::start(vec![Reply::Silent(vec![start()])], Surface::HEARTBEAT).await;
    let mut events = served.listen().await;
    served.post("/prompt", r#"{"content": "go"}"#).await;
    served.fake.seen(1).await;
    served.stop.cancel();
    within(async { while events.frame().await.is_some() {} }).await;
    let ends = within(served.tasks.stop(Duration::from_secs(60))).await;
    assert_eq!(ends.len(), 1);
    assert!(matches!(ends[0].how, gangline_os::task::HowEnded::Finished), "{:?}", ends[0]);
    assert!(!served.harness.is_busy());
}

#[tokio::test]
async fn an_address_that_others_can_reach_is_refused() {
    let fake = Fake::start(vec![]).await;
    let (harness, _) = fake.harness(vec![]);
    let surface = Surface {
        harness,
        feed: Arc::new(Feed::new(Arc::new(Still))),
        token: Secret::new("tok"),
        heartbeat: Surface::HEARTBEAT,
        body_within: BODY_WITHIN,
    };
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let refused = serve(listener, surface, CancellationToken::new()).await;
    assert!(matches!(refused, Err(ServeError::NotLoopback(_))));
}
