//! The OpenAI Chat Completions wire: reading requests, writing chunks or one completion.
//!
//! Thinking travels as `reasoning_content`, as servers compatible with this wire send it; the
//! vendor's own does not show it.

mod request;
mod response;

pub(crate) use request::{Asked, read};
pub(crate) use response::{answer, overflow};

#[cfg(test)]
mod tests;
