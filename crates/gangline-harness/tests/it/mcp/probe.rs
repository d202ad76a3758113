//! A real MCP server, made with the official library: this test binary once more, as another
//! process, over its pipes or over HTTP.
//!
//! What it is started as is in [`ROLE`]. The test runner's own words on its output are the noise
//! that such programs make.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use gangline_os::process::{self, Group, Output, Spawn, Stdin};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorCode, ErrorData,
    InitializeRequestParams, InitializeResult, ListToolsResult, PaginatedRequestParams,
    ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, serve_server};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

/// What the process is: `tools`, `odd`, `newer`, `endless`, `mute`, `dies` or `http <port>`.
pub(crate) const ROLE: &str = "GANGLINE_TEST_ROLE";
/// A file that the process writes facts to.
pub(crate) const NOTES: &str = "GANGLINE_TEST_NOTES";
pub(crate) const TOKEN: &str = "Bearer open-sesame";

/// The child's `main`; in the parent's own run it has nothing to do.
#[tokio::test]
async fn entry() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let notes = PathBuf::from(std::env::var_os(NOTES).unwrap_or_default());
    note(&notes, &format!("started {}", std::process::id()));
    match role.split_once(' ') {
        Some(("http", port)) => serve_http(notes, port.parse().unwrap()).await,
        _ => match role.as_str() {
            "mute" => std::future::pending().await,
            "dies" => {
                eprintln!("no licence found");
                std::process::exit(7);
            }
            _ => {
                // A peer answers JSON that is no message, and the newer way to begin does not expect
                // that.
                let noise = if role == "newer" { "" } else { "{\"nor\": \"JSON-RPC\"}\n[1]\n" };
                println!("this is no JSON\n{noise}");
                let probe = Probe { notes, role };
                serve_server(probe, rmcp::transport::stdio())
                    .await
                    .unwrap()
                    .waiting()
                    .await
                    .unwrap();
            }
        },
    }
}

/// Adds a line to the file of facts.
fn note(notes: &Path, line: &str) {
    if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(notes) {
        writeln!(file, "{line}").unwrap();
    }
}

async fn serve_http(notes: PathBuf, port: u16) {
    let listener = bound(port).listen(64).unwrap();
    let port = listener.local_addr().unwrap().port();
    let probe = Probe { notes: notes.clone(), role: "tools".to_owned() };
    let service = StreamableHttpService::new(
        move || Ok(probe.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let app = axum::Router::new().nest_service("/mcp", service).layer(middleware::from_fn(guard));
    note(&notes, &format!("port {port}"));
    axum::serve(listener, app).await.unwrap();
}

/// Takes a port of loopback that others of these tests may take too. Nobody listens there yet.
pub(crate) fn bound(port: u16) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.set_reuseport(true).unwrap();
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).unwrap();
    socket
}

async fn guard(request: Request, next: Next) -> Response {
    match request.headers().get("authorization").is_some_and(|given| given == TOKEN) {
        true => next.run(request).await,
        false => StatusCode::UNAUTHORIZED.into_response(),
    }
}

#[derive(Clone)]
struct Probe {
    notes: PathBuf,
    role: String,
}

impl ServerHandler for Probe {
    fn get_info(&self) -> ServerConfig {
        let instructions = "Echo before you wait.";
        let value = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "probe", "version": "1"},
            "instructions": instructions,
        });
        serde_json::from_value(value).unwrap()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        note(&self.notes, &format!("client {}", request.client_info.name));
        match self.role.as_str() {
            "newer" => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "initialize", None)),
            _ => self.negotiate_initialize(&request),
        }
    }

    async fn list_tools(
        &self,
        asked: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let page = asked.and_then(|asked| asked.cursor);
        let list = match (self.role.as_str(), page) {
            ("odd", _) => json!({"tools": [
                {"name": "a.b", "inputSchema": {"anyOf": [{"required": ["x"]}]}},
                tool("a_b"), tool(&"t".repeat(200)), tool(""), tool("fine"),
                {"name": "vast", "inputSchema": {"type": "object", "title": "x".repeat(70_000)}},
            ]}),
            ("endless", page) => {
                let number: usize = page.map_or(0, |page| page.parse().unwrap());
                let tools: Vec<Value> =
                    (number..number + 50).map(|n| tool(&format!("t{n}"))).collect();
                json!({"tools": tools, "nextCursor": (number + 50).to_string()})
            }
            (_, None) => json!({"tools": [
                {"name": "echo", "description": "Says it again.", "inputSchema":
                    {"type": "object", "properties": {"text": {"type": "string"}}}},
                tool("env"), tool("wait"),
            ], "nextCursor": "2"}),
            (_, Some(_)) => json!({"tools": [
                tool("die"), tool("spawn"), tool("fail"), tool("image"), tool("big"),
            ]}),
        };
        Ok(serde_json::from_value(list).unwrap())
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(call.arguments.unwrap_or_default());
        let text = arguments["text"].as_str().unwrap_or_default();
        let said = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        let result = match call.name.as_ref() {
            "echo" => said(text),
            "env" => said(&std::env::var(text).unwrap_or_else(|_| "unset".to_owned())),
            "fail" => json!({"content": [{"type": "text", "text": "it broke"}], "isError": true}),
            "image" => json!({"content": [
                {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
            ]}),
            "big" => said(&"x".repeat(300_000)),
            "die" => {
                eprintln!("I cannot go on");
                std::process::exit(3);
            }
            "spawn" => said(&self.spawn().to_string()),
            "wait" => {
                note(&self.notes, "waiting");
                context.ct.cancelled().await;
                note(&self.notes, "cancelled");
                said("too late")
            }
            other => return Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        };
        let result: CallToolResult = serde_json::from_value(result).unwrap();
        Ok(CallToolResponse::Complete(result))
    }
}

impl Probe {
    /// Starts a process in our own group that nobody waits for.
    fn spawn(&self) -> u32 {
        let child = process::spawn(Spawn {
            program: "sleep".into(),
            args: vec!["600".into()],
            cwd: "/".into(),
            env: process::base_env(),
            stdin: Stdin::Null,
            stdout: Output::Null,
            stderr: Output::Null,
            group: Group::Session,
        });
        child.unwrap().pid()
    }
}

/// Returns the first fact that begins with this word, without the word, as soon as it is written.
pub(crate) async fn fact(notes: &Path, word: &str) -> String {
    facts(notes, word, 1).await.remove(0)
}

/// Returns the facts that begin with this word as soon as there are so many.
pub(crate) async fn facts(notes: &Path, word: &str, count: usize) -> Vec<String> {
    crate::fake::until(|| {
        let text = std::fs::read_to_string(notes).unwrap_or_default();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let found = whole.lines().filter_map(|line| line.strip_prefix(word));
        let found: Vec<String> = found.map(|rest| rest.trim().to_owned()).collect();
        (found.len() >= count).then_some(found)
    })
    .await
}
