//! What must hold however long the agent's loop is held up between two of its steps.
//!
//! `hazards/said.rs` is about what a tool has said, `hazards/rows.rs` about rows that are committed
//! while the loop is busy, `hazards/heart.rs` about the watch over the loop, `hazards/again.rs`
//! about a prompt that is given again, `hazards/end.rs` about the end.

mod again;
mod end;
mod heart;
mod rows;
mod said;
