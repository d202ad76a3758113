//! The harness against scripted servers that play the Messages API.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "all of this is test code"
)]

mod cancel;
mod compact;
mod failures;
mod fake;
mod handlers;
mod http;
mod instructions;
mod mcp;
mod prompts;
mod resume;
mod steer;
mod stops;
mod tools;
