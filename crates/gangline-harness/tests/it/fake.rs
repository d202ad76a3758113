//! A scripted far side: plays replies in order, keeps what it was sent, and refuses any
//! conversation that the real API would refuse.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::stream::{self, StreamExt as _};
use gangline_harness::{
    Compaction, Config, EventHandler, Harness, Retry, RetryPolicy, Status, Tool, ToolCall,
    ToolContext, ToolError, ToolResult, Usage,
};
use gangline_os::secret::Secret;
use gangline_os::task::TaskGroup;
use serde_json::{Value, json};
use tokio::sync::watch;

pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Waits for a fact, no longer than the deadline.
pub(crate) async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, what).await.expect("the deadline is over")
}

/// Looks again and again, within a deadline, until there is what is looked for: a fact that another
/// process makes, and that nobody is told of.
pub(crate) async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    within(async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            // sleep: between two looks
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
}

/// One reply of the script.
pub(crate) enum Reply {
    /// An event stream in these chunks, then its orderly end.
    Stream(Vec<String>),
    /// The same, then the connection breaks.
    Broken(Vec<String>),
    /// The same, then silence.
    Silent(Vec<String>),
    /// Headers never come.
    Mute,
    /// An error.
    Refusal(u16, Vec<(&'static str, &'static str)>, Value),
}

pub(crate) struct Fake {
    pub(crate) url: String,
    shared: Arc<Shared>,
    _server: TaskGroup,
}

struct Shared {
    script: Mutex<VecDeque<Reply>>,
    peers: Mutex<Vec<SocketAddr>>,
    seen: watch::Sender<Vec<(HeaderMap, Value)>>,
}

impl Fake {
    pub(crate) async fn start(script: Vec<Reply>) -> Self {
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into()),
            peers: Mutex::default(),
            seen: watch::Sender::default(),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().route("/v1/messages", post(answer)).with_state(Arc::clone(&shared));
        let mut server = TaskGroup::new("fake API");
        server.spawn("serve", async move {
            {
                let app = app.into_make_service_with_connect_info::<SocketAddr>();
                axum::serve(listener, app).await.unwrap();
            }
        });
        Self { url, shared, _server: server }
    }

    pub(crate) fn requests(&self) -> Vec<Value> {
        self.shared.seen.borrow().iter().map(|(_, body)| body.clone()).collect()
    }

    pub(crate) fn headers(&self, request: usize) -> HeaderMap {
        self.shared.seen.borrow()[request].0.clone()
    }

    /// From where each request came.
    pub(crate) fn peers(&self) -> Vec<SocketAddr> {
        self.shared.peers.lock().unwrap().clone()
    }

    pub(crate) async fn seen(&self, count: usize) {
        let mut seen = self.shared.seen.subscribe();
        within(seen.wait_for(|seen| seen.len() >= count)).await.unwrap();
    }

    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new(Secret::new("sk-test"));
        config.base_url.clone_from(&self.url);
        config.retry =
            RetryPolicy { first_wait: Duration::from_millis(1), ..RetryPolicy::default() };
        config
    }

    pub(crate) fn harness(&self, tools: Vec<Arc<dyn Tool>>) -> (Harness, Arc<Recorder>) {
        let told = Arc::new(Recorder::default());
        let harness = Harness::new(self.config(), tools, Some(Arc::clone(&told) as _)).unwrap();
        (harness, told)
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let problem = refuse(&body);
    shared.peers.lock().unwrap().push(peer);
    shared.seen.send_modify(|seen| seen.push((headers, body)));
    if let Some(problem) = problem {
        let error = json!({"type": "invalid_request_error", "message": problem});
        return (StatusCode::BAD_REQUEST, json!({"error": error}).to_string()).into_response();
    }
    let reply = shared.script.lock().unwrap().pop_front();
    let pieces = |chunks: Vec<String>| {
        stream::iter(chunks).map(|chunk| Ok::<_, io::Error>(Bytes::from(chunk)))
    };
    let body = match reply {
        None => return (StatusCode::BAD_REQUEST, "the script is over").into_response(),
        Some(Reply::Mute) => return std::future::pending().await,
        Some(Reply::Refusal(status, headers, body)) => {
            let status = StatusCode::from_u16(status).unwrap();
            let mut response = (status, body.to_string()).into_response();
            for (name, value) in headers {
                response.headers_mut().insert(name, value.parse().unwrap());
            }
            return response;
        }
        Some(Reply::Stream(chunks)) => {
            // The end of the body comes by itself, behind the last event, as over a network.
            let pause = stream::once(tokio::task::yield_now()).filter_map(|()| async { None });
            Body::from_stream(pieces(chunks).chain(pause))
        }
        Some(Reply::Silent(chunks)) => Body::from_stream(pieces(chunks).chain(stream::pending())),
        Some(Reply::Broken(chunks)) => {
            let broken = stream::once(async {
                // While the body waits once, the server flushes what it was given before.
                tokio::task::yield_now().await;
                Err(io::Error::other("broken on purpose"))
            });
            Body::from_stream(pieces(chunks).chain(broken))
        }
    };
    ([("content-type", "text/event-stream"), ("request-id", "req_1")], body).into_response()
}

