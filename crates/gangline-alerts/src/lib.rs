//! Tells people of alerts: posts them to webhooks, and hands those for IRC to whoever is there.
//!
//! The store has the rows and says who may tell one; the rules are `gangline_core::alert`. The hub
//! sends while it runs, else each agent's daemon sends its own. The crate knows neither IRC nor
//! agents' turns. Start at [`Sender::run`]; one attempt is [`post::post`].

pub mod address;
pub mod body;
mod plan;
pub mod post;
mod sender;

/// The name of the notice that wakes the hub's sender.
pub const NOTICE: &str = "alerts";

pub use plan::{Broken, IRC, Plan, URL, Where};
pub use sender::{
    MESSAGE_BYTES, MESSAGE_MAX, Posted, Posting, Room, Sender, SenderEnd, TargetTest, Whose,
    test_targets,
};
