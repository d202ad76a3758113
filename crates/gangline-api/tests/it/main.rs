//! Behaviour of the wire types, seen from outside.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod ipc;
mod wire;
