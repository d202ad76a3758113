//! The stand-in model: a server that speaks model wires and has no model behind it.
//!
//! With a [`Script`] it answers by rules; without one it is the demo guide, which understands a
//! few sentences and says plainly that it is a stand-in. Neither remembers a conversation: every
//! answer follows from the request alone, but for a rule's `times` and the Messages wire's `thread`. The wires
//! (Anthropic Messages, OpenAI Chat Completions and Responses, Gemini) translate to and from
//! [`reply`]'s neutral types. Start at [`serve`].

pub mod guide;
pub mod reply;
pub mod script;

mod record;
mod records;
mod server;
mod threads;
mod wire;

pub use records::Records;
pub use script::{Script, ScriptError};
pub use server::{ServeError, StandinOptions, serve};
