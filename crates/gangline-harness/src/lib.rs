//! The native model loop: Messages API client, tools, event handler, HTTP wire.
//!
//! Owns a conversation and its session log; knows nothing of chat, daemons or the broker.
//! Start at [`Harness`]; what it tells is [`EventHandler`], what it may do is [`Tool`] and
//! [`Authorizer`], the HTTP wire is [`http`].

mod authorize;
mod client;
mod config;
mod event;
mod harness;
mod history;
pub mod http;
pub mod models;
mod retry;
mod session;
mod tool;
pub mod tools;
mod wire;

pub use authorize::{Authorization, Authorizer};
pub use client::error::{ApiError, ApiErrorKind};
pub use config::{Config, Limits, RetryPolicy, Thinking};
pub use event::{EventHandler, Fanout, Retry, Status};
pub use harness::{BuildError, Finished, Harness, PromptError, Reservation, StopReason};
pub use session::SessionError;
pub use tool::{Tool, ToolCall, ToolContext, ToolError, ToolResult};
pub use wire::{Block, Message, Response, Role, Usage};
