//! Integration tests of the crate: one binary.

mod client;
mod client_peer;
mod server;
