//! A tool server with a daemon behind it that a test holds, and its clients.

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use gangline_core::{Epoch, TurnId, whisper::WhisperRoad};
use gangline_os::CancellationToken;
use gangline_runtime::{Aside, McpPlace, ToolCall, ToolHost, ToolServer, ToolSpec};
use rmcp::{
    ServiceExt,
    model::{CallToolRequestParams, CallToolResult},
    service::{RoleClient, RunningService},
    transport::{
        StreamableHttpClientTransport, async_rw::AsyncRwTransport,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UnixStream},
    sync::{Mutex, mpsc, watch},
    time::timeout,
};

pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A daemon with `send`, which keeps what it was given; `hold`, which waits for its release or for
/// being taken back; and `panic`.
pub(super) struct Posts {
    calls: mpsc::Sender<ToolCall>,
    release: watch::Receiver<bool>,
    /// What the model is told beside results.
    asides: Mutex<mpsc::Receiver<Aside>>,
}

impl Posts {
    /// One that has nothing to tell.
    pub(super) fn quiet(calls: mpsc::Sender<ToolCall>) -> Self {
        let (release, asides) = (watch::channel(false).1, Mutex::new(mpsc::channel(1).1));
        Self { calls, release, asides }
    }
}

#[async_trait]
impl ToolHost for Posts {
    fn tools(&self) -> Vec<ToolSpec> {
        let tool = |name| ToolSpec {
            name,
            description: "a tool of the daemon",
            input_schema: json!({"type": "object", "properties": {"text": {"type": "string"}}}),
            output_schema: None,
        };
        ["send", "hold", "panic"].map(tool).into()
    }

    async fn aside(&self, of: TurnId, road: WhisperRoad) -> Option<Aside> {
        assert!([turn(7), turn(8)].contains(&of), "{of:?} was open");
        assert_eq!(road, WhisperRoad::Tool);
        self.asides.lock().await.try_recv().ok()
    }

    async fn call(&self, call: ToolCall) -> Result<String, String> {
        let name = call.name.clone();
        let text = call.input["text"].as_str().unwrap_or_default().to_owned();
        self.calls.send(call).await.unwrap();
        match name.as_str() {
            "hold" => drop(self.release.clone().wait_for(|free| *free).await),
            "panic" => panic!("on purpose"),
            _ => {}
        }
        if text == "refuse" {
            Err("not in this room".to_owned())
        } else {
            Ok(format!("sent {text}"))
        }
    }

    async fn call_unless(
        &self,
        call: ToolCall,
        taken_back: CancellationToken,
    ) -> Option<Result<String, String>> {
        let holds = call.name == "hold";
        tokio::select! {
            outcome = self.call(call) => Some(outcome),
            () = taken_back.cancelled(), if holds => None,
        }
    }
}

pub(super) struct Rig {
    pub(super) server: ToolServer,
    pub(super) calls: mpsc::Receiver<ToolCall>,
    pub(super) turn: watch::Sender<Option<TurnId>>,
    pub(super) asides: mpsc::Sender<Aside>,
    pub(super) release: watch::Sender<bool>,
    pub(super) folder: tempfile::TempDir,
}

pub(super) fn turn(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

pub(super) fn rig() -> Rig {
    let folder = tempfile::Builder::new().prefix("gl-").tempdir().unwrap();
    let (sender, calls) = mpsc::channel(64);
    let (turn, open) = watch::channel(Some(turn(7)));
    let (release, held) = watch::channel(false);
    let (asides, told) = mpsc::channel(8);
    let host = Arc::new(Posts { calls: sender, release: held, asides: Mutex::new(told) });
    let server = ToolServer::start(host, open, &folder.path().join("t")).unwrap();
    Rig { server, calls, turn, asides, release, folder }
}

impl Rig {
    pub(super) fn address(&self) -> (String, String) {
        match self.server.over_http().place {
            McpPlace::Http { url, headers } => (url, headers["Authorization"].clone()),
            McpPlace::Stdio { .. } => panic!("that is not HTTP"),
        }
    }

    pub(super) fn socket(&self) -> String {
        match self.server.over_stdio(&["bridge".to_owned()]).unwrap().place {
            McpPlace::Stdio { command, env } => {
                assert_eq!((command[0].as_str(), env.len()), ("bridge", 0));
                command[1].clone()
            }
            McpPlace::Http { .. } => panic!("that is not stdio"),
        }
    }

    pub(super) async fn by_http(&self) -> Client {
        // A second installation of the provider is no fault.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (url, bearer) = self.address();
        let headers = HashMap::from([("authorization".parse().unwrap(), bearer.parse().unwrap())]);
        let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
        ().serve(StreamableHttpClientTransport::from_config(config)).await.unwrap()
    }

    pub(super) async fn by_socket(&self) -> Client {
        let (input, output) = UnixStream::connect(self.socket()).await.unwrap().into_split();
        ().serve(AsyncRwTransport::new_client(input, output)).await.unwrap()
    }

    pub(super) async fn next_call(&mut self) -> ToolCall {
        timeout(PATIENCE, self.calls.recv()).await.unwrap().unwrap()
    }

    /// Sends a request by hand and returns the whole answer.
    pub(super) async fn raw(&self, request: &str) -> String {
        let (url, bearer) = self.address();
        let port = url.split([':', '/']).nth(4).unwrap().to_owned();
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).await.unwrap();
        let request = request.replace("PORT", &port).replace("BEARER", &bearer);
        // What is refused need not be read to its end.
        let _ = stream.write_all(request.as_bytes()).await;
        let mut answer = String::new();
        timeout(PATIENCE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
        answer
    }

    /// Sends a message by hand, with these headers and no others.
    pub(super) async fn post(&self, headers: &str, message: &Value) -> String {
        let body = message.to_string();
        let length = body.len();
        self.raw(&format!("POST /mcp HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n{body}"))
            .await
    }
}

pub(super) type Client = RunningService<RoleClient, ()>;

/// The headers of a good request.
pub(super) const GOOD: &str =
    "Host: 127.0.0.1:PORT\r\nAuthorization: BEARER\r\nContent-Type: application/json\r\n";

pub(super) async fn call(client: &Client, tool: &'static str, text: &str) -> CallToolResult {
    let arguments = json!({"text": text}).as_object().cloned().unwrap();
    let call = CallToolRequestParams::new(tool).with_arguments(arguments);
    timeout(PATIENCE, client.call_tool(call)).await.unwrap().unwrap()
}

pub(super) fn text(result: &CallToolResult) -> (String, bool) {
    let value = serde_json::to_value(result).unwrap();
    let text = value["content"][0]["text"].as_str().unwrap().to_owned();
    (text, value["isError"].as_bool().unwrap_or_default())
}

pub(super) fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap()
}
