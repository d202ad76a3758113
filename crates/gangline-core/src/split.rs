//! Text cut into IRC lines: once, before it is stored, so that each line is one row.

use crate::{redact::Redacted, shown};

/// The longest line, in bytes.
pub const LINE_BYTES: usize = 350;
/// The most lines of one send.
pub const LINES_MAX: usize = 12;

/// How a line follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Joint {
    /// It is another line of the text.
    Anew,
    /// It continues the line before it, which was too long and was cut inside a word.
    Word,
    /// The same, cut at a space, which is left out of both.
    Space,
}

/// One line of a text that was split.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Line<T = String> {
    /// The line.
    pub text: T,
    /// How it follows the line before it.
    pub joint: Joint,
}

impl<T> From<T> for Line<T> {
    fn from(text: T) -> Self {
        Self { text, joint: Joint::Anew }
    }
}

/// A text as lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Split<T = String> {
    /// The lines: not empty, without control characters except IRC's formatting, each at most as
    /// long as was asked for.
    pub lines: Vec<Line<T>>,
    /// How much was left out.
    pub cut: Cut,
}

/// How much of a text was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cut {
    /// Nothing.
    Whole,
    /// So many lines; the last line that is kept points to them.
    Left(usize),
}

/// Returns the text as lines of at most `max_bytes` bytes, cut at spaces where it can and never
/// inside a character. Blank lines are dropped. Of more than `max_lines` lines one fewer is kept,
/// and `pointer(left out)` is the last: `… (+N lines: gangline trace m42)`.
#[must_use]
pub fn lines(
    text: &str,
    max_bytes: usize,
    max_lines: usize,
    pointer: impl FnOnce(usize) -> String,
) -> Split {
    // Four bytes hold any character.
    let max_bytes = max_bytes.max(4);
    let clean: Vec<String> = text.split(['\n', '\r']).map(clean).collect();
    let mut lines: Vec<Line> = Vec::new();
    for line in &clean {
        let mut rest = line.trim_end();
        let mut joint = Joint::Anew;
        while !rest.trim().is_empty() {
            let (head, tail, next) = cut(rest, max_bytes);
            if !head.trim().is_empty() {
                lines.push(Line { text: head.to_owned(), joint });
                joint = next;
            }
            rest = tail;
        }
    }
    let max_lines = max_lines.max(1);
    if lines.len() <= max_lines {
        return Split { lines, cut: Cut::Whole };
    }
    let left = lines.len() - (max_lines - 1);
    lines.truncate(max_lines - 1);
    let pointer = self::clean(&pointer(left));
    lines.push(pointer[..pointer.floor_char_boundary(max_bytes)].to_owned().into());
    Split { lines, cut: Cut::Left(left) }
}

/// Does the same with a redacted text; the pointer is the program's own words.
#[must_use]
pub fn redacted_lines(text: &Redacted, pointer: impl FnOnce(usize) -> String) -> Split<Redacted> {
    let Split { lines, cut } = lines(text.as_str(), LINE_BYTES, LINES_MAX, pointer);
    let derived = |Line { text, joint }| Line { text: Redacted::derived(text), joint };
    Split { lines: lines.into_iter().map(derived).collect(), cut }
}

/// Returns the text without control characters, except IRC's formatting (bold, colour, reset,
/// monospace, reverse, italics, strike, underline). A tab becomes a space; what turns or hides text
/// is written out ([`shown::talk`]).
#[must_use]
pub fn clean(text: &str) -> String {
    let formatting = |c| {
        matches!(
            c,
            '\u{2}' | '\u{3}' | '\u{f}' | '\u{11}' | '\u{16}' | '\u{1d}' | '\u{1e}' | '\u{1f}'
        )
    };
    let kept = text
        .chars()
        .map(|c| if c == '\t' { ' ' } else { c })
        .filter(|c| !c.is_control() || formatting(*c));
    shown::talk(&kept.collect::<String>())
}

/// Cuts one line off the front: at the last space that fits, else at a character's border. Says how
/// what is left follows it.
fn cut(text: &str, max_bytes: usize) -> (&str, &str, Joint) {
    if text.len() <= max_bytes {
        return (text, "", Joint::Anew);
    }
    let border = text.floor_char_boundary(max_bytes);
    // A space right behind the border is as good as one before it.
    let space = match text[border..].starts_with(' ') {
        true => Some(border),
        false => text[..border].rfind(' ').filter(|at| !text[..*at].trim().is_empty()),
    };
    match space {
        Some(at) => {
            let (head, tail) = text.split_at(at);
            (head.trim_end_matches(' '), tail.trim_start_matches(' '), Joint::Space)
        }
        None => {
            let (head, tail) = text.split_at(border);
            (head.trim_end_matches(' '), tail, Joint::Word)
        }
    }
}

#[cfg(test)]
mod tests;