/// Returns why the real API would refuse this conversation.
pub(crate) fn refuse(body: &Value) -> Option<String> {
    let messages = body["messages"].as_array()?;
    let mut open: BTreeSet<String> = BTreeSet::new();
    for (number, message) in messages.iter().enumerate() {
        let expected = if number % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != expected {
            return Some(format!("messages.{number}: expected {expected}"));
        }
        let blocks = message["content"].as_array()?;
        if blocks.is_empty() {
            return Some(format!("messages.{number}: empty"));
        }
        let mut answered = BTreeSet::new();
        let mut other = false;
        for block in blocks {
            match block["type"].as_str().unwrap() {
                "tool_result" if other => return Some("a result after other blocks".into()),
                "tool_result" => {
                    if !answered.insert(block["tool_use_id"].as_str().unwrap().to_owned()) {
                        return Some("answered twice".into());
                    }
                }
                "text" if block["text"].as_str().unwrap().trim().is_empty() => {
                    return Some("blank text".into());
                }
                _ => other = true,
            }
        }
        if expected == "user" {
            if answered != open {
                return Some(format!("messages.{number}: open {open:?}, answered {answered:?}"));
            }
            open.clear();
        } else {
            let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
            for call in calls {
                if !call["input"].is_object() {
                    return Some("input is no object".into());
                }
                open.insert(call["id"].as_str().unwrap().to_owned());
            }
            if blocks.last().unwrap()["type"] == "thinking" {
                return Some("ends with thinking".into());
            }
        }
    }
    (messages.len() % 2 == 0).then(|| "does not end with the user".into())
}

// --- events of a stream

pub(crate) fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or("x"))
}

pub(crate) fn start() -> String {
    event(&json!({"type": "message_start", "message": {
        "id": "msg_1", "model": "fake", "role": "assistant", "content": [],
        "usage": {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 5},
    }}))
}

/// A block in one piece: start, the given deltas, stop.
pub(crate) fn block(index: usize, content: Value, deltas: Vec<Value>) -> String {
    let mut text = open_block(index, content, deltas);
    text += &event(&json!({"type": "content_block_stop", "index": index}));
    text
}

pub(crate) fn open_block(index: usize, content: Value, deltas: Vec<Value>) -> String {
    let mut text =
        event(&json!({"type": "content_block_start", "index": index, "content_block": content}));
    for delta in deltas {
        text += &event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    text
}

pub(crate) fn text(index: usize, text: &str) -> String {
    let (head, tail) = text.split_at(text.floor_char_boundary(text.len() / 2));
    let delta = |text: &str| json!({"type": "text_delta", "text": text});
    block(index, json!({"type": "text", "text": ""}), vec![delta(head), delta(tail)])
}

pub(crate) fn tool(index: usize, id: &str, name: &str, input: &Value) -> String {
    let input = input.to_string();
    let (head, tail) = input.split_at(input.floor_char_boundary(input.len() / 2));
    let delta = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    let content = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    block(index, content, vec![delta(head), delta(tail)])
}

pub(crate) fn end(reason: &str) -> String {
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason},
        "usage": {"output_tokens": 7}});
    event(&delta) + &event(&json!({"type": "message_stop"}))
}

/// A whole response of these blocks.
pub(crate) fn whole(blocks: &[String], reason: &str) -> Reply {
    Reply::Stream(vec![start(), blocks.concat(), end(reason)])
}

pub(crate) fn says(words: &str) -> Reply {
    whole(&[text(0, words)], "end_turn")
}

pub(crate) fn calls(id: &str, name: &str, input: &Value) -> Reply {
    whole(&[tool(0, id, name, input)], "tool_use")
}

// --- the near side

/// Keeps what the handler was told, one line for each event.
#[derive(Default)]
pub(crate) struct Recorder {
    lines: watch::Sender<Vec<String>>,
}

impl Recorder {
    fn add(&self, line: String) {
        self.lines.send_modify(|lines| lines.push(line));
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.borrow().clone()
    }

