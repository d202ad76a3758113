//! The harness: one conversation, at most one prompt at a time (R4-06 … R4-09).
//!
//! Start at [`Harness::prompt`]; the loop itself is in [`turn`].

mod turn;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gangline_os::CancellationToken;
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;

use crate::authorize::Authorizer;
use crate::client::error::ApiError;
use crate::client::{Client, ClientError};
use crate::config::Config;
use crate::event::{EventHandler, Silent, Status};
use crate::history::History;
use crate::session::SessionError;
use crate::tool::Tool;
use crate::wire::{Message, Usage, declare};

/// A conversation with a model and the tools it may use. Clones are the same conversation.
#[derive(Clone)]
pub struct Harness {
    parts: Arc<Parts>,
    authorizer: Option<Arc<dyn Authorizer>>,
    model: Arc<Mutex<String>>,
    history: Arc<tokio::sync::Mutex<History>>,
    current: Arc<Mutex<Option<CancellationToken>>>,
}

/// What does not change in a harness's life.
struct Parts {
    config: Config,
    client: Client,
    tools: Vec<Arc<dyn Tool>>,
    declared: Vec<Value>,
    handler: Arc<dyn EventHandler>,
}

/// Why a harness could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The API client could not be set up: a bad key, a bad address, no root certificates.
    #[error("cannot set up the API client")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Two tools have the same name.
    #[error("two tools are named `{0}`")]
    SameName(String),
}

/// Why a prompt had no good end. The conversation is valid after each of them.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// Another prompt is running (C23).
    #[error("another prompt is running")]
    Busy,
    /// The prompt has no text.
    #[error("the prompt is empty")]
    Empty,
    /// [`Harness::cancel`] was called.
    #[error("the prompt was cancelled")]
    Cancelled,
    /// The API failed, and repeating did not help or was not possible.
    #[error("cannot get a response")]
    Api(#[source] ApiError),
    /// The session log failed; nothing that it does not hold was told to the handler.
    #[error("cannot keep the session")]
    Session(#[from] SessionError),
}

/// How a prompt ended well.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Why the loop ended.
    pub stop: StopReason,
    /// Sum over all requests of the prompt, failed ones included as far as they told.
    pub usage: Usage,
    /// Tokens of the context that the last request took, for gauges.
    pub context_tokens: u64,
    /// Text of the last response, empty if it had none.
    pub final_text: String,
}

/// Why the loop ended (R4-16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model called no tool.
    EndTurn,
    /// [`Config::max_turns`] requests were made and the model still called tools (C27).
    MaxTurns,
    /// The response reached [`Config::max_tokens`] without a tool call.
    MaxTokens,
    /// The model declined.
    Refusal,
    /// A reason that this version does not know, in the API's words.
    Other(String),
}

impl Harness {
    /// Makes a harness with an empty conversation that is kept in memory only.
    pub fn new(
        config: Config,
        tools: Vec<Arc<dyn Tool>>,
        handler: Option<Arc<dyn EventHandler>>,
    ) -> Result<Self, BuildError> {
        let mut names = BTreeSet::new();
        if let Some(tool) = tools.iter().find(|tool| !names.insert(tool.name().to_owned())) {
            return Err(BuildError::SameName(tool.name().to_owned()));
        }
        let client =
            Client::new(&config).map_err(|e: ClientError| BuildError::Client(Box::new(e)))?;
        let declared = tools.iter().map(|tool| declare(tool.as_ref())).collect();
        let handler = handler.unwrap_or_else(|| Arc::new(Silent));
        let model = Arc::new(Mutex::new(config.model.clone()));
        Ok(Self {
            parts: Arc::new(Parts { config, client, tools, declared, handler }),
            authorizer: None,
            model,
            history: Arc::default(),
            current: Arc::default(),
        })
    }

    /// Asks this authorizer before each tool call.
    #[must_use]
    pub fn authorized_by(mut self, authorizer: Arc<dyn Authorizer>) -> Self {
        self.authorizer = Some(authorizer);
        self
    }

    /// Takes up the session log of this path, or begins one. Tool calls that were open are
    /// answered with errors: whether they had an effect is not known. Older clones keep the
    /// conversation that they had. One log has one harness; the caller sees to that.
    pub fn resume(mut self, path: &Path) -> Result<Self, SessionError> {
        self.history = Arc::new(tokio::sync::Mutex::new(History::resume(path)?));
        self.current = Arc::default();
        Ok(self)
    }

    /// Submits a prompt and runs the loop to its end (R4-07).
    ///
    /// Cancel-safe: dropping the future kills a running tool and leaves a conversation that the
    /// next prompt repairs; [`cancel`](Self::cancel) is the polite way.
    pub async fn prompt(&self, content: &str) -> Result<Finished, PromptError> {
        self.reserve()?.run(content).await
    }

    /// Takes the harness for one prompt without starting it; [`PromptError::Busy`] if it is taken.
    pub fn reserve(&self) -> Result<Reservation, PromptError> {
        let Ok(history) = Arc::clone(&self.history).try_lock_owned() else {
            return Err(PromptError::Busy);
        };
        let cancel = CancellationToken::new();
        *self.current() = Some(cancel.clone());
        Ok(Reservation { harness: self.clone(), history, cancel })
    }

    /// Ends the running prompt; does nothing if there is none (R4-09).
    pub fn cancel(&self) {
        if let Some(cancel) = self.current().as_ref() {
            cancel.cancel();
        }
    }

    /// Returns whether a prompt is running or reserved.
    pub fn is_busy(&self) -> bool {
        self.current().is_some()
    }

    /// Uses another model, an id or an alias, from the next request on.
    pub fn set_model(&self, model: &str) {
        model.clone_into(&mut self.model.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns the conversation, or nothing while a prompt is running.
    pub fn messages(&self) -> Option<Vec<Message>> {
        self.history.try_lock().ok().map(|history| history.messages().to_vec())
    }

    /// Returns the id of the session log; nothing without one, or while a prompt is running.
    pub fn session_id(&self) -> Option<String> {
        self.history.try_lock().ok().and_then(|history| history.id().map(str::to_owned))
    }

    fn current(&self) -> std::sync::MutexGuard<'_, Option<CancellationToken>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the configuration with the model in force.
    fn request_config(&self) -> Config {
        let model = self.model.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Config { model, ..self.parts.config.clone() }
    }
}

/// The right to run one prompt. While it exists, others are refused as busy.
pub struct Reservation {
    harness: Harness,
    history: OwnedMutexGuard<History>,
    cancel: CancellationToken,
}

impl Reservation {
    /// Runs the prompt; see [`Harness::prompt`].
    pub async fn run(mut self, content: &str) -> Result<Finished, PromptError> {
        if content.trim().is_empty() {
            return Err(PromptError::Empty);
        }
        let outcome = turn::run(&self.harness, &mut self.history, &self.cancel, content).await;
        // Whoever hears "idle" may prompt at once, so the harness is given back first.
        let harness = self.harness.clone();
        drop(self);
        let message = turn::idle_message(&harness, &outcome);
        harness.parts.handler.on_status(Status::Idle, &message);
        outcome
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // Before `history` is unlocked, so that it cannot clear a successor's token.
        *self.harness.current() = None;
    }
}
