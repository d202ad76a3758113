//! The configuration as its users see it: what is read, refused, warned of and imported.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod config_docs;
mod config_errors;
mod config_good;
mod config_random;
mod import;
mod import_errors;
mod import_random;
mod mcp_servers;
mod pages;
