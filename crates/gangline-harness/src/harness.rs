//! The harness: one conversation, at most one prompt at a time (R4-06 … R4-09).
//!
//! Start at [`Harness::prompt`]; the loop itself is in [`turn`], what can be added to a running
//! prompt in [`steer`], what is done about a long conversation in [`care`] and [`compact`].

mod care;
mod compact;
mod steer;
mod transcript;
mod turn;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gangline_os::CancellationToken;
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;

pub use self::care::ClearError;
pub use self::steer::{SteerError, Steered};

use crate::authorize::Authorizer;
use crate::client::error::ApiError;
use crate::client::{Client, ClientError};
use crate::config::{Config, Thinking};
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
    thinking: Arc<Mutex<Thinking>>,
    history: Arc<tokio::sync::Mutex<History>>,
    current: Arc<Mutex<Option<Running>>>,
}

/// What runs.
struct Running {
    cancel: CancellationToken,
    work: Work,
    steers: steer::Queue,
}

/// What the harness is reserved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// A prompt, which can be steered.
    Prompt,
    /// Anything else.
    Care,
}

/// What does not change in a harness's life.
struct Parts {
    config: Config,
    client: Arc<Client>,
    tools: Vec<Arc<dyn Tool>>,
    /// Made at the first request: an agent that is never asked keeps no second copy of all schemas.
    declared: OnceLock<Vec<Value>>,
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
    /// Text of the last response, and of those that were cut off and that it goes on with; empty if
    /// there is none.
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
        let client =
            Client::new(&config).map_err(|e: ClientError| BuildError::Client(Box::new(e)))?;
        let handler = handler.unwrap_or_else(|| Arc::new(Silent));
        let model = Arc::new(Mutex::new(config.model.clone()));
        let thinking = Arc::new(Mutex::new(config.thinking));
        let parts = Parts::new(config, Arc::new(client), tools, handler)?;
        Ok(Self {
            parts: Arc::new(parts),
            authorizer: None,
            model,
            thinking,
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

    /// Adds tools, and instructions at the end of the system prompt. To be done before the first
    /// prompt: tools are constant for a session (R4-15). Older clones keep what they had.
    ///
    /// # Errors
    /// [`BuildError::SameName`].
    pub fn extended(
        mut self,
        tools: Vec<Arc<dyn Tool>>,
        instructions: &str,
    ) -> Result<Self, BuildError> {
        let Parts { config, client, tools: had, handler, .. } = self.parts.as_ref();
        let mut config = config.clone();
        if !instructions.trim().is_empty() {
            let before = config.system_prompt.trim_end();
            let between = if before.is_empty() { "" } else { "\n\n" };
            config.system_prompt = format!("{before}{between}{}", instructions.trim());
        }
        let tools = had.iter().cloned().chain(tools).collect();
        let parts = Parts::new(config, Arc::clone(client), tools, Arc::clone(handler))?;
        self.parts = Arc::new(parts);
        Ok(self)
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
        self.reserve_for(Work::Prompt)
    }

    fn reserve_for(&self, work: Work) -> Result<Reservation, PromptError> {
        let Ok(history) = Arc::clone(&self.history).try_lock_owned() else {
            return Err(PromptError::Busy);
        };
        let cancel = CancellationToken::new();
        let running = Running { cancel: cancel.clone(), work, steers: steer::Queue::default() };
        *self.current() = Some(running);
        Ok(Reservation { harness: self.clone(), history, cancel })
    }

    /// Adds a person's text to the running prompt: the model sees it with its next request, after
    /// the results of the tools that run now. What the prompt's end leaves over was not taken;
    /// [`Steered::taken`] tells.
    ///
    /// # Errors
    /// [`SteerError`] if there is no prompt, no text, or no room in the queue.
    pub fn steer(&self, text: &str) -> Result<Steered, SteerError> {
        match self.current().as_mut() {
            Some(Running { work: Work::Prompt, steers, .. }) => steers.push(text),
            Some(Running { work: Work::Care, .. }) | None => Err(SteerError::Idle),
        }
    }

    /// Ends the running prompt or shortening; does nothing if there is none (R4-09).
    pub fn cancel(&self) {
        if let Some(running) = self.current().as_ref() {
            running.cancel.cancel();
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

    /// Returns the model in force, an id or an alias.
    pub fn model(&self) -> String {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Thinks like this from the next request on, also in a running prompt. Returns whether that is
    /// another way than before.
    pub fn set_thinking(&self, thinking: Thinking) -> bool {
        let mut now = self.thinking.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *now, thinking) != thinking
    }

    /// Returns the thinking in force.
    pub fn thinking(&self) -> Thinking {
        *self.thinking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the whole conversation, whatever of it is still sent; nothing while a prompt is
    /// running.
    pub fn messages(&self) -> Option<Vec<Message>> {
        self.history.try_lock().ok().map(|history| history.messages().to_vec())
    }

    /// Returns the id of the session log; nothing without one, or while a prompt is running.
    pub fn session_id(&self) -> Option<String> {
        self.history.try_lock().ok().and_then(|history| history.id().map(str::to_owned))
    }

    fn current(&self) -> std::sync::MutexGuard<'_, Option<Running>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the configuration with the model and the thinking in force.
    fn request_config(&self) -> Config {
        Config { model: self.model(), thinking: self.thinking(), ..self.parts.config.clone() }
    }
}

impl Parts {
    fn new(
        config: Config,
        client: Arc<Client>,
        tools: Vec<Arc<dyn Tool>>,
        handler: Arc<dyn EventHandler>,
    ) -> Result<Self, BuildError> {
        let mut names = BTreeSet::new();
        if let Some(tool) = tools.iter().find(|tool| !names.insert(tool.name().to_owned())) {
            return Err(BuildError::SameName(tool.name().to_owned()));
        }
        Ok(Self { config, client, tools, declared: OnceLock::new(), handler })
    }

    /// Returns the tools as they are declared to the API: the same in each request (R4-15).
    fn declared(&self) -> &[Value] {
        self.declared.get_or_init(|| self.tools.iter().map(|tool| declare(tool.as_ref())).collect())
    }
}

/// The right to run one prompt. While it exists, others are refused as busy. Texts that were given
/// to [`Harness::steer`] meanwhile and not taken end with it.
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
        // Before `history` is unlocked, so that it cannot clear a successor's.
        *self.harness.current() = None;
    }
}
