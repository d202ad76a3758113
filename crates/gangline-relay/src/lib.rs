//! A relay on loopback between a backend and its model's API.
//!
//! The backend gets the relay's address and a token that is good there only; the real key stays with
//! the daemon. Bytes go through unchanged, both ways, as they come. On the side the relay reads what a
//! response tells of its tokens, and adds it to [`Totals`] before the bytes go on: the next request
//! meets a limit that has just been reached. Start at [`run`]; a request's way is in `forward.rs`.

mod admit;
mod client;
mod count;
mod credential;
mod forward;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod headers;
mod server;
mod sse;
mod totals;
mod upstream;
mod wire;

pub use client::{Client, NoClient};
pub use credential::Credential;
pub use server::{Options, run};
pub use totals::{Ledger, Limits, Noting, Report, Stop, Totals};
pub use upstream::{BadUpstream, Upstream};

/// The largest body of a request, in bytes; a larger one is refused with 413.
pub const REQUEST_MAX: u64 = 64 << 20;
/// Connections at the same time; more wait until one has ended.
pub const CONNECTIONS_MAX: usize = 64;
/// Reports that wait to be taken; a response that ends meanwhile waits with its last byte.
pub const REPORTS: usize = 256;
/// The longest event or whole response that is read for its tokens, in bytes. A longer one goes
/// through all the same, and counts as a call whose tokens are not known.
pub const READ_MAX: usize = 8 << 20;
