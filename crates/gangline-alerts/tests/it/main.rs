//! The sender against a real server on loopback, well behaved and hostile (R1-40, R1-41, C17).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod page;
mod posting;
mod sending;
mod support;
