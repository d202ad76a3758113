//! The supervisor's verdict, read strictly from its reply (R1-36).

use crate::{shown, words};

/// The longest reply that is read, in bytes.
pub const REPLY_MOST: usize = 64 * 1024;
/// The longest message of a verdict, in bytes; a longer one is cut.
pub const MESSAGE_MOST: usize = 1_000;

words! {
    /// What the supervisor says of the turns that it was shown (R0-25 … R0-28).
    Verdict, "verdict" {
        /// The agent is productive: nothing is done.
        Ok = "OK",
        /// The agent needs redirection.
        Correction = "CORRECTION",
        /// The agent needs to think more.
        ThinkDeeper = "THINK_DEEPER",
        /// People have to know, at once.
        Escalation = "ESCALATION",
    }
}

/// Why a reply is no verdict. It counts as [`Verdict::Ok`], with a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// No line begins with a verdict.
    #[error("no line of the reply begins with a verdict")]
    Missing,
    /// Several lines do.
    #[error("several lines of the reply begin with a verdict")]
    Several,
    /// Something is to be whispered, but what is not said.
    #[error("the reply's verdict has no message")]
    NoMessage,
    /// The reply is longer than [`REPLY_MOST`].
    #[error("the reply is longer than {REPLY_MOST} bytes")]
    TooLong,
}

/// Reads the verdict and its message from a reply.
///
/// Exactly one line has to begin with the word of a verdict, in capital letters; a list mark or emphasis
/// around it is passed over. Verdict words elsewhere do not count: within a line, in lines that are quoted
/// (`>` or `|`, as the watched text is) and between code fences.
///
/// # Errors
/// If there is no such line, or more than one, or its message is missing, or the reply is too long.
pub fn parse_verdict(reply: &str) -> Result<(Verdict, String), Unreadable> {
    if reply.len() > REPLY_MOST {
        return Err(Unreadable::TooLong);
    }
    let mut found = None;
    let mut fenced = false;
    for line in reply.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && let Some(verdict) = verdict_line(line) {
            if found.is_some() {
                return Err(Unreadable::Several);
            }
            found = Some(verdict);
        }
    }
    let (verdict, message) = found.ok_or(Unreadable::Missing)?;
    if message.is_empty() && verdict != Verdict::Ok {
        return Err(Unreadable::NoMessage);
    }
    let message = shown::label(message);
    Ok((verdict, message[..message.floor_char_boundary(MESSAGE_MOST)].to_owned()))
}

/// Returns the verdict that a line begins with, and the rest of the line.
fn verdict_line(line: &str) -> Option<(Verdict, &str)> {
    const MARKS: &[char] = &['*', '_', '`'];
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line);
    let line = line.trim_start_matches(MARKS);
    let end = line.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(line.len());
    let verdict = line[..end].trim_end_matches('_').parse().ok()?;
    let rest = line[end..].trim_start_matches(MARKS);
    if rest.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let is_mark = |c: char| c.is_whitespace() || ":-–—.,!".contains(c);
    Some((verdict, rest.trim_start_matches(is_mark).trim_end_matches(MARKS).trim_end()))
}
