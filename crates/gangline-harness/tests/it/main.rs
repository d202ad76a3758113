//! The harness against scripted servers that play the Messages API.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "all of this is test code")]

mod cancel;
mod failures;
mod fake;
mod http;
mod prompts;
mod resume;
mod tools;
