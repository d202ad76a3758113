//! The Anthropic Messages wire: reading requests as strictly as the real one, writing answers
//! with its event sequence.

mod request;
mod response;

pub(crate) use request::{Asked, count, read};
pub(crate) use response::{answer, error_body, model, models, overflow, ping, said};

#[cfg(test)]
mod tests;
