//! Messages of several lines (`draft/multiline`): their text in one piece, and its lines.
//!
//! Where such a message is one text, a line feed stands between two lines, and a carriage return where
//! a line was cut and goes on: neither can stand on a line of IRC, so both can be told from what was
//! written.

/// The capability and the type of batch.
pub const MULTILINE: &str = "draft/multiline";
/// The tag of a line that goes on the one before it.
pub const CONCAT: &str = "draft/multiline-concat";
/// The most bytes of one message, without what stands between its lines.
pub const BYTES_MAX: usize = 16 * 1024;
/// The most lines of one message.
pub const LINES_MAX: usize = 100;

/// How a line follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follows {
    /// It is another line.
    Anew,
    /// It goes on the line before it, which was too long.
    On,
}

/// Appends a line to a text.
pub fn push(text: &mut String, first: bool, line: &str, follows: Follows) {
    if !first {
        text.push(match follows {
            Follows::Anew => '\n',
            Follows::On => '\r',
        });
    }
    text.push_str(line);
}

/// Returns whether a text has several lines.
#[must_use]
pub fn is_several(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// Returns the lines of a text, and how each follows the one before it.
pub fn lines(text: &str) -> impl Iterator<Item = (&str, Follows)> {
    let mut follows = Follows::Anew;
    text.split_inclusive(['\n', '\r']).chain(text.ends_with(['\n', '\r']).then_some("")).map(
        move |part| {
            let this = follows;
            follows = if part.ends_with('\r') { Follows::On } else { Follows::Anew };
            (part.trim_end_matches(['\n', '\r']), this)
        },
    )
}

#[cfg(test)]
mod tests;
