//! The hub: one per machine. Runs the embedded IRC server and keeps the agents' daemons alive.
//!
//! It compares what should run, by the configuration and the operator's orders, with the locks that
//! are held, so it adopts daemons that it did not start, and its own death touches none of them. It
//! knows no runtime and no turn. Start at [`hub::run`].

pub mod about;
pub mod credentials;
pub mod hub;
pub mod ircd;
pub mod kept;
pub mod restart;
pub mod units;
