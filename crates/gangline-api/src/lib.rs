//! Wire types of every surface.
//!
//! Types and conversions only: nothing here opens a file or a socket, or knows how anything is
//! done. Ids are opaque strings, times are RFC 3339 named `*_at`, unknown fields are ignored by
//! readers. Start at [`event::EventRecord`].

pub mod alert;
pub mod approval;
pub mod attention;
pub mod budget;
pub mod error;
pub mod event;
pub mod finding;
pub mod inbox;
pub mod ipc;
pub mod listing;
pub mod policy;
pub mod ready;
pub mod status;
pub mod token;
pub mod trace;
pub mod trust;
