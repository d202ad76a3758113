//! What commands about the request of a message say.

use gangline_core::MessageId;
use gangline_os::paths::Paths;

use crate::failure::Failure;

/// Returns a number of messages in words.
pub(super) fn messages(count: u64) -> String {
    if count == 1 { "1 message".to_owned() } else { format!("{count} messages") }
}

/// There is no such message.
pub(super) fn unknown(message: MessageId, paths: &Paths) -> Failure {
    Failure::user(format!("there is no message {message} in {}", paths.state.display()))
        .hint("`gangline ps` shows held messages, `gangline logs` all messages")
}
