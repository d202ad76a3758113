//! Which message a command is about.

use clap::Args;
use gangline_core::MessageId;

/// Which message a command is about.
#[derive(Debug, Args)]
pub(crate) struct About {
    /// The message's id, such as m42
    pub(crate) message: MessageId,
}
