//! The Codex adapter meets the contract of [`gangline_runtime::Runtime`].

mod effort;
mod failures;
mod hostile;
mod life;
mod rig;
mod tools;
mod turns;
