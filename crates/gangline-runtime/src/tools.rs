//! Tools that the daemon offers to a backend that can call them in-process.

use async_trait::async_trait;
use gangline_core::TurnId;
use gangline_mcp::{SERVER_KEY, ToolSpec};
use gangline_os::CancellationToken;

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
