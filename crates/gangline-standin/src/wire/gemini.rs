//! The Gemini wire: reading requests, writing chunks or one response.

mod request;
mod response;

pub(crate) use request::{Asked, count, read};
pub(crate) use response::{answer, error_body, model, models, overflow};

#[cfg(test)]
mod tests;
