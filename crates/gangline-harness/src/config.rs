//! What a harness is told at its start.

use std::path::PathBuf;
use std::time::Duration;

use gangline_os::secret::Secret;

use crate::models;

/// Configuration of one [`Harness`](crate::Harness) (R4-01).
#[derive(Clone, Debug)]
pub struct Config {
    /// Key sent as `x-api-key`.
    pub api_key: Secret,
    /// A model id or an alias of [`models`]; default [`models::DEFAULT`].
    pub model: String,
    /// Most tokens of one response; default 4096.
    pub max_tokens: u32,
    /// Instructions for the model; empty means none are sent.
    pub system_prompt: String,
    /// Most requests for one prompt (retries not counted); default 10.
    pub max_turns: u32,
    /// Where the API is, without `/v1/messages`; default `https://api.anthropic.com`.
    pub base_url: String,
    /// Extended thinking; default off.
    pub thinking: Thinking,
    /// When and how long a failed request is repeated.
    pub retry: RetryPolicy,
    /// Bounds on what the far side may send.
    pub limits: Limits,
    /// Where tools work; relative paths start here. Default `.`.
    pub cwd: PathBuf,
    /// Files and folders that searches leave out, links resolved: all else about what may be used is
    /// the [`Authorizer`](crate::Authorizer)'s. Default none.
    pub closed: Vec<PathBuf>,
    /// How often in one prompt a response that was cut off at `max_tokens` is asked to go on;
    /// default 0, and the prompt ends with [`StopReason::MaxTokens`](crate::StopReason).
    pub continuations: u32,
    /// What is done when the conversation no longer fits the model; default
    /// [`Overflow::Compact`].
    pub overflow: Overflow,
}

impl Config {
    /// Returns the defaults of R4-01 with this key.
    pub fn new(api_key: Secret) -> Self {
        Self {
            api_key,
            model: models::DEFAULT.to_owned(),
            max_tokens: 4096,
            system_prompt: String::new(),
            max_turns: 10,
            base_url: "https://api.anthropic.com".to_owned(),
            thinking: Thinking::Off,
            retry: RetryPolicy::default(),
            limits: Limits::default(),
            cwd: PathBuf::from("."),
            closed: Vec::new(),
            continuations: 0,
            overflow: Overflow::Compact,
        }
    }
}

/// Whether and how the model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// Nothing is asked for.
    Off,
    /// The model decides how much.
    Adaptive,
    /// At most so many tokens; added to `max_tokens`, because the API counts them together.
    Budget(u32),
    /// As hard as this, in whatever way the model takes it ([`models::TABLE`]); for a model that is
    /// not in the table nothing is asked for (R0-65).
    Level(Level),
}

/// How hard a model thinks (R0-65).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Not, or as little as the model can.
    Off,
    /// A little.
    Low,
    /// As it is usual.
    Medium,
    /// Hard.
    High,
}

impl Level {
    /// Reads the word of a configuration: `off`, `low`, `medium` or `high`.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "off" => Some(Self::Off),
            "low" => Some(Self::Low),
            "medium" => Some(Self::Medium),
            "high" => Some(Self::High),
            _ => None,
        }
    }
}

/// What is done when the conversation no longer fits the model's context (R2-08, C13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// It is shortened once, and the prompt goes on.
    Compact,
    /// The prompt fails.
    Fail,
}

/// When a failed request is repeated. A response of which a block was completed never is:
/// the event handler has seen that block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Most repetitions of one request; default 5.
    pub max_retries: u32,
    /// Longest sum of pauses for one request; default 2 minutes. A `retry-after` beyond what is
    /// left ends the request at once.
    pub max_total_wait: Duration,
    /// First pause, doubled each time, ± 25 %; default 500 ms.
    pub first_wait: Duration,
    /// Longest single pause of our own choosing; default 30 s.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 5,
            max_total_wait: Duration::from_secs(120),
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(30),
        }
    }
}

/// Bounds on one response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest silence of the far side, before the headers and between two chunks; default 120 s.
    pub idle: Duration,
    /// Most bytes of one event; default 16 MiB.
    pub event_bytes: usize,
    /// Most bytes of one response; default 64 MiB.
    pub response_bytes: usize,
    /// How long a tool that was told to stop may take before its future is dropped; default 3 s.
    pub tool_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(120),
            event_bytes: 16 << 20,
            response_bytes: 64 << 20,
            tool_grace: Duration::from_secs(3),
        }
    }
}
