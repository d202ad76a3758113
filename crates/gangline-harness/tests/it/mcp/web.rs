//! A scripted MCP server over HTTP: it plays one side of the protocol and sends what no library would
//! send.

use std::net::Ipv4Addr;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::response::Response;
use axum::routing::post;
use gangline_os::task::TaskGroup;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The server; dropping it ends it.
pub(crate) struct Web {
    pub(crate) port: u16,
    _tasks: TaskGroup,
}

impl Web {
    /// Starts a server with a tool for each way to answer: `json` with a body, `sse` with one event,
    /// `lines` with a stream, `refuse` with an error of HTTP. Each answers with the text that it is
    /// given; `ID` in it is the id of the call, and `~` a byte that is no text.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut tasks = TaskGroup::new("web");
        let app = Router::new().route("/mcp", post(answer));
        tasks.spawn("web", async move { axum::serve(listener, app).await.unwrap() });
        Self { port, _tasks: tasks }
    }
}

async fn answer(body: Bytes) -> Response {
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let result = match asked["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"},
        }),
        "tools/list" => {
            let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
            json!({"tools": [tool("json"), tool("sse"), tool("lines"), tool("refuse")]})
        }
        "tools/call" => return called(&asked),
        _ => return with(StatusCode::ACCEPTED, "text/plain", Body::empty()),
    };
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
    with(StatusCode::OK, "application/json", answer.to_string())
}

fn called(asked: &Value) -> Response {
    let given = asked["params"]["arguments"]["text"].as_str().unwrap();
    let given = given.replace("ID", &asked["id"].to_string());
    let bytes: Vec<u8> = given.bytes().map(|b| if b == b'~' { 0xf0 } else { b }).collect();
    match asked["params"]["name"].as_str().unwrap() {
        "json" => with(StatusCode::OK, "application/json", bytes),
        "sse" => with(
            StatusCode::OK,
            "text/event-stream",
            [b"data: ", bytes.as_slice(), b"\n\n"].concat(),
        ),
        "refuse" => with(StatusCode::BAD_REQUEST, "application/json", bytes),
        // Whole lines of a stream.
        _ => with(StatusCode::OK, "text/event-stream", bytes),
    }
}

fn with(status: StatusCode, kind: &str, body: impl Into<Body>) -> Response {
    Response::builder().status(status).header(CONTENT_TYPE, kind).body(body.into()).unwrap()
}
