//! The native model loop: Messages API client, tools, event handler, HTTP wire.
//!
//! Owns a conversation and its session log; knows nothing of chat, daemons or the store.
//! Start at [`Harness`]; what it tells is [`EventHandler`], what it may do is [`Tool`] and
//! [`Authorizer`], the HTTP wire is [`http`]. Tools of other programs come from [`mcp`], instructions
//! in files and skills from [`instructions`]; both are added by [`Harness::extended`] or
//! [`Config::system_prompt`] before the first prompt.

mod authorize;
mod client;
mod compaction;
mod config;
mod event;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod harness;
mod history;
pub mod http;
pub mod instructions;
pub mod mcp;
pub mod models;
mod retry;
mod session;
mod tool;
pub mod tools;
mod wire;

pub use authorize::{Authorization, Authorizer};
pub use client::error::{ApiError, ApiErrorKind};
pub use compaction::{CompactError, Compacted, Compaction};
pub use config::{Config, Level, Limits, Overflow, RetryPolicy, Thinking};
pub use event::{EventHandler, Fanout, Retry, Status};
pub use harness::{
    BuildError, ClearError, Finished, Harness, PromptError, Reservation, SteerError, Steered,
    StopReason,
};
pub use session::SessionError;
pub use tool::{Tool, ToolCall, ToolContext, ToolError, ToolResult};
pub use wire::{Block, Message, Response, Role, Usage};
