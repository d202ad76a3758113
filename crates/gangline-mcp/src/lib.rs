//! The server's side of MCP: messages in, answers out, and the tools that are offered.
//!
//! Pure. How messages travel and what runs a call is its users' business: the tool server in
//! `gangline-runtime` and `gangline mcp`. The client's side is in `gangline-harness`. Start at
//! [`rpc::reply`]; all tools are in [`table`].

pub mod oversize;
pub mod rpc;
pub mod table;
mod tool;

pub use tool::{SERVER_KEY, ToolSpec};
