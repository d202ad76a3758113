//! What becomes of a line that is taken in, and by what it is known when it comes again.

use gangline_core::{MessageId, digest::sha256_hex};
use gangline_irc::client::Line;

/// The part of a time that says its second: `2026-11-22T00:32:52`.
const SECONDS: usize = 19;

/// The outcome of taking in a line.
pub(super) enum Taken {
    /// It is in the store as this message, or nothing for it.
    Done(Option<MessageId>),
    /// It was a decision or a room word, which counts once.
    Word,
    /// It is in the store together with the cursor that was given.
    WithCursor(MessageId),
    /// The store cannot write: it must be taken in again.
    NotNow,
}

/// Returns what makes the line the same line when it comes twice: the server's id; without one
/// what is the same in history and live.
pub(super) fn intake_key(line: &Line) -> String {
    if let Some(msgid) = &line.msgid {
        return msgid.clone();
    }
    let Some(time) = &line.server_time else {
        // Without id and time two equal lines are two lines: nothing repeats them to us.
        return format!("x-{}", uuid::Uuid::new_v4().simple());
    };
    let mut parts = Vec::new();
    // InspIRCd's history has whole seconds where live lines have milliseconds: the same words of
    // the same person within a second are one line.
    let time = time.get(..SECONDS).unwrap_or(time);
    for part in [line.target.as_str(), &line.nick, time, &line.text] {
        parts.extend_from_slice(part.as_bytes());
        parts.push(0);
    }
    format!("h-{}", sha256_hex(&parts, 16))
}
