//! The OpenAI Responses wire: reading requests, writing its event sequence or one response.
//!
//! Nothing is stored, so `previous_response_id` brings nothing back: what it stood for is missing
//! from the conversation. The WebSocket variant is refused (426), upon which clients fall back to
//! requests.

mod events;
mod item;
mod request;
mod response;
mod tools;

pub(crate) use request::{Asked, read};
pub(crate) use response::{answer, overflow};

#[cfg(test)]
mod tests;
