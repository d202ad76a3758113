//! Test support that works on binaries and sockets, never on our own types.
//!
//! Blocking on purpose: a test reads as a story, and a deadline sits on every wait. It panics
//! with what it saw, since only tests call it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "only tests")]

pub mod cable;
pub mod database;
pub mod hostile;
pub mod impostor;
pub mod irc;
pub mod ircd;
pub mod manager;
pub mod mcp;
pub mod programs;
pub mod seeds;
pub mod services;
pub mod stage;
pub mod tls;
pub mod wait;
pub mod webhooks;
pub mod world;

pub use cable::Cable;
pub use impostor::Impostor;
pub use irc::IrcPeer;
pub use ircd::{Inspircd, Ircd, Ngircd};
pub use manager::ServiceManager;
pub use stage::Stage;
pub use wait::{eventually, eventually_seeing, eventually_within};
pub use webhooks::{HookReply, HookRequest, HookServer};
pub use world::{Ran, Running, World};
