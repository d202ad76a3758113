//! The Claude Code adapter meets the contract of [`gangline_runtime::Runtime`].

mod effort;
mod failures;
mod fake;
mod hostile;
mod life;
mod own;
mod per_turn;
mod rig;
mod servers;
mod tools;
mod turns;
