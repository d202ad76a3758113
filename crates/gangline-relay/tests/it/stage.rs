//! A relay on a free port, before a stand-in or before an API that a test plays by hand.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use gangline_core::price::{Price, Prices};
use gangline_os::{CancellationToken, clock, secret::Secret, task::TaskGroup};
use gangline_relay::{
    Client, Credential, Ledger, Limits, Noting, Options, REPORTS, Report, Totals, Upstream, run,
};
use gangline_standin::{Script, StandinOptions, serve};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
};

/// What the relay gives to the API in place of [`TOKEN`].
pub(crate) const KEY: &str = "sk-real-0123456789";
pub(crate) const TOKEN: &str = "token-of-the-relay";

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Counts the notes, or cannot make any.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) made: AtomicI64,
    pub(crate) fails: AtomicBool,
}

impl Ledger for Notes {
    fn begins(&self, _: Option<u64>) -> Noting<'_> {
        Box::pin(async {
            match self.fails.load(Ordering::SeqCst) {
                true => Err("the disk is full".to_owned()),
                false => Ok(self.made.fetch_add(1, Ordering::SeqCst) + 1),
            }
        })
    }
}

pub(crate) struct Stage {
    pub(crate) base: String,
    pub(crate) port: u16,
    pub(crate) http: reqwest::Client,
    pub(crate) totals: Totals,
    pub(crate) notes: Arc<Notes>,
    pub(crate) limits: watch::Sender<Limits>,
    reports: mpsc::Receiver<Report>,
    pub(crate) stop: CancellationToken,
    _tasks: TaskGroup,
}

impl Stage {
    pub(crate) async fn new(upstream: &str, credential: Credential) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (limits, limit) = watch::channel(Limits::default());
        let (report, reports) = mpsc::channel(REPORTS);
        let totals = Totals::default();
        let notes = Arc::new(Notes::default());
        let upstream = Upstream::parse(upstream).unwrap();
        let client = Client::of(&upstream).unwrap();
        let token = Secret::new(TOKEN);
        let base = credential.address(port, &upstream, &token);
        let each = Price {
            input: 1_000_000,
            output: 2_000_000,
            cache_read: 0,
            cache_write: 0,
            cache_write_hour: 0,
        };
        let options = Options {
            listener,
            upstream,
            client,
            token,
            credential,
            prices: Prices::new([("priced".to_owned(), each)].into()),
            totals: totals.clone(),
            limits: limit,
            ledger: Arc::clone(&notes) as Arc<dyn Ledger>,
            reports: report,
            clock: clock::system(),
        };
        let stop = CancellationToken::new();
        let mut tasks = TaskGroup::new("relay");
        let stopped = stop.clone();
        tasks.spawn("relay", async move { run(options, stopped).await.unwrap() });
        let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { base, port, http, totals, notes, limits, reports, stop, _tasks: tasks }
    }

    pub(crate) async fn with_key(upstream: &str) -> Self {
        Self::new(upstream, Credential::Key(Secret::new(KEY))).await
    }

    /// Asks by the Messages interface.
    pub(crate) async fn ask(&self, body: impl Into<reqwest::Body>) -> reqwest::Response {
        self.http
            .post(format!("{}/v1/messages", self.base))
            .header("anthropic-version", "2023-06-01")
            .header("x-api-key", TOKEN)
            .body(body)
            .send()
            .await
            .unwrap()
    }

    pub(crate) async fn report(&mut self) -> Report {
        tokio::time::timeout(PATIENCE, self.reports.recv()).await.unwrap().unwrap()
    }
}

/// Starts a stand-in and returns its address.
pub(crate) async fn standin(script: &str) -> (String, TaskGroup) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let script = Some(Script::parse(script).unwrap());
    let options = StandinOptions { listener, script, record: None, clock: clock::system() };
    let mut tasks = TaskGroup::new("standin");
    tasks.spawn("serve", async move { serve(options, CancellationToken::new()).await.unwrap() });
    (base, tasks)
}

/// An API that the test plays.
pub(crate) struct Api(TcpListener);

impl Api {
    pub(crate) async fn new() -> (String, Self) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        (format!("http://{}", listener.local_addr().unwrap()), Self(listener))
    }

    pub(crate) async fn take(&self) -> Call {
        let (stream, _) = tokio::time::timeout(PATIENCE, self.0.accept()).await.unwrap().unwrap();
        let mut call = Call { stream, head: String::new(), body: Vec::new() };
        call.next().await;
        call
    }

    /// Answers whatever comes as a plain server does that cannot read it.
    pub(crate) async fn speaks_no_tls(&self) {
        let (mut stream, _) = self.0.accept().await.unwrap();
        let _ = stream.read(&mut [0; 1 << 10]).await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n").await.unwrap();
    }

    /// Takes a request whose body never ends as it should.
    pub(crate) async fn swallow(&self) {
        let (mut stream, _) = self.0.accept().await.unwrap();
        let mut sink = vec![0; 1 << 16];
        while stream.read(&mut sink).await.is_ok_and(|read| read > 0) {}
    }
}

/// One connection to the API, with its last request.
pub(crate) struct Call {
    stream: TcpStream,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Call {
    /// Reads the next request.
    pub(crate) async fn next(&mut self) {
        let mut all = Vec::new();
        let head = loop {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).await.unwrap();
            all.push(byte[0]);
            if all.ends_with(b"\r\n\r\n") {
                break String::from_utf8(std::mem::take(&mut all)).unwrap().to_ascii_lowercase();
            }
        };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
        self.stream.read_exact(&mut body).await.unwrap();
        (self.head, self.body) = (head, body);
    }

    pub(crate) async fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    pub(crate) async fn begin_events(&mut self) {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request: 7\r\n\
                    transfer-encoding: chunked\r\nconnection: close, x-hop\r\nx-hop: 1\r\n\r\n";
        self.write(head).await;
    }

    pub(crate) async fn chunk(&mut self, data: &str) {
        self.write(&format!("{:x}\r\n{data}\r\n", data.len())).await;
    }

    pub(crate) async fn end(&mut self) {
        self.write("0\r\n\r\n").await;
    }

    pub(crate) async fn json(&mut self, status: &str, body: &str) {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                 connection: close"
        );
        self.write(&format!("{head}\r\n\r\n{body}")).await;
    }

    /// Returns once the other side has closed the connection.
    pub(crate) async fn closed(mut self) {
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, self.stream.read_to_end(&mut rest)).await.unwrap();
    }
}
