//! The daemon's own tools as an MCP server, for backends that reach tools in no other way.
//!
//! One server belongs to one session of one agent. It is served twice: over streamable HTTP on
//! loopback behind a random token, and over a unix socket in a private folder to which a stdio
//! bridge connects. It offers tools and nothing else, keeps no state of its clients and never
//! speaks unasked. Start at [`ToolServer::start`]; the protocol is [`gangline_mcp::rpc`], what
//! runs a call is in `toolserver/calls.rs`.

mod calls;
mod http;
mod oversize;
pub(crate) mod socket;

use std::{collections::BTreeMap, io, path::Path, sync::Arc, time::Duration};

use gangline_core::{Epoch, TurnId};
use gangline_os::{
    accept::Connections,
    secret::{self, Secret},
    task::TaskGroup,
};
use tokio::{net::UnixStream, sync::watch};
use tracing::debug;

use self::{
    calls::{Caller, Calls},
    socket::SocketFile,
};
use crate::{McpPlace, McpServer, ToolHost};

/// Longest message that a client may send, in bytes.
pub const MESSAGE_MAX: usize = 1 << 20;
/// Calls under way at the same time; the next one is refused.
pub const CALLS_MAX: usize = 16;
/// Connections at the same time, of each kind; the next one waits.
pub const CONNECTIONS_MAX: usize = 32;
const CONNECTIONS: Connections = Connections { most: CONNECTIONS_MAX, of: "tools" };
/// Longest path of a unix socket that every system takes, in bytes.
pub const SOCKET_PATH_MAX: usize = 103;
/// The turn of calls that belong to none.
pub const OUTSIDE: TurnId = TurnId { epoch: Epoch(0), number: 0 };
/// A request over HTTP must be whole, and an answer taken, within this.
const EXCHANGE_WITHIN: Duration = Duration::from_secs(10);

/// A tool server that is served. Dropping it closes its connections and removes its socket; a call
/// that is under way is then given up, though its effect may have happened.
#[derive(Debug)]
pub struct ToolServer {
    key: &'static str,
    port: u16,
    token: Secret,
    socket: SocketFile,
    listed: watch::Receiver<bool>,
    _tasks: TaskGroup,
}

impl ToolServer {
    /// Serves the host's tools on a free port of loopback and at a socket in `folder`, which is
    /// made, or made private, if need be. A call belongs to the turn that is open when it comes;
    /// outside of a turn it is refused. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When the port or the socket cannot be had, for instance because the path of `folder` is
    /// too long for one ([`SOCKET_PATH_MAX`], with 17 bytes for the socket's own name).
    pub fn start(
        host: Arc<dyn ToolHost>,
        turn: watch::Receiver<Option<TurnId>>,
        folder: &Path,
    ) -> io::Result<Self> {
        let key = host.server_key();
        let token = secret::random_token();
        let (http, port) = http::listen()?;
        let (unix, socket) = socket::listen(folder)?;
        let mut tasks = TaskGroup::new("toolserver");
        let (listing, listed) = watch::channel(false);
        let (caller, calls) = Caller::new(host, turn, listing);
        tasks.spawn("tool calls", run(calls));
        let (http_caller, http_token) = (caller.clone(), token.clone());
        tasks.spawn("tools over http", http::serve(http, port, http_token, http_caller));
        tasks.spawn("tools over a socket", socket::serve(unix, caller));
        Ok(Self { key, port, token, socket, listed, _tasks: tasks })
    }

    /// Returns whether some client knows the tools by now, and waits for it on demand.
    pub(crate) fn listed(&self) -> watch::Receiver<bool> {
        self.listed.clone()
    }

    /// Returns the server for backends that take servers over HTTP.
    #[must_use]
    pub fn over_http(&self) -> McpServer {
        let bearer = format!("Bearer {}", self.token.expose());
        self.offered(McpPlace::Http {
            url: format!("http://127.0.0.1:{}{}", self.port, http::PATH),
            headers: BTreeMap::from([("Authorization".to_owned(), bearer)]),
        })
    }

    /// Returns the server for backends that start servers themselves: `bridge` with the socket's
    /// path behind it. `None` if there is no bridge.
    #[must_use]
    pub fn over_stdio(&self, bridge: &[String]) -> Option<McpServer> {
        if bridge.is_empty() {
            return None;
        }
        let mut command = bridge.to_vec();
        command.push(self.socket.path().display().to_string());
        Some(self.offered(McpPlace::Stdio { command, env: BTreeMap::new() }))
    }

    /// Serves a host's tools on one connection, until its other end has said everything and has
    /// what it asked for. For whoever is in no turn: all calls carry the turn [`OUTSIDE`].
    ///
    /// # Errors
    /// What the connection says, and that its other end does not read.
    pub async fn serve_one(host: Arc<dyn ToolHost>, stream: UnixStream) -> io::Result<()> {
        let (_, outside) = watch::channel(Some(OUTSIDE));
        let (listing, _) = watch::channel(false);
        let mut tasks = TaskGroup::new("toolserver");
        let (caller, calls) = Caller::new(host, outside, listing);
        tasks.spawn("tool calls", run(calls));
        socket::serve_one(stream, caller).await
    }

    fn offered(&self, place: McpPlace) -> McpServer {
        McpServer { key: self.key.to_owned(), place, allowed_tools: vec!["*".to_owned()] }
    }
}

/// Runs calls, and logs why that ended.
async fn run(calls: Calls) {
    let end = calls.run().await;
    debug!(?end, "no more calls of tools are run");
}
