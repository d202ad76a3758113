//! IRC: wire format, client link and embedded server.

pub mod client;
pub mod server;
pub mod wire;
