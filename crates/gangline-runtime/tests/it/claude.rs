//! The Claude Code adapter meets the contract of [`gangline_runtime::Runtime`].

mod failures;
mod fake;
mod life;
pub(crate) mod rig;
mod tools;
mod turns;
