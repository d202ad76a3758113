//! Tests of the leaf with real processes, signals, sockets and locks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "clippy's own exception for tests does not reach the functions that tests share"
)]

mod failpoint;
mod ladder;
mod listen;
mod lock;
mod mark;
mod peer;
mod process;
mod roles;
mod signals;
mod support;