    /// The lines that begin with one of these words.
    pub(crate) fn only(&self, words: &[&str]) -> Vec<String> {
        let wanted = |line: &String| words.iter().any(|word| line.starts_with(word));
        self.lines().into_iter().filter(wanted).collect()
    }

    pub(crate) async fn until(&self, line: &str) {
        let mut lines = self.lines.subscribe();
        within(lines.wait_for(|lines| lines.iter().any(|told| told == line))).await.unwrap();
    }
}

impl EventHandler for Recorder {
    fn on_user(&self, content: &str) {
        self.add(format!("user {content}"));
    }
    fn on_text(&self, text: &str) {
        self.add(format!("text {text}"));
    }
    fn on_tool_call(&self, call: &ToolCall) {
        self.add(format!("call {} {} {}", call.id, call.name, call.input));
    }
    fn on_tool_result(&self, result: &ToolResult) {
        let word = if result.is_error { "error" } else { "result" };
        self.add(format!("{word} {} {}", result.id, result.content));
    }
    fn on_reasoning(&self, content: &str) {
        self.add(format!("reasoning {content}"));
    }
    fn on_status(&self, state: Status, message: &str) {
        self.add(format!("status {state}: {message}"));
    }
    fn on_usage(&self, usage: &Usage) {
        self.add(format!("usage {}+{}", usage.context_tokens(), usage.output_tokens));
    }
    fn on_assistant_message(&self, response: &gangline_harness::Response) {
        let stop = response.stop_reason.as_deref().unwrap_or("cut");
        self.add(format!("message {} {stop}", response.blocks.len()));
    }
    fn on_retry(&self, retry: &Retry<'_>) {
        self.add(format!("retry {} {:?}", retry.attempt, retry.error.kind));
    }
    fn on_compaction(&self, step: &Compaction<'_>) {
        self.add(match step {
            Compaction::Begun => "compaction begun".to_owned(),
            Compaction::Done(done) => format!("compaction done {}", done.summary),
            Compaction::Failed(error) => format!("compaction failed: {error}"),
        });
    }
}

/// A tool that does what its input says: `{"say": text}`, `{"fail": text}`, `{"panic": true}`,
/// `{"hang": "politely" | "for ever"}`.
pub(crate) struct Puppet;

#[async_trait::async_trait]
impl Tool for Puppet {
    fn name(&self) -> &str {
        "puppet"
    }
    fn description(&self) -> &str {
        "Does what it is told."
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }
    async fn execute(&self, ctx: &ToolContext, input: Value) -> Result<String, ToolError> {
        assert!(input["panic"] != true, "on purpose");
        match input["hang"].as_str() {
            Some("politely") => {
                ctx.cancel.cancelled().await;
                // Stopping takes a moment.
                tokio::task::yield_now().await;
                return Ok("stopped where it was safe".into());
            }
            Some(_) => {
                return std::future::pending::<Result<String, Infallible>>()
                    .await
                    .map_err(|e| match e {});
            }
            None => {}
        }
        match input["fail"].as_str() {
            Some(text) => Err(ToolError::failed(text)),
            None => Ok(input["say"].as_str().unwrap_or("done").to_owned()),
        }
    }
}

/// The refusal of a conversation that is too long.
pub(crate) fn overflow() -> Reply {
    let message = "prompt is too long: 1200000 tokens > 1000000 maximum";
    let error = json!({"type": "invalid_request_error", "message": message});
    Reply::Refusal(400, vec![], json!({"type": "error", "error": error}))
}

/// Returns the texts of a request's message, results included.
pub(crate) fn texts(request: &Value, message: usize) -> Vec<String> {
    let blocks = request["messages"][message]["content"].as_array().unwrap().iter();
    let text = |block: &Value| {
        let text = block["text"].as_str().or(block["content"].as_str());
        text.or(block["name"].as_str()).unwrap_or_default().to_owned()
    };
    blocks.map(text).collect()
}

/// A tool that ends when the test opens it.
#[derive(Default)]
pub(crate) struct Gate(watch::Sender<bool>);

impl Gate {
    pub(crate) fn open(&self) {
        self.0.send_replace(true);
    }
}

#[async_trait::async_trait]
impl Tool for Gate {
    fn name(&self) -> &str {
        "gate"
    }
    fn description(&self) -> &str {
        "Waits."
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }
    async fn execute(&self, _: &ToolContext, _: Value) -> Result<String, ToolError> {
        self.0.subscribe().wait_for(|open| *open).await.map_err(ToolError::failed)?;
        Ok("open".into())
    }
}

pub(crate) fn puppet() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Puppet)]
}
