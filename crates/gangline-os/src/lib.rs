//! The operating system's leaf: processes, tasks, clock, paths, locks, change notices.
//!
//! The only place that spawns a process, a thread or a task, reads the clock or looks into
//! `/proc`. It knows nothing of agents, IRC or storage. Start at [`process`] and [`task`].
//!
//! Linux is served fully. Elsewhere the parts that need `/proc`, pidfds or locks of open file
//! descriptions have the plain fallbacks that their documentation names.

pub mod accept;
mod address;
pub mod change_notice;
pub mod clock;
pub mod descent;
pub mod dial;
pub mod exact;
pub mod exit;
pub mod failpoint;
pub mod fsio;
pub mod git;
pub mod json;
pub mod kill;
pub mod lines;
pub mod listen;
pub mod lock;
pub mod mcp;
pub mod names;
pub mod notify;
pub mod paths;
pub mod peer;
pub mod proc;
pub mod process;
pub mod reader;
pub mod run_id;
pub mod secret;
pub mod signals;
pub mod sweep;
pub mod task;
pub mod terminal;

pub use tokio_util::sync::CancellationToken;
