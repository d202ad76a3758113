//! The tmux adapter meets the contract of [`gangline_runtime::Runtime`], with a real tmux always.

mod hostile;
mod life;
mod real;
mod rig;
mod turns;
