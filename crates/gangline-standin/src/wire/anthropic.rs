//! The Anthropic Messages wire: reading requests as strictly as the real one, writing answers
//! with its event sequence.

mod request;
mod response;

pub(crate) use request::{Refusal, read, read_for_count};
pub(crate) use response::{Ids, error_body, message, models, ping, stream};

#[cfg(test)]
mod tests;
