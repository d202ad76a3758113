//! Which message a command is about.

use clap::Args;
use gangline_core::{MessageId, id::IdError};

/// Which message a command is about.
#[derive(Debug, Args)]
pub(crate) struct About {
    /// The message's id, such as m42
    #[arg(value_parser = id)]
    pub(crate) message: MessageId,
}

/// Reads a message's id, with its letter or without.
pub(crate) fn id(text: &str) -> Result<MessageId, IdError> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { format!("m{text}").parse() } else { text.parse() }
}
