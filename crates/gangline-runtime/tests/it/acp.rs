//! The adapter for agents of the Agent Client Protocol meets the contract of
//! [`gangline_runtime::Runtime`]: with real programs, and with a script in the place of others.

mod cline;
mod copilot;
mod hostile;
mod opencode;
mod rig;
