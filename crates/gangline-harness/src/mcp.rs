//! MCP servers whose tools the model may use (R2-34).
//!
//! Owns their processes and connections. A server is asked for its tools once, before the first
//! request, and they stay as they are (R4-15); one that is late, down or odd is told as a
//! [`McpNotice`] and its tools are absent. Start at [`McpServers::connect`]; one server's life is in
//! `mcp/server.rs`, its connection in `mcp/link.rs`.

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod http;
mod link;
mod names;
mod offer;
mod pump;
mod render;
mod server;
mod unread;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use gangline_os::mcp::McpServer;

use self::server::{Offer, Server};
use crate::tool::{Tool, shorten};

/// How long a server may take to start and to tell its tools.
pub const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How long one call may take.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(600);
/// Longest message that a server may send, in bytes.
const MESSAGE_LIMIT: usize = 16 << 20;
/// How much of a server's own instructions is taken, in bytes.
const INSTRUCTIONS_LIMIT: usize = 8 << 10;

/// A server to be connected, with what only its client decides.
#[derive(Clone, Debug)]
pub struct McpTarget {
    /// The server. Its tools' names begin with `mcp__<key>__`; the key has letters, digits, `-` and
    /// single `_`.
    pub server: McpServer,
    /// The environment of a program, before the server's own variables.
    pub env: Vec<(OsString, OsString)>,
    /// The working folder of a program.
    pub cwd: PathBuf,
    /// How long it may take to start; [`START_TIMEOUT`].
    pub start_timeout: Duration,
    /// How long a call may take; [`CALL_TIMEOUT`]. Progress that it reports does not extend it.
    pub call_timeout: Duration,
}

impl McpTarget {
    /// Returns a server with the usual time limits.
    #[must_use]
    pub fn new(server: McpServer, env: Vec<(OsString, OsString)>, cwd: PathBuf) -> Self {
        let (start_timeout, call_timeout) = (START_TIMEOUT, CALL_TIMEOUT);
        Self { server, env, cwd, start_timeout, call_timeout }
    }

    fn key(&self) -> &str {
        &self.server.key
    }

    /// Returns the whole environment of a program. A variable of its own replaces one of `env`.
    fn environment(&self, own: &BTreeMap<String, String>) -> Vec<(OsString, OsString)> {
        let replaced = |name: &OsString| name.to_str().is_some_and(|name| own.contains_key(name));
        let base = self.env.iter().filter(|(name, _)| !replaced(name)).cloned();
        base.chain(own.iter().map(|(name, value)| (name.into(), value.into()))).collect()
    }
}

/// A server, or something of it, that is not offered to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpNotice {
    /// The server's key.
    pub key: String,
    /// Why, for people.
    pub why: String,
}

impl std::fmt::Display for McpNotice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MCP server {}: {}", self.key, self.why)
    }
}

/// The servers of a session that are connected. Dropping it kills their processes.
#[derive(Default)]
pub struct McpServers {
    servers: Vec<Arc<Server>>,
    tools: Vec<Arc<dyn Tool>>,
    instructions: String,
}

impl McpServers {
    /// Starts or reaches all servers at the same time and asks for their tools. Takes no longer
    /// than the longest `start_timeout`.
    ///
    /// Cancel-safe: dropping the future kills what was started.
    pub async fn connect(targets: Vec<McpTarget>) -> (Self, Vec<McpNotice>) {
        let mut notices = Vec::new();
        let mut keys = BTreeSet::new();
        let mut wanted = Vec::new();
        for target in targets {
            match names::check_key(target.key(), &mut keys) {
                Ok(()) => wanted.push(Server::new(target)),
                Err(why) => notices.push(McpNotice { key: target.server.key, why: why.to_owned() }),
            }
        }
        let offers = join_all(wanted.iter().map(|server| server.start())).await;
        let mut connected = Self::default();
        for (server, offer) in wanted.into_iter().zip(offers) {
            match offer {
                Ok(offer) => connected.add(server, offer, &mut notices),
                Err(error) => notices.push(McpNotice { key: server.key().to_owned(), why: error }),
            }
        }
        (connected, notices)
    }

    fn add(&mut self, server: Server, offer: Offer, notices: &mut Vec<McpNotice>) {
        let server = Arc::new(server);
        let Offer { tools, instructions } = offer;
        let (tools, odd) = offer::usable(&server, tools);
        let key = server.key().to_owned();
        notices.extend(odd.into_iter().map(|why| McpNotice { key: key.clone(), why }));
        if let Some(text) = instructions.filter(|text| !text.trim().is_empty()) {
            let text = shorten(text.trim().to_owned(), INSTRUCTIONS_LIMIT);
            // Writing to a string does not fail.
            let _ = write!(self.instructions, "\n\n## {key}\n\n{text}");
        }
        self.tools.extend(tools);
        self.servers.push(server);
    }

    /// Returns the tools of all servers, in the servers' order.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    /// Returns what the servers say of their use, as a part of a system prompt; empty if they say
    /// nothing.
    pub fn instructions(&self) -> String {
        match self.instructions.as_str() {
            "" => String::new(),
            text => format!("# MCP servers\n\nWhat these servers say of their own tools.{text}"),
        }
    }

    /// Ends all servers at the same time: their input is closed, then they are asked to end, then
    /// killed. Takes a few seconds at most.
    pub async fn stop(self) {
        join_all(self.servers.iter().map(|server| server.stop())).await;
    }
}
