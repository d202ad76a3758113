//! Measures what the relay adds to a streamed response, beside a bare reverse proxy of the same parts
//! (hyper and reqwest, nothing counted), in turn. The last line of output is JSON: for each round the
//! medians in microseconds. Usage: `relay_bench ROUNDS REQUESTS`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and stops on faults"
)]

use std::{
    convert::Infallible,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::Instant,
};

use bytes::Bytes;
use futures::TryStreamExt as _;
use gangline_core::price::Prices;
use gangline_os::{CancellationToken, clock, secret::Secret, task};
use gangline_relay::{
    Client, Credential, Ledger, Limits, Noting, Options, REPORTS, Totals, Upstream,
};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::{
    Request, Response, body::Frame, body::Incoming, server::conn::http1, service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::sync::{mpsc as queue, watch};

/// Pieces of text in a response.
const EVENTS: usize = 50;
const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\
    \"claude-haiku-4-5\",\"usage\":{\"input_tokens\":50,\"output_tokens\":1}}}\n\n";
const PIECE: &str = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
    \"delta\":{\"type\":\"text_delta\",\"text\":\"some words of an answer \"}}\n\n";
const END: &str = "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":\
    10}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

/// Notes nothing: what a note costs is measured with the store.
struct NoLedger;

impl Ledger for NoLedger {
    fn begins(&self, _: Option<u64>) -> Noting<'_> {
        Box::pin(async { Ok(0) })
    }
}

/// The model: sends the next event when it is told so, and tells when.
struct Model {
    port: u16,
    go: mpsc::Sender<()>,
    sent: mpsc::Receiver<Instant>,
}

#[allow(clippy::disallowed_methods, reason = "a measurement reads the time")]
fn now() -> Instant {
    Instant::now()
}

fn model() -> Model {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (go, told) = mpsc::channel::<()>();
    let (tell, sent) = mpsc::channel();
    task::thread("model", move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            let mut from = BufReader::new(stream.try_clone().unwrap());
            while request(&mut from).is_some() {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                            transfer-encoding: chunked\r\n\r\n";
                let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
                let mut first = Some(head);
                for text in std::iter::once(START).chain([PIECE; EVENTS]).chain([END]) {
                    if told.recv().is_err() {
                        return;
                    }
                    let bytes = format!("{}{}", first.take().unwrap_or_default(), chunk(text));
                    tell.send(now()).unwrap();
                    stream.write_all(bytes.as_bytes()).unwrap();
                }
                stream.write_all(b"0\r\n\r\n").unwrap();
            }
        }
    })
    .unwrap();
    Model { port, go, sent }
}

/// Reads a request; `None` at the end of the connection.
fn request(from: &mut BufReader<TcpStream>) -> Option<()> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    from.read_exact(&mut vec![0; length]).ok()
}

fn on_thread(name: &str, work: impl Future<Output = ()> + Send + 'static) {
    task::thread(name, move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(work);
    })
    .unwrap();
}

fn listen() -> (std::net::TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// The anchor.
fn bare(upstream: u16) -> u16 {
    let (listener, port) = listen();
    on_thread("bare", async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let client = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only(std::iter::empty())
            .build()
            .unwrap();
        let mut tasks = task::TaskGroup::new("bare");
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let client = client.clone();
            tasks.spawn("connection", async move {
                let service = service_fn(move |request: Request<Incoming>| {
                    let client = client.clone();
                    async move {
                        let url = format!("http://127.0.0.1:{upstream}{}", request.uri().path());
                        let (parts, body) = request.into_parts();
                        let asked = client.request(parts.method, url).headers(parts.headers);
                        let answer = asked.body(reqwest::Body::wrap(body)).send().await.unwrap();
                        let (status, mut headers) = (answer.status(), answer.headers().clone());
                        headers.remove("transfer-encoding");
                        let pieces = answer.bytes_stream().map_ok(Frame::<Bytes>::data);
                        let mut response = Response::new(StreamBody::new(pieces).boxed_unsync());
                        (*response.status_mut(), *response.headers_mut()) = (status, headers);
                        Ok::<_, Infallible>(response)
                    }
                });
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    port
}

/// The subject.
fn relay(upstream: u16) -> u16 {
    let (listener, port) = listen();
    on_thread("relay", async move {
        let (_limits, limit) = watch::channel(Limits::default());
        let (report, mut reports) = queue::channel(REPORTS);
        let upstream = Upstream::parse(&format!("http://127.0.0.1:{upstream}")).unwrap();
        let options = Options {
            listener: tokio::net::TcpListener::from_std(listener).unwrap(),
            client: Client::of(&upstream).unwrap(),
            upstream,
            token: Secret::new("token"),
            credential: Credential::Key(Secret::new("key")),
            prices: Prices::default(),
            totals: Totals::default(),
            limits: limit,
            ledger: std::sync::Arc::new(NoLedger),
            reports: report,
            clock: clock::system(),
        };
        let taken = async { while reports.recv().await.is_some() {} };
        let (ran, ()) = tokio::join!(gangline_relay::run(options, CancellationToken::new()), taken);
        ran.unwrap();
    });
    port
}

/// Returns the microseconds of a first byte and of each event.
fn measure(port: u16, model: &Model, requests: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut firsts, mut events) = (Vec::new(), Vec::new());
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_nodelay(true).unwrap();
    let body = "{\"stream\":true}".repeat(64);
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nx-api-key: token\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut bytes = vec![0; 1 << 16];
    for _ in 0..requests {
        let asked = now();
        stream.write_all(head.as_bytes()).unwrap();
        let mut tail = Vec::new();
        for event in 0..EVENTS + 2 {
            model.go.send(()).unwrap();
            // The data of every event ends so; the head's end does not.
            let came = loop {
                let read = stream.read(&mut bytes).unwrap();
                assert!(read > 0, "the response was cut");
                let came = now();
                tail.extend_from_slice(&bytes[..read]);
                if tail.windows(3).any(|it| it == b"}\n\n") {
                    break came;
                }
            };
            let sent = model.sent.recv().unwrap();
            let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6;
            match event {
                0 => firsts.push(micros(came - asked)),
                _ => events.push(micros(came.saturating_duration_since(sent))),
            }
            if event < EVENTS + 1 {
                tail.clear();
            }
        }
        while !tail.ends_with(b"0\r\n\r\n") {
            let read = stream.read(&mut bytes).unwrap();
            assert!(read > 0, "the response was cut");
            tail.extend_from_slice(&bytes[..read]);
        }
    }
    (firsts, events)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn main() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<usize>().unwrap());
    let (rounds, requests) = (arguments.next().unwrap_or(3), arguments.next().unwrap_or(100));
    let of = |through: fn(u16) -> u16| {
        // The model takes one connection at a time, so each way has its own.
        let model = model();
        (through(model.port), model)
    };
    let ways = [("direct", of(|port| port)), ("anchor", of(bare)), ("subject", of(relay))];
    let mut first = serde_json::Map::new();
    let mut event = serde_json::Map::new();
    for _ in 0..rounds {
        for (name, (port, model)) in &ways {
            measure(*port, model, requests / 10 + 1);
            let (firsts, events) = measure(*port, model, requests);
            for (all, figures) in [(&mut first, firsts), (&mut event, events)] {
                let list = all.entry(*name).or_insert_with(|| serde_json::json!([]));
                list.as_array_mut().unwrap().push(median(figures).into());
            }
        }
    }
    println!("{}", serde_json::json!({"first_byte": first, "event": event}));
}
