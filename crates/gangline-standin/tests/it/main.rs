//! The stand-in as a server: what a client on the other end of a socket sees.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod peer;
mod records;
mod server;
mod vendors;
