//! Texts that came from a model, a tool or a stranger, made fit for one line.

/// Control characters that mean formatting on IRC: bold, colour, reset, monospace, reverse,
/// italics, strikethrough, underline.
const FORMATTING: [char; 8] =
    ['\u{2}', '\u{3}', '\u{f}', '\u{11}', '\u{16}', '\u{1d}', '\u{1e}', '\u{1f}'];

/// Returns the text as one line: a run of CR, LF, NUL and tabs becomes one space, IRC formatting
/// stays, every other control character (escape sequences, CTCP's 0x01, C1) is dropped.
#[must_use]
pub fn sanitize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_break = false;
    for c in text.chars() {
        let breaks = matches!(c, '\r' | '\n' | '\0' | '\t');
        if breaks && !in_break {
            out.push(' ');
        }
        if !c.is_control() || FORMATTING.contains(&c) {
            out.push(c);
        }
        in_break = breaks;
    }
    out
}

/// Returns at most `max` bytes of the text, cut at a character's border.
#[must_use]
pub fn cut(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
