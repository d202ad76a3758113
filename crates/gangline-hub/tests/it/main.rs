//! Integration tests of the hub.

mod events;
mod ircd;
mod marks;
mod rooms;
mod socket;
