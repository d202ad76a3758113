//! The daemon of one agent: its tasks, their wiring, and its orderly shutdown.
//!
//! Each task is the only writer of what it owns; queues are bounded; what others need to see is
//! published by `watch`. The daemon knows backends only as [`gangline_runtime::Runtime`]. Start at
//! [`run`]; the order of the start is in `root.rs`, the thinking in `agent_loop.rs`.

mod acts;
mod agent_loop;
mod alarms;
mod alerts;
mod asking;
pub mod attention;
mod bus;
mod calls;
pub mod card;
mod carrying;
mod chat;
mod checkpoint;
pub mod container;
mod control;
pub mod effort;
mod environment;
mod escalation;
mod fleet;
pub mod folder;
#[cfg(test)]
mod hand_clock;
mod hooks;
mod identity;
mod journal;
pub mod log;
pub mod long_reminders;
mod looks;
pub mod model;
mod notes;
mod nursery;
mod orders;
mod outgoing;
mod overwritten;
mod own_secrets;
mod past;
mod place;
mod prompt;
mod recover;
mod relaying;
mod rooms;
mod root;
pub mod rules;
mod session;
mod settings;
mod showing;
mod shown_input;
mod speech;
mod spending;
pub mod status;
mod stood_down;
mod supervisor;
mod texts;
mod tokens;
mod tools;
mod updates;
pub mod watching;
mod whereabouts;
mod whispers;

pub use own_secrets::masks;
pub use root::{Opened, run};
pub use settings::{Account, Causes, Ended, InsteadOf, IrcSettings, Settings, SpendingSettings};
pub use texts::changes;
