//! The hub's HTTP interface: programs wake agents, the owner gives orders, MCP clients outside use an
//! agent's tools.
//!
//! Every request passes the same gate: the host must be this machine's own, no foreign page may have
//! sent it, and what it asks for needs the owner's token or one that was made for it. It owns the
//! listener and its connections, which are bounded; what only daemons and the chat server can do is
//! asked of [`Daemons`]. Start at [`run`]; the routes are in `router.rs`.

mod attention;
mod budgets;
mod calls;
mod crowd;
mod daemons;
mod gate;
mod keys;
mod mcp;
mod openapi;
mod orders;
mod paths;
mod refusal;
mod router;
mod server;
mod shared;
mod wake;
mod watch;
mod whisper;

pub use daemons::{Client, Daemons, Order};
pub use server::{Ended, Options, Standing, run};

/// The largest body of a wake, in bytes. An order's is not read.
pub const BODY_MAX: usize = 64 * 1024;
/// The largest message of an MCP client, in bytes.
pub const MESSAGE_MAX: usize = 1 << 20;
/// Connections at the same time; for the next one the longest idle one ends, or it waits.
pub const CONNECTIONS_MAX: usize = 64;
/// Calls of tools that are under way at the same time; the next one is refused.
pub const CALLS_MAX: usize = 32;
/// Streams of the attention list at the same time; the next one is refused.
pub const WATCHERS_MAX: usize = 8;
