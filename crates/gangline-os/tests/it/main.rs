//! Tests of the leaf with real processes, signals, sockets and locks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "clippy's own exception for tests does not reach the functions that tests share"
)]

mod failpoint;
mod kill_policy;
mod listen;
mod lock;
mod peer;
mod process;
mod roles;
mod run_id;
mod signals;
mod support;
