//! One server: its connection, made at the start and once more before a call when it is gone.

use std::time::Duration;

use gangline_os::CancellationToken;
use gangline_os::mcp::McpPlace;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, PaginatedRequestParams,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::McpTarget;
use super::link::{Link, LinkError, why_lost, with_causes};

/// How many tools of one server are offered.
pub(super) const TOOLS_LIMIT: usize = 256;

/// What a server told at its start.
pub(super) struct Offer {
    pub(super) tools: Vec<rmcp::model::Tool>,
    pub(super) instructions: Option<String>,
}

/// Why a call gave no result. The text is for the model.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("cancelled")]
    Cancelled,
    #[error("the MCP server {key} is not running and cannot be started: {why}")]
    Down { key: String, why: String },
    #[error(
        "the MCP server {key} gave no result within {limit:?}; the call was given up, and whether \
         it had an effect is not known"
    )]
    TimedOut { key: String, limit: Duration },
    #[error(
        "the connection to the MCP server {key} was lost during the call, and whether it had an \
         effect is not known{why}; the next call makes a new one"
    )]
    Lost { key: String, why: String },
    #[error("the MCP server {key} refused the call: {why}")]
    Refused { key: String, why: String },
}

/// A server and its connection.
pub(super) struct Server {
    target: McpTarget,
    /// Held while a connection is made, not during calls.
    state: Mutex<State>,
}

#[derive(Default)]
enum State {
    /// There is no connection; a call makes one.
    #[default]
    Down,
    Up(Box<Link>),
    /// The session has ended, and no connection is made any more.
    Stopped,
}

impl State {
    fn take(&mut self) -> Option<Box<Link>> {
        match std::mem::take(self) {
            Self::Up(link) => Some(link),
            Self::Down => None,
            Self::Stopped => {
                *self = Self::Stopped;
                None
            }
        }
    }
}

impl Server {
    pub(super) fn new(target: McpTarget) -> Self {
        Self { target, state: Mutex::default() }
    }

    pub(super) fn key(&self) -> &str {
        self.target.key()
    }

    /// Makes the connection and asks for the tools; an error is for people. Cancel-safe: dropping
    /// the future kills what was started.
    pub(super) async fn start(&self) -> Result<Offer, String> {
        let limit = self.target.start_timeout;
        let late = || format!("it is not ready after {limit:?}; its tools are absent");
        let opening = async {
            let mut link = Link::open(&self.target).await.map_err(|error| self.why(&error))?;
            match tools(link.peer()).await {
                Ok(tools) => Ok((tools, link)),
                Err(error) => {
                    let why = self.masked(why_lost(&error));
                    Err(format!("it does not tell its tools: {why}{}", link.last_words().await))
                }
            }
        };
        let opened = tokio::time::timeout(limit, opening).await.map_err(|_elapsed| late())?;
        let (tools, link) = opened?;
        let instructions = link.instructions();
        *self.state.lock().await = State::Up(Box::new(link));
        Ok(Offer { tools, instructions })
    }

    /// Calls a tool; what the server answers is returned as it is. A connection that is gone is
    /// made anew first, once.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, CallError> {
        let peer = cancel.run_until_cancelled(self.peer()).await.ok_or(CallError::Cancelled)??;
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let limit = self.target.call_timeout;
        // Dropped in the middle, the call tells the server that it is cancelled.
        let answer = tokio::time::timeout(limit, peer.call_tool_once(params));
        let answer = cancel.run_until_cancelled(answer).await.ok_or(CallError::Cancelled)?;
        let key = || self.target.key().to_owned();
        let refused = |why: &str| CallError::Refused { key: key(), why: why.to_owned() };
        match answer {
            Err(_elapsed) => Err(CallError::TimedOut { key: key(), limit }),
            Ok(Ok(CallToolResponse::Complete(result))) => Ok(result),
            Ok(Ok(CallToolResponse::InputRequired(_))) => {
                Err(refused("it asks for input that nobody can give here"))
            }
            Ok(Ok(_)) => Err(refused("it answers with a task, which is not supported")),
            Ok(Err(ServiceError::McpError(error))) => Err(refused(&error.message)),
            Ok(Err(error)) => Err(self.lost(&error).await),
        }
    }

    /// Says why the connection was lost, and ends it, so that the next call makes a new one.
    async fn lost(&self, error: &ServiceError) -> CallError {
        let mut why = format!(": {}", self.masked(why_lost(error)));
        if let Some(mut link) = self.state.lock().await.take() {
            why.push_str(&link.last_words().await);
            link.end().await;
        }
        CallError::Lost { key: self.target.key().to_owned(), why }
    }

    /// Returns a connection that lives.
    async fn peer(&self) -> Result<Peer<RoleClient>, CallError> {
        let down = |why: String| CallError::Down { key: self.target.key().to_owned(), why };
        let mut state = self.state.lock().await;
        if let State::Up(link) = &mut *state {
            if link.is_alive() {
                return Ok(link.peer().clone());
            }
            tracing::warn!(
                server = self.target.key(),
                "an MCP server is gone and is started again"
            );
            link.end().await;
            *state = State::Down;
        }
        if matches!(*state, State::Stopped) {
            return Err(down("the session has ended".to_owned()));
        }
        let opening = tokio::time::timeout(self.target.start_timeout, Link::open(&self.target));
        let link = match opening.await {
            Ok(opened) => opened.map_err(|error| down(self.why(&error)))?,
            Err(_elapsed) => return Err(down("it takes too long".to_owned())),
        };
        let peer = link.peer().clone();
        *state = State::Up(Box::new(link));
        Ok(peer)
    }

    /// Ends the connection, and the program if it is one.
    pub(super) async fn stop(&self) {
        if let State::Up(mut link) =
            std::mem::replace(&mut *self.state.lock().await, State::Stopped)
        {
            link.end().await;
        }
    }

    fn why(&self, error: &LinkError) -> String {
        self.masked(with_causes(error))
    }

    /// Returns a text without the server's address: it may hold a key.
    fn masked(&self, text: String) -> String {
        match &self.target.server.place {
            McpPlace::Stdio { .. } => text,
            McpPlace::Http { url, .. } => {
                let written = reqwest::Url::parse(url).map(String::from).unwrap_or_default();
                let text = text.replace(url.as_str(), "its address");
                if written.is_empty() { text } else { text.replace(&written, "its address") }
            }
        }
    }
}

/// Returns the tools of a server, a few more than are taken at most.
async fn tools(peer: &Peer<RoleClient>) -> Result<Vec<rmcp::model::Tool>, ServiceError> {
    let mut tools = Vec::new();
    let mut page = None;
    loop {
        let listed = peer.list_tools(page).await?;
        tools.extend(listed.tools);
        match listed.next_cursor {
            Some(cursor) if tools.len() <= TOOLS_LIMIT => {
                page = Some(PaginatedRequestParams::default().with_cursor(Some(cursor)));
            }
            Some(_) | None => return Ok(tools),
        }
    }
}
