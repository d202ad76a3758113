//! Text cut into IRC lines: once, before it is stored, so that each line is one row.

use crate::{redact::Redacted, shown};

/// The longest line, in bytes.
pub const LINE_BYTES: usize = 350;
/// The most lines of one send.
pub const LINES_MAX: usize = 12;

/// A text as lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Split<T = String> {
    /// The lines: not empty, without control characters except IRC's formatting, each at most as
    /// long as was asked for.
    pub lines: Vec<T>,
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
    let mut lines: Vec<String> = Vec::new();
    for line in &clean {
        let mut rest = line.trim_end();
        while !rest.trim().is_empty() {
            let (head, tail) = cut(rest, max_bytes);
            if !head.trim().is_empty() {
                lines.push(head.to_owned());
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
    lines.push(pointer[..pointer.floor_char_boundary(max_bytes)].to_owned());
    Split { lines, cut: Cut::Left(left) }
}

/// Does the same with a redacted text; the pointer is the program's own words.
#[must_use]
pub fn redacted_lines(text: &Redacted, pointer: impl FnOnce(usize) -> String) -> Split<Redacted> {
    let Split { lines, cut } = lines(text.as_str(), LINE_BYTES, LINES_MAX, pointer);
    Split { lines: lines.into_iter().map(Redacted::derived).collect(), cut }
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

/// Cuts one line off the front: at the last space that fits, else at a character's border.
fn cut(text: &str, max_bytes: usize) -> (&str, &str) {
    if text.len() <= max_bytes {
        return (text, "");
    }
    let border = text.floor_char_boundary(max_bytes);
    // A space right behind the border is as good as one before it.
    let space = match text[border..].starts_with(' ') {
        true => Some(border),
        false => text[..border].rfind(' ').filter(|at| !text[..*at].trim().is_empty()),
    };
    let at = space.unwrap_or(border);
    let tail = if space.is_some() { text[at..].trim_start_matches(' ') } else { &text[at..] };
    (text[..at].trim_end_matches(' '), tail)
}

#[cfg(test)]
mod tests;
