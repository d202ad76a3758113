//! The store as its users see it: its contract, several processes, crashes, damage.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests panic, and children speak to their parent on stdout"
)]

mod child;
mod contract;
mod crashes;
mod damage;
mod order;
mod processes;
mod support;
