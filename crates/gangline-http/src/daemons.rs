//! What the interface asks of whoever knows the daemons.

use async_trait::async_trait;
use gangline_api::{budget::Budgets, error::ApiError};
use gangline_core::AgentName;
use gangline_mcp::{ToolSpec, rpc::Call, table::User};
use gangline_os::{CancellationToken, clock::UnixMicros};
use gangline_store::Store;

/// An order of the owner to an agent's daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Shorten the context.
    Compact,
    /// Begin a new conversation.
    NewSession,
    /// Begin no new turn, until then or until `Resume`.
    Pause {
        /// When the pause ends by itself.
        until: Option<UnixMicros>,
    },
    /// Continue.
    Resume,
    /// End the open turn, and an escalation.
    Abort,
}

/// A person's MCP client, by the token that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The agent whose tools it uses.
    pub agent: AgentName,
    /// The token's number; none for the owner's own.
    pub token: Option<i64>,
    /// What the token is for, in the words of who made it.
    pub label: String,
}

impl Client {
    /// Returns which tools it may use: all of a person's by the owner's token, and by a token of its own
    /// those that read and speak.
    #[must_use]
    pub fn user(&self) -> User {
        match self.token {
            None => User::Person,
            Some(_) => User::Program,
        }
    }
}

/// Whoever knows the daemons, the configuration and the chat server.
#[async_trait]
pub trait Daemons: Send + Sync {
    /// Returns which agent is meant by a nick or its short form; by nothing the only one there is.
    ///
    /// # Errors
    /// When there is none of that name, or several.
    fn agent(&self, word: Option<&str>) -> Result<AgentName, ApiError>;

    /// Gives an order; returns once the daemon has it. Without a daemon, pauses and escalations are
    /// changed in the store. Returns what still holds an agent after `resume` or `abort`, and what
    /// helps.
    ///
    /// # Errors
    /// When the daemon refuses, or must run for this and does not.
    async fn order(
        &self,
        store: &Store,
        agent: AgentName,
        order: Order,
    ) -> Result<Option<String>, ApiError>;

    /// Answers what waits under a number, as the owner. Returns what was done.
    ///
    /// # Errors
    /// When nothing waits there, the answer is none, or the daemon refuses.
    async fn answer(&self, store: &Store, number: i64, said: &str) -> Result<String, ApiError>;

    /// Returns the budgets of today and what was spent.
    ///
    /// # Errors
    /// When the configuration or the store cannot be read.
    async fn budgets(&self, store: &Store) -> Result<Budgets, ApiError>;

    /// Returns the tools of a person's client.
    fn tools(&self, user: User) -> Vec<ToolSpec>;

    /// Runs one call. `None` if it was taken back before it had an effect.
    async fn call(
        &self,
        store: &Store,
        client: &Client,
        call: Call,
        taken_back: CancellationToken,
    ) -> Option<Result<String, String>>;
}
