//! Behaviour of the wire types and of the configuration, seen from outside.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod config_errors;
mod config_good;
mod config_random;
mod import;
mod import_errors;
mod import_random;
mod ipc;
mod mcp_servers;
mod wire;
