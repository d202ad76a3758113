//! The relay between a client and an API: real sockets on both sides.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod bounds;
mod counted;
mod stage;
mod streamed;
mod tls;
