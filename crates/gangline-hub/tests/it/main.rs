//! Integration tests of the hub.

mod ircd;
mod marks;
mod modes;
mod socket;
