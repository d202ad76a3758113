//! What can be wrong with a line on the socket, in the words that culture's clients know.

use gangline_core::name::{ChannelName, NameError};

use super::LINE_MAX;

/// Why a request cannot be read. The texts are part of the wire.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The line is over [`LINE_MAX`].
    #[error("the request is longer than {LINE_MAX} bytes")]
    TooLong,
    /// The line is not one JSON object.
    #[error("the request is not a JSON object")]
    NotAnObject,
    /// No command has this name; `''` when there is none.
    #[error("Unknown message type: '{0}'")]
    UnknownType(String),
    /// A field that the command needs is absent, null or blank.
    #[error("Missing '{0}'")]
    Missing(&'static str),
    /// A channel's name has no `#`.
    #[error("Channel name must start with '#'")]
    NotAChannel,
    /// A channel or nick is not written as one.
    #[error(transparent)]
    Name(NameError),
    /// A field has a value that it cannot have.
    #[error("'{field}' must be {wanted}")]
    Field {
        /// The field.
        field: &'static str,
        /// What it must be.
        wanted: &'static str,
    },
    /// A command about threads, which there are none of.
    #[error("threads are not supported")]
    Threads,
}

/// Why a request or a frame cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The request would be over [`LINE_MAX`].
    #[error("the request would have {bytes} bytes, more than the {LINE_MAX} that are taken")]
    TooLong {
        /// Its length without the line end.
        bytes: usize,
    },
    /// A value has no form in JSON.
    #[error("cannot write the line as JSON")]
    Json(#[source] serde_json::Error),
}

/// Why a frame cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The line is not JSON with a `type`.
    #[error("cannot read the frame")]
    NotAFrame(#[source] serde_json::Error),
    /// The type is known and its body is not what it must be.
    #[error("cannot read the {kind} frame")]
    Body {
        /// The frame's type.
        kind: &'static str,
        /// What is wrong.
        source: serde_json::Error,
    },
}

/// Returns the error of a command about a channel that the agent is not in.
#[must_use]
pub fn not_joined(channel: &ChannelName) -> String {
    format!("Not joined to {channel}")
}

/// Returns the error of `irc_send` with `"create": false` to a channel that nobody is in.
#[must_use]
pub fn no_such_channel(channel: &ChannelName) -> String {
    format!("channel '{channel}' does not exist on the server")
}
