//! Tools that the daemon offers to a backend that can call them in-process.

use async_trait::async_trait;
use gangline_core::{TurnId, whisper::WhisperRoad};
use gangline_mcp::{SERVER_KEY, ToolSpec};
use gangline_os::CancellationToken;
use tokio::sync::oneshot;

/// One call of such a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The turn it happens in.
    pub turn: TurnId,
    /// The backend's id of the call: the same call replayed has the same id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    pub input: serde_json::Value,
}

/// What the model is told beside a result, and nobody else (R1-33).
///
/// Dropped without [`Aside::arrived`], it was not told, and is told another time.
#[derive(Debug)]
pub struct Aside {
    text: String,
    told: oneshot::Sender<()>,
}

impl Aside {
    /// Makes one; `told` hears that it was written for the model.
    #[must_use]
    pub fn new(text: String, told: oneshot::Sender<()>) -> Self {
        Self { text, told }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// It is written.
    pub fn arrived(self) {
        // Nobody may be left to hear it.
        let _ = self.told.send(());
    }

    /// Returns an outcome with the text in front of it (R1-17).
    pub(crate) fn before(&self, outcome: Result<String, String>) -> Result<String, String> {
        let before = |result: String| format!("{}\n{result}", self.text);
        outcome.map(before).map_err(before)
    }
}

/// Takes what is to be told in front of a result. A result that is an object of data has no place for
/// it: programs may show that data alone.
pub(crate) async fn aside(
    host: &dyn ToolHost,
    turn: TurnId,
    outcome: &Result<String, String>,
) -> Option<Aside> {
    match outcome {
        Ok(text) if text.trim_start().starts_with('{') => None,
        Ok(_) | Err(_) => host.aside(turn, WhisperRoad::Tool).await,
    }
}

/// Answers tool calls from inside the daemon.
#[async_trait]
pub trait ToolHost: Send + Sync {
    /// Returns the tools, constant for the life of a session.
    fn tools(&self) -> Vec<ToolSpec>;

    /// Returns the key of the server under which backends know these tools: the model calls them
    /// `mcp__<key>__<tool>` where its backend does so (C35). One of those that need no permission.
    fn server_key(&self) -> &'static str {
        SERVER_KEY
    }

    /// Runs one call; returns after its effect is durable. Not cancel-safe: the effect may have
    /// happened although the caller went away.
    ///
    /// # Errors
    /// A line for the model that says what to do instead.
    async fn call(&self, call: ToolCall) -> Result<String, String>;

    /// Takes what the model is to be told beside a result, by this road, in this turn; `None` if there
    /// is nothing. Cancel-safe: yes.
    async fn aside(&self, _turn: TurnId, _road: WhisperRoad) -> Option<Aside> {
        None
    }

    /// Runs one call that its client may take back, by `taken_back`. Returns `None` if it was taken
    /// back before it had an effect; one that has had its effect is answered as any other.
    async fn call_unless(
        &self,
        call: ToolCall,
        taken_back: CancellationToken,
    ) -> Option<Result<String, String>> {
        if taken_back.is_cancelled() { None } else { Some(self.call(call).await) }
    }
}

/// The host of a session that is offered no tools.
#[derive(Debug, Clone, Copy)]
pub struct NoTools;

#[async_trait]
impl ToolHost for NoTools {
    fn tools(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    async fn call(&self, call: ToolCall) -> Result<String, String> {
        Err(format!("there is no tool {}: this session has none", call.name))
    }
}
