//! The daemon as a whole, in the test's own process: its root with the real store, the real chat
//! server, the native model loop or a scripted program, and the stand-in model.
//!
//! What needs no process of its own is tested here, not in the binary's crate. Each test is given
//! a [`rig::Rig`]; `stories.rs` tells how it is used.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests panic with what they saw")]

mod attempts;
mod bounds;
mod budgets;
mod checkpoint;
mod colleagues;
mod container;
mod deeper;
mod forged;
mod hazards;
mod hooks;
mod inbox;
mod ipc;
mod judges;
mod links;
mod manager;
mod misbehaving;
mod model;
mod orders;
mod pauses;
mod privacy;
mod reminders;
mod restarts;
mod rig;
mod ruled;
mod silence;
mod stories;
mod supervised;
mod wake;
mod watchdog;
mod watermark;
mod whispers;
mod words;
