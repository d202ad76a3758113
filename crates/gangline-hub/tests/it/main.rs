//! Integration tests of the hub.

mod ircd;
mod socket;
