//! The adapters against the stand-in model, over real HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "only tests")]

mod acp;
mod claude;
mod codex;
mod conformance;
mod driven;
mod effort;
mod halves;
mod native;
mod rig;
mod tmux;
mod toolserver;
