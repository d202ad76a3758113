//! The adapters against the stand-in model, over real HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "only tests")]

mod claude;
mod conformance;
mod native;
mod toolserver;
