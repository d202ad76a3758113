//! The embedded server, spoken to over TCP with raw lines.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod access;
mod answers;
mod culture;
mod events;
mod guests;
mod guide;
mod history;
mod hostile;
mod kept;
mod multiline;
mod operators;
mod playback;
mod private;
mod readers;
mod registration;
mod rooms;
mod sasl;
mod sessions;
mod support;
mod talk;
